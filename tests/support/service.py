"""The service under test: the whole application behind a real socket, in a thread."""

import asyncio
import base64
import io
import os
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvloop
from argon2 import PasswordHasher

from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.permissions import PERMISSIONS
from sealdesk.api_keys.test_mode import tenants as test_mode
from sealdesk.api_keys.types import CreatedApiKey, NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.db import deadline
from sealdesk.db.engine import Database, Tx
from sealdesk.db.factory import open_database
from sealdesk.db.postgres import database as postgres
from sealdesk.identity import actions as identity
from sealdesk.identity.types import Role
from sealdesk.server import serve
from sealdesk.server.app import compose
from sealdesk.settings import Settings, from_env
from sealdesk.state import AppState
from sealdesk.worker import loop, one_log, retention
from sealdesk_citus.transaction import DistributedTx
from tests.servers import free_port
from tests.support.client import Key, Person
from tests.support.clock import SettableClock
from tests.support.ending import FastEndingServer

T = TypeVar("T")
# For what takes a second: a machine may be busy, or ten times slower.
_TIMEOUT_S = 120.0
postgres.CONNECT_S = _TIMEOUT_S  # a request waits as long as its deadline says
one_log.ReportTask.rest_s = 0.1
PASSWORD = "correct horse battery staple"
# The same algorithm with little work, because most tests log in and few are about guessing.
_QUICK_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
_names = iter(range(1_000_000))
_UNFINISHED = """
SELECT 1 FROM event_outbox UNION ALL SELECT 1 FROM fan_out_backlogs UNION ALL SELECT 1 FROM events
WHERE log_position > coalesce((SELECT position FROM log_positions WHERE name = 'webhooks'), 0)
LIMIT 1
"""
# Where tables are distributed over nodes, each tenant has a log of its own.
_UNPLACED_ON_NODES = "SELECT 1 FROM event_outbox LIMIT 1"
_BEHIND_ON_NODES = """
SELECT 1 FROM feed_positions f WHERE f.last_position > 0 AND 2 > (
    SELECT count(*) FROM consumer_positions c WHERE c.tenant_id = f.tenant_id
        AND c.name IN ('webhooks', 'mail') AND c.position >= f.last_position
) LIMIT 1
"""


class Tenant:
    """A tenant for one test, with an administrator, and keys on demand."""

    def __init__(self, service: "Service", tenant_id: str, admin_email: str) -> None:
        self.service = service
        self.id = tenant_id
        self.admin_email = admin_email

    def key(self, **new: Any) -> Key:
        """A new API key, made by the real action; without arguments it has all permissions."""
        created = self.make_key(**new)
        return Key(self.service, created.id, created.api_key, created.api_secret)

    def test_key(self, **new: Any) -> Key:
        """A new key of the test tenant, with all permissions."""
        now_us = self.service.clock.now_us()
        agents = self.service.read(lambda tx: test_mode.read_agents(tx, self.id))
        test_id = self.service.write(
            lambda tx: test_mode.open_test_tenant(tx, self.id, agents, now_us)
        )
        return Tenant(self.service, test_id, self.admin_email).key(**new)

    def make_key(self, **new: Any) -> CreatedApiKey:
        every = {"name": "test", "rate_limit": 100_000, "permissions": list(PERMISSIONS)}
        wanted = NewApiKey(**{**every, **new})
        caller = Caller(self.id, SYSTEM, frozenset(), "")
        key_ring, clock = self.service.state.key_ring, self.service.clock
        return self.service.write(
            lambda tx: api_keys.create_key(
                tx, caller, wanted, key_ring=key_ring, now_us=clock.now_us()
            )
        )

    def user(
        self,
        role: Role = "agent",
        email: str | None = None,
        name: str | None = None,
        password_hash: str = _QUICK_HASH,
    ) -> str:
        """A new user's id; the password is PASSWORD unless the hash is of another."""
        address = email or f"user{next(_names)}@example.test"
        return self.service.write(
            lambda tx: identity.create_user(
                tx,
                self.id,
                email=address,
                name=name,
                role=role,
                password_hash=password_hash,
                actor=SYSTEM,
                now_us=self.service.clock.now_us(),
            )
        ).id

    def deactivate(self, user_id: str) -> None:
        sql = "UPDATE users SET is_active = false WHERE tenant_id = :tenant_id AND id = :id"
        self.service.write(lambda tx: tx.execute(sql, {"tenant_id": self.id, "id": user_id}))

    def admin(self) -> Person:
        """The tenant's administrator, logged in for real."""
        return self.service.log_in(self.admin_email)

    def log_in(self, role: Role) -> Person:
        """A new user with this role, logged in for real."""
        email = f"user{next(_names)}@example.test"
        self.user(role, email)
        return self.service.log_in(email)


class Service:
    """A running service: its address, its state, and access to its database."""

    def __init__(self, settings: Settings, clock: SettableClock, *, epoch: int = 0) -> None:
        self.settings = settings
        self._epoch = epoch
        self.clock = clock
        self.state: AppState
        self.port = 0
        self._loop = uvloop.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(_TIMEOUT_S):
            raise RuntimeError("the service did not start")

    def stop(self) -> None:
        """End gracefully, as a process does on SIGTERM."""
        self._end(ends_fast=False)

    def drop(self) -> None:
        """End without waiting for further requests."""
        self._end(ends_fast=True)

    def _end(self, *, ends_fast: bool) -> None:
        if self._thread.is_alive():
            self._server.ends_fast = ends_fast
            self._server.should_exit = True
            with suppress(RuntimeError):  # it has ended in between
                self._loop.call_soon_threadsafe(self._server.told.set)
            self._thread.join(_TIMEOUT_S)
            if self._thread.is_alive():
                raise RuntimeError(f"the service did not stop; it waits in\n{self._waiting()}")

    def _waiting(self) -> str:
        """Where each task of the service waits."""
        stacks = io.StringIO()
        for task in asyncio.all_tasks(self._loop):
            task.print_stack(file=stacks)
        return stacks.getvalue()

    def _run(self) -> None:
        sock = serve.bind("127.0.0.1", free_port())
        self.port = sock.getsockname()[1]

        async def run() -> None:
            app, self.state = compose(self.settings, self.clock, epoch=self._epoch)
            self._doors = self._opened()
            self._background, working = self._begin_worker()
            self._server = FastEndingServer(app, self.state)
            serving = asyncio.ensure_future(self._server.serve(sockets=[sock]))
            # uvicorn sets a flag, no event.
            while not self._server.started and not serving.done():  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            self._ready.set()
            await serving
            if working is not None:
                working.cancel()
                await asyncio.wait([working])
                await self._background.http_client.close()
                self._background.mail_resolver.close()
                await self._background.database.close()
            await self._doors.close()

        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(run())
        self._loop.close()

    def _begin_worker(self) -> tuple[AppState, "asyncio.Task[None] | None"]:
        """The state of the loop, which on PostgreSQL runs in the role of `sealdesk worker`."""
        url = self.settings.worker_database_url
        if not url:
            return self.state, None
        # All tasks of the loop begin at once, and would open ten connections for each service.
        few = msgspec.structs.replace(self.settings, database_connections=4)
        database = open_database(few, name="sealdesk worker", url=url)
        state = msgspec.structs.replace(self.state, database=database)
        return state, asyncio.ensure_future(loop.run(state))

    def settle(self) -> None:
        """Wait until every event is placed and handed to the webhooks."""
        wait_until(self.has_settled)

    def has_settled(self) -> bool:
        """Where tables are distributed over nodes, the e-mail has the events too."""
        on_nodes = (_UNPLACED_ON_NODES, _BEHIND_ON_NODES)
        unfinished = on_nodes if self.read(_is_distributed) else (_UNFINISHED,)
        return not any(self.rows(sql) for sql in unfinished)

    def in_background(self, step: Callable[[AppState], Coroutine[Any, Any, T]]) -> T:
        """Run a step of the background loop now."""
        return self._wait(step(self._background))

    def prune(self) -> int:
        """Delete the expired rows of all tenants now; how many."""
        pruner = retention.Pruner()
        ((tenants,),) = self.rows("SELECT count(*) FROM tenants")
        rounds = 2 + tenants // retention.TENANTS_AT_ONCE
        return sum(self.in_background(pruner.run_round) for _ in range(rounds))

    def in_serving(self, step: Callable[[AppState], Coroutine[Any, Any, T]]) -> T:
        """Run a step of the serving process now."""
        return self._wait(step(self.state))

    def _opened(self) -> Database:
        """The database as the owner sees it: every tenant's rows."""
        if not self.settings.database_url:
            return self.state.database
        url = self.settings.owner_database_url
        return open_database(self.settings, name="test", url=url, has_time=True)

    def write(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        """Run work in a transaction of the service's own database."""
        return self._wait(self._doors.write(work))

    def read(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        return self._wait(self._doors.read(work))

    def rows(self, sql: str, **params: Any) -> list[Any]:
        """The rows of a query, for looking at what was stored."""

        async def work(tx: Tx) -> list[Any]:
            return list(await tx.fetch_all(sql, params))

        return self.read(work)

    def bytes_at_rest(self) -> bytes:
        """The bytes of the database files; of PostgreSQL, the rows of all tables."""
        if not self.settings.database_url:
            files = self.settings.database_path.parent.glob(f"{self.settings.database_path.name}*")
            return b"".join(file.read_bytes() for file in files)
        names = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' LIMIT 99")
        rows = [row for (name,) in names for row in self.rows(f"SELECT * FROM {name} LIMIT 9999")]
        return b" ".join(_bytes(value) for row in rows for value in row)

    def refuse_rows(self, table: str, when: str = "true") -> None:
        """Make the insertion of every row for which the condition holds an error."""
        if not self.settings.database_url:
            then = "BEGIN SELECT RAISE(ABORT, 'no'); END"
            self.run(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} WHEN {when} {then}")
            return
        body = "BEGIN RAISE EXCEPTION 'no'; END"
        self.run(f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS '{_quoted(body)}'")
        each = f"FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse()"
        self.run(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} {each}")

    def take_rows(self, table: str) -> None:
        """Undo `refuse_rows`."""
        on_table = f" ON {table}" if self.settings.database_url else ""
        self.run(f"DROP TRIGGER refuse{on_table}")

    def run(self, sql: str) -> None:
        """Run a statement that changes the schema."""

        async def work(tx: Tx) -> None:
            await tx.fetch_all(sql, {})

        self.write(work)

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        patient = _without_deadline(coroutine)
        return asyncio.run_coroutine_threadsafe(patient, self._loop).result(_TIMEOUT_S)

    def tenant(self, name: str = "Acme") -> Tenant:
        """A new tenant with an administrator."""
        now_us = self.clock.now_us()
        made = self.write(lambda tx: identity.create_tenant(tx, name, now_us=now_us))
        email = f"admin{next(_names)}@example.test"
        tenant = Tenant(self, made.id, email)
        tenant.user("tenant_admin", email)
        return tenant

    def log_in(self, email: str, password: str = PASSWORD) -> Person:
        anonymous = Person(self, "")
        answer = anonymous.post("/api/v1/auth/login", {"email": email, "password": password})
        assert answer.status_code == 200, answer.text
        return Person(self, answer.json()["data"]["access_token"])


async def _without_deadline(work: Coroutine[Any, Any, T]) -> T:
    waits = deadline.Deadline(total_s=_TIMEOUT_S, connection_wait_s=_TIMEOUT_S)
    deadline.deadline.set(waits)
    return await work


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def settings_in(data_dir: Path, **env: str) -> Settings:
    """Settings of the embedded default in this directory, with further variables.

    Without a limit of work for tenants, because many tests share one.
    """
    without_limit = {"SEALDESK_TENANT_LIMIT": "100000000"}
    return from_env({"SEALDESK_DATA_DIR": str(data_dir), **without_limit, **env})


@contextmanager
def running(data_dir: Path, template: Path | None = None, /, **env: str) -> Iterator[Service]:
    """A service of its own; `template` is a migrated database to begin with."""
    settings = settings_in(data_dir, **env)
    if template is not None and not settings.database_path.exists():
        shutil.copy(template, settings.database_path)
    service = Service(settings, SettableClock())
    service.start()
    try:
        yield service
    finally:
        service.drop()


def random_key() -> str:
    """A value for SEALDESK_MASTER_KEY or SEALDESK_JWT_SECRET."""
    return base64.b64encode(os.urandom(32)).decode()


def wait_until(condition: Callable[[], bool], timeout_s: float = _TIMEOUT_S) -> None:
    """Wait until a condition holds that another thread brings about."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not hold in time"
        time.sleep(0.005)


async def _is_distributed(tx: Tx) -> bool:
    return isinstance(tx, DistributedTx)
