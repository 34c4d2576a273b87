"""The delivering process is killed repeatedly, and the receiver refuses: every event arrives."""

import asyncio
import json
import os
import random
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import uvloop

from sealdesk.db.migrations import schema_version
from tests.resilience.connections import Connection, Key
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import (
    RUNTIME,
    Installation,
    admin_request,
    create_tenant_with_key,
    log_in,
)
from tests.resilience.read_after_write import TICKETS, new_ticket
from tests.servers import free_port, server_directory
from tests.servers.process import Process, accepts, environment
from tests.support.receiver import LOOPBACK, Got, Receiver, Reply, receiving
from tests.support.service import random_key

Kind = Literal["postgresql", "sqlite"]
TARGETS = (
    Target("events", "≥", 5000, within=1),
    Target("kills", "≥", 10, within=1),
    Target("refused_by_receiver", "≥", 1000, within=1),
    Target("undelivered", "=", 0),
    Target("events_without_commit", "=", 0),
    Target("commits_without_event", "=", 0),
    Target("with_several_ids", "=", 0),
)
_EVENTS = "/api/v1/external/events?type=ticket.created&per_page=100"
_WRITERS = 8
_RETRY_S = 0.05
_REFUSES = 0.3
# With more refusals, one event in 200,000 would use up all its attempts.
_REFUSED_MOST = 6
_ARRIVES_WITHIN_S = 400.0  # a killed worker keeps its leases for 6 s, twice as long as it lives
_WORKER = "sealdesk_worker"


class Timing(NamedTuple):
    """How long after it is ready the process is killed, and how long it leases an endpoint."""

    kill_after_s: float = 2.0
    lease_s: int = 6


class _Deployment(NamedTuple):
    """port: of the serving process. victim: starts the delivering process and waits for it."""

    port: int
    key: Key
    victim: Callable[[], Process]


class _Received:
    """The requests that the receiver got, by ticket id."""

    def __init__(self, receiver: Receiver) -> None:
        self.ids: defaultdict[str, set[str]] = defaultdict(set)
        self.accepted: set[str] = set()
        self.refused: Counter[str] = Counter()
        self.doubled = 0
        self._random = random.Random(5)
        receiver.answer = self._answer

    def _answer(self, got: Got) -> Reply:
        ticket_id = json.loads(got.body)["data"]["object"]["id"]
        self.ids[ticket_id].add(got.webhook_id)
        if self._random.random() < _REFUSES and self.refused[ticket_id] < _REFUSED_MOST:
            self.refused[ticket_id] += 1
            return Reply(500)
        self.doubled += ticket_id in self.accepted
        self.accepted.add(ticket_id)
        return Reply(204)


def run(
    installation: Installation | None,
    *,
    count: int = 5000,
    timing: Timing | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Open `count` tickets meanwhile; the figures. Without an installation, on SQLite."""
    timing = timing or Timing()
    parts = _on_sqlite(timing) if installation is None else _on_postgresql(installation, timing)
    loop = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with parts as found, receiving() as receiver, loop as runner:
        return runner.run(_Run(found, receiver, timing).figures(count, progress))


class _Run:
    def __init__(self, parts: _Deployment, receiver: Receiver, timing: Timing) -> None:
        self._parts = parts
        self._receiver = receiver
        self._timing = timing
        self._received = _Received(receiver)
        self._is_finished = False
        self._kills = 0

    async def figures(self, count: int, progress: Progress) -> dict[str, Any]:
        victim = await asyncio.to_thread(self._parts.victim)
        began_at_s = time.monotonic()
        await self._create_endpoint()
        killing = asyncio.create_task(self._kill_repeatedly(victim))
        numbers = iter(range(count))
        await asyncio.gather(*(self._write(numbers) for _ in range(_WRITERS)))
        tickets = {row["id"] for row in await self._read_all(f"{TICKETS}?per_page=100")}
        until_s = time.monotonic() + _ARRIVES_WITHIN_S
        while not tickets <= self._received.accepted and time.monotonic() < until_s:
            progress(len(self._received.accepted), count)
            await asyncio.sleep(0.1)
        self._is_finished = True
        await killing
        feed = {row["data"]["object"]["id"] for row in await self._read_all(_EVENTS)}
        received = self._received
        return {
            "events": len(feed),
            "kills": self._kills,
            "refused_by_receiver": received.refused.total(),
            "doubled": received.doubled,
            "undelivered": len(tickets - received.accepted),
            "events_without_commit": len((feed | {*received.ids}) - tickets),
            "commits_without_event": len(tickets - feed),
            "missing": count - len(tickets),
            "with_several_ids": sum(len(ids) > 1 for ids in received.ids.values()),
            "seconds": round(time.monotonic() - began_at_s, 1),
        }

    async def _create_endpoint(self) -> None:
        connection = Connection(self._parts.port)
        new = {"url": self._receiver.url, "events": ["ticket.created"]}
        content = json.dumps(new).encode()
        request = admin_request(await log_in(connection), "POST", "/api/v1/webhooks", content)
        response = await connection.send(request)
        assert response.status == 201, response
        connection.close()

    async def _kill_repeatedly(self, victim: Process) -> None:
        while not self._is_finished:
            await asyncio.sleep(self._timing.kill_after_s)
            await asyncio.to_thread(victim.kill)
            self._kills += 1
            victim = await asyncio.to_thread(self._parts.victim)

    async def _write(self, numbers: Iterator[int]) -> None:
        connection = Connection(self._parts.port)
        for _ in numbers:
            external_id = str(uuid.uuid4())
            request = partial(
                self._parts.key.request,
                "POST",
                TICKETS,
                new_ticket(external_id),
                idempotency_key=external_id,
            )
            while True:
                response = await connection.send(request())
                if response.status == 201:
                    break
                await asyncio.sleep(_RETRY_S)
        connection.close()

    async def _read_all(self, target: str) -> list[Any]:
        """All rows of a list; retries while the service is away."""
        connection = Connection(self._parts.port)
        rows: list[Any] = []
        cursor = ""
        while True:
            response = await connection.send(self._parts.key.request("GET", f"{target}{cursor}"))
            if response.status != 200:
                await asyncio.sleep(_RETRY_S)
                continue
            page = response.json()
            rows += page["data"]
            if not page["meta"]["has_more"]:
                connection.close()
                return rows
            cursor = f"&cursor={page['meta']['next_cursor']}"


@contextmanager
def _on_sqlite(timing: Timing) -> Iterator[_Deployment]:
    """On SQLite, where the serving process delivers too."""
    with server_directory() as directory:
        data = directory / "data"
        data.mkdir(mode=0o700)
        env = {**_common(), "SEALDESK_DATA_DIR": str(data)}
        schema_version.ensure_current(data / "sealdesk.db")
        key, port = asyncio.run(create_tenant_with_key(env)), free_port()
        start = partial(
            _start_processes, directory, env, timing, port, "serve", "--port", str(port)
        )
        yield _Deployment(port, key, start)


@contextmanager
def _on_postgresql(installation: Installation, timing: Timing) -> Iterator[_Deployment]:
    """On PostgreSQL: a serving process, which is not killed, and `sealdesk worker`."""
    primary, name = installation.primary, f"killed_{uuid.uuid4().hex[:8]}"
    primary.create_database(name)
    env = {
        **_common(),
        "SEALDESK_DATABASE_URL": primary.url(RUNTIME, "runtime", name),
        "SEALDESK_WORKER_DATABASE_URL": primary.url(_WORKER, "worker", name),
        "SEALDESK_OWNER_DATABASE_URL": primary.owner_url(name),
    }
    schema_version.migrate_postgres(
        env["SEALDESK_OWNER_DATABASE_URL"],
        runtime_url=env["SEALDESK_DATABASE_URL"],
        worker_url=env["SEALDESK_WORKER_DATABASE_URL"],
    )
    key, port = asyncio.run(create_tenant_with_key(env)), free_port()
    directory = installation.directory
    serving = _start_processes(directory, env, timing, port, "serve", "--port", str(port))
    try:
        yield _Deployment(
            port, key, partial(_start_processes, directory, env, timing, None, "worker")
        )
    finally:
        serving.kill()


def _common() -> dict[str, str]:
    return {
        **LOOPBACK,
        "SEALDESK_MASTER_KEY": random_key(),
        "SEALDESK_JWT_SECRET": random_key(),
        "SEALDESK_PER_PROCESS_LIMITS": "accept",
        "SEALDESK_TENANT_LIMIT": "100000000",
    }


def _start_processes(
    directory: Path, env: dict[str, str], timing: Timing, port: int | None, *words: str
) -> Process:
    """Start a process and wait until it accepts connections or logs that it works."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    observed = environment(**env, PYTHONPATH=path, TEST_LEASE_S=str(timing.lease_s))
    log = directory / f"{words[0]}{uuid.uuid4().hex}.log"
    command = [sys.executable, "-m", "tests.resilience.fast_retries", *words]
    process = Process(f"sealdesk {words[0]}", command, log, env=observed)
    is_ready = partial(accepts, port) if port else lambda: b'"working"' in log.read_bytes()
    process.wait_until(is_ready)
    return process
