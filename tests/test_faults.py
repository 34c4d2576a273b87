"""Storage faults: no acknowledged write is lost, no partial write is stored, reads continue."""

import json
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from sealdesk.clock import Clock
from sealdesk.db.engine import Tx
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.errors import ServiceUnavailable
from sealdesk.state import AppState
from sealdesk.telemetry import storage
from tests.cli.commands import start_command
from tests.support.client import Key, Person
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_ONLY, Template
from tests.support.disk import Disk, watched_disk
from tests.support.pages import PASSWORD, Visitor, logged_in
from tests.support.service import Service, running, wait_until

TICKETS = "/api/v1/external/tickets"
_ANY_SIZE = resource.RLIM_INFINITY
NEW = {"subject": "A subject", "description": "Text", "customer": {"email": "c@example.test"}}


# A slow disk


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with watched_disk(monkeypatch) as disk:
        yield disk


@pytest.fixture
def used_key(disk: Disk, own_service: Service) -> Key:
    """A key whose last use is already stored, so that its reads write nothing."""
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
def test_no_write_is_acknowledged_before_it_is_on_the_disk(
    disk: Disk, used_key: Key, pool: ThreadPoolExecutor
) -> None:
    disk.stand_still()
    (answer,) = _post(pool, used_key, 1)
    assert disk.is_asked.wait(120)
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
    assert disk.is_asked.wait(120)
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
    assert disk.is_asked.wait(120)
    others = _post(pool, used_key, 12)
    writer = cast(SqliteDatabase, used_key.service.state.database)._writer
    wait_until(lambda: len(writer._waiting) >= 12)
    disk.goes_on.set()
    assert [answer.result().status_code for answer in first + others] == [201] * 13
    # Two, and some of the background loop until the last response has arrived.
    assert 2 <= disk.commits < 13


# A full disk


def _fill(service: Service, pages: int) -> None:
    """Limit the database to this number of pages, as if the disk were full."""

    async def limit(tx: Tx) -> None:
        await tx.fetch_one(f"PRAGMA max_page_count = {pages}", {})

    service.write(limit)


def _pages(service: Service) -> int:
    return int(service.rows("PRAGMA page_count")[0][0])


@SQLITE_ONLY
def test_on_a_full_disk_writes_fail_completely_and_reads_succeed(own_service: Service) -> None:
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
        await tx.fetch_one("PRAGMA query_only = ON", {})

    own_service.write(make_full)
    assert key.get(TICKETS).status_code == 200
    assert key.get(f"{TICKETS}?per_page=0").status_code == 400


@SQLITE_ONLY
def test_the_first_write_after_the_disk_has_space_succeeds(own_service: Service) -> None:
    key = own_service.tenant().key()
    key.ticket()
    _fill(own_service, _pages(own_service))
    assert key.post(TICKETS, {**NEW, "description": "x" * 60_000}).status_code == 503
    _fill(own_service, 1_000_000)
    assert key.post(TICKETS, NEW).status_code == 201


@SQLITE_ONLY
def test_a_failed_group_stores_nothing_and_loses_no_acknowledged_write(
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


def _fill_up(service: Service) -> None:
    """Make every change fail for want of space."""
    if not service.settings.database_url:
        service.run("PRAGMA query_only = ON")
        return
    # What a transaction of each of them writes last, or nearly.
    service.run(
        "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'"
    )
    for table in ("event_outbox", "events", "audit", "login_failures"):
        each = f"BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fill()"
        service.run(f"CREATE TRIGGER fill {each}")


def test_service_is_not_ready_after_a_log_in_that_a_full_disk_refused(
    own_service: Service,
) -> None:
    tenant, anybody = own_service.tenant(), Person(own_service, "")
    assert anybody.get("/readyz").status_code == 200
    _fill_up(own_service)
    log_in = {"email": tenant.admin_email, "password": PASSWORD}
    assert anybody.post("/api/v1/auth/login", log_in).status_code == 503
    refused = anybody.get("/readyz").json()
    assert (refused["reads"], refused["writes"]) == ("ok", "failed")
    assert "takes no writes" in refused["reason"]
    assert anybody.get("/healthz").status_code == 200


def test_service_is_ready_after_a_mistake_in_sql(own_service: Service) -> None:
    async def make_mistake(state: AppState) -> None:
        await state.database.write(lambda tx: tx.execute("UPDATE nothing SET a = 1", {}))

    with pytest.raises(ServiceUnavailable):
        own_service.in_serving(make_mistake)
    assert Person(own_service, "").get("/readyz").status_code == 200


@SQLITE_ONLY
def test_service_without_free_space_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, own_service: Service
) -> None:
    anybody = Person(own_service, "")
    wait_until(lambda: own_service.state.database.health.free_bytes is not None)
    monkeypatch.setattr(storage, "MIN_FREE_BYTES", 2**62)
    assert anybody.get("/readyz").json()["writes"] == "failed"
    monkeypatch.undo()
    assert anybody.get("/readyz").status_code == 200


# A server of its own, to be harmed


class Process:
    """`sealdesk serve` as a process, and one key and the administrator of its only tenant."""

    def __init__(self, data_dir: Path, key: Key, admin_email: str) -> None:
        self._data_dir = data_dir
        self._key = key
        self.admin_email = admin_email
        self.clock = Clock()
        self.url = ""

    def start(self) -> None:
        log = self._data_dir / "log"
        log.unlink(missing_ok=True)
        with log.open("w") as stderr:
            env = {**os.environ, "SEALDESK_DATA_DIR": str(self._data_dir)}
            self.child = start_command("serve", "--port", "0", env=env, stderr=stderr)
        wait_until(lambda: '"serving"' in log.read_text())
        line = next(line for line in log.read_text().splitlines() if '"serving"' in line)
        self.url = json.loads(line)["url"]

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        self.child.send_signal(with_signal)
        self.child.wait(120)

    @property
    def key(self) -> Key:
        return Key(cast(Any, self), self._key.id, self._key.api_key, self._key.api_secret)


@pytest.fixture
def process(template: Path, tmp_path: Path) -> Iterator[Process]:
    with running(tmp_path / "data", template) as service:
        tenant = service.tenant()
        key = tenant.key()
    process = Process(tmp_path / "data", key, tenant.admin_email)
    process.start()
    yield process
    if process.child.poll() is None:
        process.stop()


def _let_files_grow(process: Process, most_bytes: int) -> None:
    resource.prlimit(process.child.pid, resource.RLIMIT_FSIZE, (most_bytes, _ANY_SIZE))


def test_writes_are_refused_until_the_database_file_can_grow(process: Process) -> None:
    key = process.key
    kept = key.ticket()
    _let_files_grow(process, 4096)
    refused = [key.post(TICKETS, NEW) for _ in range(3)]
    assert [(a.status_code, a.headers["retry-after"]) for a in refused] == [(503, "1")] * 3
    assert key.walk(TICKETS) == [kept]
    ready = httpx.get(f"{process.url}/readyz", timeout=60)
    told = ready.json()
    assert (ready.status_code, told["reads"], told["writes"]) == (503, "ok", "failed")
    assert httpx.get(f"{process.url}/healthz", timeout=60).status_code == 200
    _let_files_grow(process, _ANY_SIZE)
    assert len(key.walk(TICKETS)) == 1
    assert key.post(TICKETS, NEW).status_code == 201


def _write_until_it_dies(key: Key, ledger: list[tuple[str, dict[str, Any]]], name: str) -> None:
    """Post tickets with idempotency keys, and record those that got a response."""
    for number in range(10_000):
        once = f"{name}-{number}"
        body = {**NEW, "external_id": once}
        try:
            answer = key.post(TICKETS, body, idempotency_key=once)
        except httpx.TransportError:
            ledger.append((once, {}))
            return
        ledger.append((once, answer.json()["data"]))


def test_killed_servers_lose_no_acknowledged_write(process: Process) -> None:
    ledger: list[tuple[str, dict[str, Any]]] = []
    for kill in range(3):  # ten times and more in `make prove`
        writers = [
            threading.Thread(target=_write_until_it_dies, args=(process.key, ledger, f"{kill}-{n}"))
            for n in range(4)
        ]
        for writer in writers:
            writer.start()
        enough = len(ledger) + 20
        wait_until(lambda enough=enough: len(ledger) >= enough)  # type: ignore[misc]
        process.stop(signal.SIGKILL)
        for writer in writers:
            writer.join()
        process.start()
    stored = {ticket["external_id"]: ticket for ticket in process.key.walk(TICKETS, per_page=100)}
    acknowledged = {once: ticket for once, ticket in ledger if ticket}
    assert len(acknowledged) >= 50
    assert {once: stored.get(once) for once in acknowledged} == acknowledged
    _send_again(process.key, [once for once, _ in ledger])


def _send_again(key: Key, names: list[str]) -> None:
    """Repeat all requests: each creates exactly one ticket."""
    for once in names:
        answer = key.post(TICKETS, {**NEW, "external_id": once}, idempotency_key=once)
        assert answer.status_code == 201
    found = [ticket["external_id"] for ticket in key.walk(TICKETS, per_page=100)]
    assert sorted(found) == sorted(names)


# Pages


def _lose_nothing(
    service: Service, email: str, key: Key, fill: Callable[[], None], clear: Callable[[], None]
) -> None:
    """Reply, create a key and log in on a full disk; then send the forms that the pages kept."""
    keys, ticket_id = "/settings/api-keys", key.ticket()["id"]
    at = f"/tickets/{ticket_id}"
    visitor, other = Visitor(service), Visitor(service)
    visitor.log_in(email)
    answer, new = (
        visitor.get(at).form(f"{at}/reply"),
        visitor.get(f"{keys}/new").form(f"{keys}/new"),
    )
    fill()
    refused = [visitor.submit(answer, body="Lisbon"), visitor.submit(new, name="Lisbon")]
    asked = other.log_in(email)
    for page in (*refused, asked):
        assert (page.status, page.answer.headers["retry-after"]) == (503, "1")
    for path in (at, keys):
        page = visitor.get(path)
        assert (page.status, "Lisbon" in page.text) == (200, False)
    clear()
    for page, form in zip(refused, (answer, new), strict=True):
        assert visitor.submit(page.form(form.action)).status in (200, 201)
    assert [reply["body"] for reply in key.walk(f"{TICKETS}/{ticket_id}/replies")] == ["Lisbon"]
    assert visitor.get(keys).text.count("Lisbon") == 1
    assert other.submit(asked.form("/log-in"), password=PASSWORD).status == 200


def test_pages_keep_a_form_that_a_full_disk_cannot_store(process: Process) -> None:
    _lose_nothing(
        cast(Any, process), process.admin_email, process.key,
        fill=lambda: _let_files_grow(process, 4096),
        clear=lambda: _let_files_grow(process, _ANY_SIZE),
    )  # fmt: skip


@POSTGRESQL_ONLY
def test_pages_keep_a_form_that_a_full_disk_of_postgresql_cannot_store(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()

    _lose_nothing(
        own_service, tenant.admin_email, tenant.key(),
        fill=lambda: _fill_up(own_service),
        clear=lambda: own_service.run("DROP FUNCTION fill() CASCADE"),
    )  # fmt: skip


@POSTGRESQL_ONLY
def test_pages_work_again_after_an_outage_of_the_database(
    own_service: Service, postgres_template: Template
) -> None:
    tenant, access = own_service.tenant(), postgres_template.access
    at = f"/tickets/{tenant.key().ticket()['id']}"
    visitor = logged_in(tenant)
    answer = visitor.get(at).form(f"{at}/reply")
    name = str(own_service.settings.database_url).rpartition("/")[2]
    role = postgres_template.runtime[0]
    access.sql(f'REVOKE CONNECT ON DATABASE "{name}" FROM PUBLIC, "{role}"')
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'"
    access.sql(f"{ends} AND datname = '{name}'")
    kept = visitor.submit(answer, body="Lisbon")
    away = visitor.get(at)
    assert (kept.status, away.status) == (503, 503)
    assert ("meta", "http-equiv", "refresh") in away.attributes
    access.sql(f'GRANT CONNECT ON DATABASE "{name}" TO "{role}"')
    assert "Lisbon" not in visitor.get(at).text
    assert visitor.submit(kept.form(f"{at}/reply")).text.count("Lisbon") == 1
