"""Faults of the storage: nothing acknowledged is lost, nothing half is kept, reads go on."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from sealdesk.clock import Clock
from sealdesk.db.engine import Tx
from sealdesk.db.sqlite import SqliteDatabase
from tests.support.client import Key
from tests.support.databases import SQLITE_ONLY
from tests.support.disk import Disk, watched_disk
from tests.support.service import Service, running, wait_until

TICKETS = "/api/v1/external/tickets"
SERVE = "from sealdesk.admin import main; raise SystemExit(main())"
NEW = {"subject": "A subject", "description": "Text", "customer": {"email": "c@example.test"}}


# A slow disk


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with watched_disk(monkeypatch) as disk:
        yield disk


@pytest.fixture
def used_key(disk: Disk, own_service: Service) -> Key:
    """A key whose use is noted already, so that its reads write nothing."""
    key = own_service.tenant().key()
    assert key.get(TICKETS).status_code == 200
    return key


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def _post(pool: ThreadPoolExecutor, key: Key, count: int) -> list[Future[httpx.Response]]:
    return [pool.submit(key.post, TICKETS, NEW) for _ in range(count)]


@SQLITE_ONLY
def test_no_write_is_answered_before_the_disk_has_it(
    disk: Disk, used_key: Key, pool: ThreadPoolExecutor
) -> None:
    disk.stand_still()
    (answer,) = _post(pool, used_key, 1)
    assert disk.is_asked.wait(20)
    time.sleep(0.2)
    assert not answer.done()
    disk.goes_on.set()
    assert answer.result().status_code == 201


@SQLITE_ONLY
def test_reads_do_not_wait_for_the_disk(
    disk: Disk, used_key: Key, pool: ThreadPoolExecutor
) -> None:
    disk.stand_still()
    (answer,) = _post(pool, used_key, 1)
    assert disk.is_asked.wait(20)
    assert [used_key.get(TICKETS).json()["data"] for _ in range(5)] == [[]] * 5
    disk.goes_on.set()
    assert used_key.get(f"{TICKETS}/{answer.result().json()['data']['id']}").status_code == 200


@SQLITE_ONLY
def test_writers_that_wait_share_one_commit(
    disk: Disk, used_key: Key, pool: ThreadPoolExecutor
) -> None:
    used_key.service.settle()
    disk.stand_still()
    first = _post(pool, used_key, 1)
    assert disk.is_asked.wait(20)
    others = _post(pool, used_key, 12)
    writer = cast(SqliteDatabase, used_key.service.shared.database)._writer
    wait_until(lambda: len(writer._waiting) >= 12)
    disk.goes_on.set()
    assert [answer.result().status_code for answer in first + others] == [201] * 13
    # And one, it may be, of the background loop.
    assert disk.commits in (2, 3)


# A full disk


def _fill(service: Service, pages: int) -> None:
    """Let the database have this many pages; beyond it the disk is full."""

    async def limit(tx: Tx) -> None:
        await tx.first(f"PRAGMA max_page_count = {pages}", {})

    service.write(limit)


def _pages(service: Service) -> int:
    return int(service.rows("PRAGMA page_count")[0][0])


@SQLITE_ONLY
def test_full_disk_refuses_writes_whole_and_goes_on_reading(own_service: Service) -> None:
    key = own_service.tenant().key()
    kept = [key.ticket(subject=f"Ticket {number}") for number in range(3)]
    events = "SELECT count(*) FROM events"
    before = own_service.rows(events)[0][0]
    _fill(own_service, _pages(own_service))
    large = {**NEW, "description": "x" * 60_000}
    refused = key.post(TICKETS, large)
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert refused.headers["retry-after"] == "1"
    assert key.walk(TICKETS) == kept[::-1]
    assert own_service.rows(events)[0][0] == before


@SQLITE_ONLY
def test_key_that_was_never_used_reads_from_a_full_disk(own_service: Service) -> None:
    key = own_service.tenant().key()

    async def make_full(tx: Tx) -> None:
        await tx.first("PRAGMA query_only = ON", {})

    own_service.write(make_full)
    assert key.get(TICKETS).status_code == 200
    assert key.get(f"{TICKETS}?per_page=0").status_code == 400


@SQLITE_ONLY
def test_first_write_after_space_returns_succeeds(own_service: Service) -> None:
    key = own_service.tenant().key()
    key.ticket()
    _fill(own_service, _pages(own_service))
    assert key.post(TICKETS, {**NEW, "description": "x" * 60_000}).status_code == 503
    _fill(own_service, 1_000_000)
    assert key.post(TICKETS, NEW).status_code == 201


@SQLITE_ONLY
def test_none_of_a_failed_group_is_kept_and_none_acknowledged_is_lost(
    own_service: Service, pool: ThreadPoolExecutor
) -> None:
    key = own_service.tenant().key()
    key.ticket()
    _fill(own_service, _pages(own_service) + 60)
    body = {**NEW, "description": "x" * 9_000}
    answers = [pool.submit(key.post, TICKETS, body) for _ in range(80)]
    statuses = [answer.result().status_code for answer in answers]
    assert set(statuses) == {201, 503}
    acknowledged = {a.result().json()["data"]["id"] for a in answers if a.result().is_success}
    stored = {ticket["id"] for ticket in key.walk(TICKETS, per_page=100)}
    assert len(stored) == 1 + len(acknowledged)
    assert acknowledged < stored
    counts = "SELECT count(*) FROM events WHERE type = 'ticket.created'"
    assert own_service.rows(counts)[0][0] == len(stored)


# A server of its own, to be harmed


class Process:
    """`sealdesk serve` as a process, and one key of its only tenant."""

    def __init__(self, data_dir: Path, key: Key) -> None:
        self._data_dir = data_dir
        self._key = key
        self.clock = Clock()
        self.url = ""

    def start(self) -> None:
        log = self._data_dir / "log"
        log.unlink(missing_ok=True)
        with log.open("w") as stderr:
            self.child = subprocess.Popen(
                [sys.executable, "-c", SERVE, "serve", "--port", "0"],
                env={**os.environ, "SEALDESK_DATA_DIR": str(self._data_dir)},
                stderr=stderr,
            )
        wait_until(lambda: '"serving"' in log.read_text(), 20)
        line = next(line for line in log.read_text().splitlines() if '"serving"' in line)
        self.url = json.loads(line)["url"]

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        self.child.send_signal(with_signal)
        self.child.wait(20)

    @property
    def key(self) -> Key:
        return Key(cast(Any, self), self._key.id, self._key.api_key, self._key.api_secret)


@pytest.fixture
def process(template: Path, tmp_path: Path) -> Iterator[Process]:
    with running(tmp_path / "data", template) as service:
        key = service.tenant().key()
    process = Process(tmp_path / "data", key)
    process.start()
    yield process
    if process.child.poll() is None:
        process.stop()


def test_file_that_cannot_grow_refuses_writes_until_it_can(process: Process) -> None:
    pid, key = process.child.pid, process.key
    kept = key.ticket()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    refused = [key.post(TICKETS, NEW) for _ in range(3)]
    assert [(a.status_code, a.headers["retry-after"]) for a in refused] == [(503, "1")] * 3
    assert key.walk(TICKETS) == [kept]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert len(key.walk(TICKETS)) == 1
    assert key.post(TICKETS, NEW).status_code == 201


def _write_until_it_dies(key: Key, ledger: list[tuple[str, dict[str, Any]]], name: str) -> None:
    """Post tickets under idempotency keys; note those that were answered."""
    for number in range(10_000):
        once = f"{name}-{number}"
        body = {**NEW, "external_id": once}
        try:
            answer = key.post(TICKETS, body, idempotency_key=once)
        except httpx.TransportError:
            ledger.append((once, {}))
            return
        ledger.append((once, answer.json()["data"]))


def test_killed_servers_lose_nothing_that_they_acknowledged(process: Process) -> None:
    ledger: list[tuple[str, dict[str, Any]]] = []
    for kill in range(5):
        writers = [
            threading.Thread(target=_write_until_it_dies, args=(process.key, ledger, f"{kill}-{n}"))
            for n in range(4)
        ]
        for writer in writers:
            writer.start()
        enough = len(ledger) + 20
        wait_until(lambda enough=enough: len(ledger) >= enough, 20)  # type: ignore[misc]
        process.stop(signal.SIGKILL)
        for writer in writers:
            writer.join()
        process.start()
    stored = {ticket["external_id"]: ticket for ticket in process.key.walk(TICKETS, per_page=100)}
    acknowledged = {once: ticket for once, ticket in ledger if ticket}
    assert len(acknowledged) >= 100
    assert {once: stored.get(once) for once in acknowledged} == acknowledged
    _send_again(process.key, [once for once, _ in ledger])


def _send_again(key: Key, names: list[str]) -> None:
    """Whatever became of them the first time, each has its effect once."""
    for once in names:
        answer = key.post(TICKETS, {**NEW, "external_id": once}, idempotency_key=once)
        assert answer.status_code == 201
    found = [ticket["external_id"] for ticket in key.walk(TICKETS, per_page=100)]
    assert sorted(found) == sorted(names)
