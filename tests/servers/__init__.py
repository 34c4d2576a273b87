"""Real servers for tests, on loopback, on ports and in directories of their own."""

from tests.servers.binaries import NotHere
from tests.servers.dovecot import Dovecot
from tests.servers.pgbouncer import PgBouncer
from tests.servers.ports import free_port
from tests.servers.postgres import Access, Postgres
from tests.servers.process import ServerFailed, server_directory
from tests.servers.proxies import Haproxy, Nginx, Varnish
from tests.servers.redis import Redis
from tests.servers.run import (
    not_run,
    run_bucket_port,
    run_postgres,
    run_redis_url,
    servers_of_the_run,
)

__all__ = [
    "Access",
    "Dovecot",
    "Haproxy",
    "Nginx",
    "NotHere",
    "PgBouncer",
    "Postgres",
    "Redis",
    "ServerFailed",
    "Varnish",
    "free_port",
    "not_run",
    "run_bucket_port",
    "run_postgres",
    "run_redis_url",
    "server_directory",
    "servers_of_the_run",
]
