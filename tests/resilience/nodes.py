"""An installation of several nodes: `sealdesk serve` processes on one PostgreSQL database."""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.types import NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.db.migrations import schema_version
from sealdesk.identity import actions as identity
from sealdesk.identity.auth import passwords
from sealdesk.settings import from_env
from tests.resilience.connections import Connection, Key, http_request
from tests.servers import Postgres, free_port, server_directory
from tests.servers.process import Process, accepts, environment
from tests.support.service import PASSWORD, random_key

_PROGRAM = "import sys; from sealdesk.cli import main; sys.exit(main())"
RUNTIME = "sealdesk_runtime"
_ADMIN = "admin@example.test"
RATE = 100_000  # requests a minute, far above what the scenarios send


class Node(NamedTuple):
    """One serving process."""

    port: int
    process: Process

    def connection(self) -> Connection:
        return Connection(self.port)


class Installation:
    """A cluster of its own with a migrated database and one tenant, and nodes that serve it.

    primary: the cluster that takes writes. key: has all permissions.
    """

    def __init__(self, directory: Path, primary: Postgres) -> None:
        self.directory = directory
        self.primary = primary
        self.database = "sealdesk"
        primary.create_database(self.database)
        self.env = {
            "SEALDESK_DATABASE_URL": self._url(),
            "SEALDESK_OWNER_DATABASE_URL": primary.owner_url(self.database),
            "SEALDESK_MASTER_KEY": random_key(),
            "SEALDESK_JWT_SECRET": random_key(),
            "SEALDESK_PER_PROCESS_LIMITS": "accept",
            "SEALDESK_TENANT_LIMIT": "100000000",
            "SEALDESK_LOG_LEVEL": "warning",
        }
        schema_version.migrate_postgres(
            self.env["SEALDESK_OWNER_DATABASE_URL"], runtime_url=self._url(), worker_url=""
        )
        self.key = asyncio.run(create_tenant_with_key(self.env))
        self._shared: list[Node] = []

    def _url(self, *others: Postgres) -> str:
        """The URL of the runtime role, with the primary and others as hosts."""
        hosts = ",".join(f"127.0.0.1:{cluster.port}" for cluster in (self.primary, *others))
        return f"postgresql://{RUNTIME}:runtime@{hosts}/{self.database}"

    @contextmanager
    def nodes(self, count: int, *standbys: Postgres, **env: str) -> Iterator[list[Node]]:
        """Running nodes. standbys: further hosts of their database's URL."""
        nodes = self._start_processes(count, {"SEALDESK_DATABASE_URL": self._url(*standbys), **env})
        try:
            yield nodes
        finally:
            _end(nodes)

    def shared_nodes(self) -> list[Node]:
        """Three nodes that scenarios share, one after the other."""
        if not self._shared:
            self._shared = self._start_processes(3, {"SEALDESK_DATABASE_URL": self._url()})
        return self._shared

    def _start_processes(self, count: int, env: dict[str, str]) -> list[Node]:
        nodes = [_start(self.directory, {**self.env, **env}) for _ in range(count)]
        for node in nodes:
            node.process.wait_until(partial(accepts, node.port))
        return nodes

    def move_to(self, primary: Postgres) -> None:
        """Another cluster is the primary now."""
        self.close()
        self.primary = primary
        self.env["SEALDESK_DATABASE_URL"] = self._url()
        self.env["SEALDESK_OWNER_DATABASE_URL"] = primary.owner_url(self.database)

    def close(self) -> None:
        """End the shared nodes."""
        _end(self._shared)
        self._shared = []


@contextmanager
def new_installation() -> Iterator[Installation]:
    """An installation on a new cluster that syncs to disk."""
    with server_directory() as directory:
        # Unsynced WAL stays in memory, so that a crash loses it.
        settings = {"wal_writer_delay": "10s"}
        primary = Postgres.start(directory / "postgres0", settings=settings)
        installation = Installation(directory, primary)
        try:
            yield installation
        finally:
            installation.close()


async def log_in(connection: Connection, email: str = _ADMIN) -> str:
    """The administrator's token."""
    body = f'{{"email": "{email}", "password": "{PASSWORD}"}}'.encode()
    response = await connection.send(http_request("POST", "/api/v1/auth/login", body, {}))
    assert response.status == 200, response
    return str(response.json()["data"]["access_token"])


def admin_request(token: str, method: str, target: str, content: bytes = b"") -> bytes:
    """A request of the administrator."""
    return http_request(method, target, content, {"authorization": f"Bearer {token}"})


def _start(directory: Path, env: dict[str, str]) -> Node:
    port = free_port()
    # PYTHONPATH may name a copy of the sources; no other variable of the caller is passed on.
    path = os.environ.get("PYTHONPATH")
    everything = environment(**env, **({"PYTHONPATH": path} if path else {}))
    command = [sys.executable, "-c", _PROGRAM, "serve", "--port", str(port)]
    log = directory / f"node{port}.log"
    return Node(port, Process("sealdesk serve", command, log, env=everything))


def _end(nodes: Sequence[Node]) -> None:
    for node in nodes:
        node.process.kill()


@contextmanager
def serving_sqlite(**env: str) -> Iterator[tuple[Node, tuple[Key, Key]]]:
    """A serving process on SQLite, and a key of each of its two tenants."""
    with server_directory() as directory:
        data = directory / "data"
        data.mkdir(mode=0o700)
        schema_version.ensure_current(data / "sealdesk.db")
        every = {
            "SEALDESK_DATA_DIR": str(data),
            "SEALDESK_MASTER_KEY": random_key(),
            "SEALDESK_JWT_SECRET": random_key(),
            **env,
        }
        one = asyncio.run(create_tenant_with_key(every))
        other = asyncio.run(create_tenant_with_key(every, "other@example.test"))
        node = _start(directory, every)
        try:
            node.process.wait_until(partial(accepts, node.port))
            yield node, (one, other)
        finally:
            _end([node])


async def create_tenant_with_key(env: dict[str, str], email: str = _ADMIN) -> Key:
    """Create a tenant with an administrator, as the owner; a key of the tenant."""
    now_us = Clock().now_us()

    async def work(tx: Tx) -> Key:
        tenant = await identity.create_tenant(tx, "Acme", now_us=now_us)
        await identity.create_user(
            tx,
            tenant.id,
            email=email,
            name=None,
            role="tenant_admin",
            password_hash=passwords.hash_now(PASSWORD),
            actor=SYSTEM,
            now_us=now_us,
        )
        created = await api_keys.create_key(
            tx,
            Caller(tenant.id, SYSTEM, frozenset(), ""),
            NewApiKey(name="resilience", rate_limit=RATE),
            key_ring=KeyRing(from_env(env).master_keys),
            now_us=now_us,
        )
        return Key(created.id, created.api_key, created.api_secret)

    url = env.get("SEALDESK_OWNER_DATABASE_URL", "")  # none on SQLite
    database = open_database(from_env(env), name="resilience", url=url)
    try:
        return await database.write(work)
    finally:
        await database.close()
