"""The test servers behave as other tests expect."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

import asyncpg
import pytest

from tests.servers import (
    Haproxy,
    Nginx,
    PgBouncer,
    Postgres,
    Redis,
    ServerFailed,
    free_port,
    run_postgres,
    run_redis_url,
    server_directory,
)

HAPROXY = """
defaults
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend all
    bind 127.0.0.1:{port}
    http-request return status 204
"""
NGINX = "server {{ listen 127.0.0.1:{port}; location / {{ return 204; }} }}"


@pytest.fixture
def directory() -> Iterator[Path]:
    with server_directory() as path:
        yield path


def test_the_cluster_of_the_run_accepts() -> None:
    assert run_postgres().sql("SELECT 1") == ["1"]


def test_a_cluster_is_started_killed_and_restarted(directory: Path) -> None:
    cluster = Postgres.start(directory / "one", fsync=False)
    cluster.sql("CREATE TABLE kept AS SELECT 1 AS number")
    cluster.kill()
    assert not cluster.is_running()
    cluster.start_again()
    assert cluster.sql("SELECT number FROM kept") == ["1"]
    cluster.stop()
    assert not cluster.is_running()


def test_a_synchronous_standby_takes_over(directory: Path) -> None:
    primary = Postgres.start(directory / "one", fsync=False)
    standby = primary.standby(directory / "two")
    primary.sql("CREATE TABLE kept AS SELECT 1 AS number")
    primary.kill()
    standby.promote()
    assert standby.sql("INSERT INTO kept VALUES (2); SELECT count(*) FROM kept") == ["2"]
    standby.stop()


def test_redis_comes_back_on_its_port(directory: Path) -> None:
    server = Redis.start(directory / "redis")
    server.kill()
    assert not server.is_running()
    server.start_again()
    assert server.url == f"redis://127.0.0.1:{server.port}/0"
    server.stop()


def test_redis_of_the_run_is_there() -> None:
    assert run_redis_url().startswith("redis://127.0.0.1:")


def test_sessions_of_any_role_take_turns_on_pgbouncers_one_connection(directory: Path) -> None:
    cluster = run_postgres()
    database, role = f"turns_{uuid4().hex}", f"turns_{uuid4().hex}"
    cluster.create_database(database)
    cluster.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
    pooler = PgBouncer.start(directory / "pooler", cluster, pool_size=1)

    async def take_turns() -> None:
        url = pooler.url(role, "secret", database)
        one, two = [await asyncpg.connect(url, timeout=60) for _ in range(2)]
        for session in (one, two, one):
            assert await session.execute("SELECT 1", timeout=60) == "SELECT 1"
        await one.close()
        await two.close()

    asyncio.run(take_turns())
    assert database in str(pooler.sql("SHOW POOLS", "pgbouncer"))


@pytest.mark.parametrize("kind", ["haproxy", "nginx"])
def test_a_proxy_answers_and_says_what_it_cannot_read(directory: Path, kind: str) -> None:
    port = free_port()
    if kind == "haproxy":
        Haproxy.start(directory / "good", HAPROXY.format(port=port))
    else:
        Nginx.start(directory / "good", NGINX.format(port=port))
    with urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
        assert answer.status == 204
    with pytest.raises(ServerFailed, match="nonsense"):
        if kind == "haproxy":
            Haproxy.start(directory / "bad", "nonsense\n")
        else:
            Nginx.start(directory / "bad", "nonsense;\n")
