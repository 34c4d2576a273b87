"""Whoever delivers is killed again and again, and the receiver refuses: every event arrives."""

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

from sealdesk.db import schema_version
from tests.resilience.figures import Target, Tell, quiet
from tests.resilience.lines import Key, Line
from tests.resilience.nodes import RUNTIME, Installation, by_admin, furnished, log_in
from tests.resilience.reading import TICKETS, new_ticket
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
_AGAIN_S = 0.05
_REFUSES = 0.3
# Refused more often, one in 200,000 would have had all its attempts.
_REFUSED_MOST = 6
_ARRIVES_WITHIN_S = 400.0  # a killed worker keeps its leases for 6 s, twice as long as it lives
_WORKER = "sealdesk_worker"


class Timing(NamedTuple):
    """When the process is killed, after it is ready, and for how long it leases an endpoint."""

    kill_after_s: float = 2.0
    lease_s: int = 6


class _Parts(NamedTuple):
    """port: of the process that serves. victim: starts the one that delivers, and is ready."""

    port: int
    key: Key
    victim: Callable[[], Process]


class _Arrivals:
    """What came to the receiver, by the ticket that it is about."""

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
    tell: Tell = quiet,
) -> dict[str, Any]:
    """So many tickets are opened meanwhile; the figures. Without an installation, on SQLite."""
    timing = timing or Timing()
    parts = _on_sqlite(timing) if installation is None else _beside(installation, timing)
    loop = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with parts as found, receiving() as receiver, loop as runner:
        return runner.run(_Proof(found, receiver, timing).figures(count, tell))


class _Proof:
    def __init__(self, parts: _Parts, receiver: Receiver, timing: Timing) -> None:
        self._parts = parts
        self._receiver = receiver
        self._timing = timing
        self._arrivals = _Arrivals(receiver)
        self._is_over = False
        self._kills = 0

    async def figures(self, count: int, tell: Tell) -> dict[str, Any]:
        victim = await asyncio.to_thread(self._parts.victim)
        began_at_s = time.monotonic()
        await self._name_endpoint()
        killing = asyncio.create_task(self._kill_always(victim))
        numbers = iter(range(count))
        await asyncio.gather(*(self._write(numbers) for _ in range(_WRITERS)))
        tickets = {row["id"] for row in await self._walk(f"{TICKETS}?per_page=100")}
        until_s = time.monotonic() + _ARRIVES_WITHIN_S
        while not tickets <= self._arrivals.accepted and time.monotonic() < until_s:
            tell(len(self._arrivals.accepted), count)
            await asyncio.sleep(0.1)
        self._is_over = True
        await killing
        feed = {row["data"]["object"]["id"] for row in await self._walk(_EVENTS)}
        arrivals = self._arrivals
        return {
            "events": len(feed),
            "kills": self._kills,
            "refused_by_receiver": arrivals.refused.total(),
            "doubled": arrivals.doubled,
            "undelivered": len(tickets - arrivals.accepted),
            "events_without_commit": len((feed | {*arrivals.ids}) - tickets),
            "commits_without_event": len(tickets - feed),
            "missing": count - len(tickets),
            "with_several_ids": sum(len(ids) > 1 for ids in arrivals.ids.values()),
            "seconds": round(time.monotonic() - began_at_s, 1),
        }

    async def _name_endpoint(self) -> None:
        line = Line(self._parts.port)
        new = {"url": self._receiver.url, "events": ["ticket.created"]}
        content = json.dumps(new).encode()
        request = by_admin(await log_in(line), "POST", "/api/v1/webhooks", content)
        answer = await line.ask(request)
        assert answer.status == 201, answer
        line.close()

    async def _kill_always(self, victim: Process) -> None:
        while not self._is_over:
            await asyncio.sleep(self._timing.kill_after_s)
            await asyncio.to_thread(victim.kill)
            self._kills += 1
            victim = await asyncio.to_thread(self._parts.victim)

    async def _write(self, numbers: Iterator[int]) -> None:
        line = Line(self._parts.port)
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
                answer = await line.ask(request())
                if answer.status == 201:
                    break
                await asyncio.sleep(_AGAIN_S)
        line.close()

    async def _walk(self, target: str) -> list[Any]:
        """All rows of a list, however often the service goes away meanwhile."""
        line = Line(self._parts.port)
        rows: list[Any] = []
        cursor = ""
        while True:
            answer = await line.ask(self._parts.key.request("GET", f"{target}{cursor}"))
            if answer.status != 200:
                await asyncio.sleep(_AGAIN_S)
                continue
            page = answer.json()
            rows += page["data"]
            if not page["meta"]["has_more"]:
                line.close()
                return rows
            cursor = f"&cursor={page['meta']['next_cursor']}"


@contextmanager
def _on_sqlite(timing: Timing) -> Iterator[_Parts]:
    """The process that serves delivers too."""
    with server_directory() as directory:
        data = directory / "data"
        data.mkdir(mode=0o700)
        env = {**_common(), "SEALDESK_DATA_DIR": str(data)}
        schema_version.ensure_current(data / "sealdesk.db")
        key, port = asyncio.run(furnished(env)), free_port()
        start = partial(_started, directory, env, timing, port, "serve", "--port", str(port))
        yield _Parts(port, key, start)


@contextmanager
def _beside(installation: Installation, timing: Timing) -> Iterator[_Parts]:
    """A process that serves, which is left alone, and `sealdesk worker`."""
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
    key, port = asyncio.run(furnished(env)), free_port()
    directory = installation.directory
    serving = _started(directory, env, timing, port, "serve", "--port", str(port))
    try:
        yield _Parts(port, key, partial(_started, directory, env, timing, None, "worker"))
    finally:
        serving.kill()


def _common() -> dict[str, str]:
    return {
        **LOOPBACK,
        "SEALDESK_MASTER_KEY": random_key(),
        "SEALDESK_JWT_SECRET": random_key(),
        "SEALDESK_PER_PROCESS_LIMITS": "accept",
    }


def _started(
    directory: Path, env: dict[str, str], timing: Timing, port: int | None, *words: str
) -> Process:
    """A process that is ready: it accepts connections, or says that it works."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    seen = environment(**env, PYTHONPATH=path, PROOF_LEASE_S=str(timing.lease_s))
    log = directory / f"{words[0]}{uuid.uuid4().hex}.log"
    command = [sys.executable, "-m", "tests.resilience.fast_retries", *words]
    process = Process(f"sealdesk {words[0]}", command, log, env=seen)
    is_ready = partial(accepts, port) if port else lambda: b'"working"' in log.read_bytes()
    process.wait_until(is_ready)
    return process
