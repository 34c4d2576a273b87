"""The usage of keys is counted per response and written in batches."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from sealdesk.api_keys.usage import recorder as usage
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TENANT_MOVES
from sealdesk.telemetry.counters import (
    _BATCH,
    HOUR_US,
    MAX_ADDRESSES,
    OTHER,
    KeyUse,
    Row,
    Usage,
)
from tests.support.client import Key
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
WHOAMI = "/api/v1/external/whoami"
_SQL = """
SELECT measure, value, count FROM key_usage WHERE key_id = :key_id
ORDER BY measure, value LIMIT 1000
"""


def written(service: Service, key: Key) -> dict[tuple[str, str], int]:
    """The stored counts of a key, after all counts are written."""
    service.in_serving(usage.write_counts)
    counted: dict[tuple[str, str], int] = {}
    for measure, value, count in service.rows(_SQL, key_id=key.id):
        counted[measure, value] = counted.get((measure, value), 0) + count
    return counted


def _taken(counted: Usage) -> dict[Row, int]:
    """The counts of all batches."""
    rows: dict[Row, int] = {}
    for batch in counted.take():
        assert list(batch) == sorted(batch)
        assert len(batch) <= 4 * _BATCH
        for row, count in batch.items():
            rows[row] = rows.get(row, 0) + count
    return rows


def test_every_response_is_counted_by_endpoint_status_and_permission(
    service: Service, key: Key
) -> None:
    ticket = key.ticket()
    key.get(f"{TICKETS}/{ticket['id']}")
    key.get(f"{TICKETS}/{key.id}")
    key.get(WHOAMI)
    assert written(service, key) == {
        ("address", "127.0.0.1"): 4,
        ("endpoint", f"GET {TICKETS}/{{id}}"): 2,
        ("endpoint", f"GET {WHOAMI}"): 1,
        ("endpoint", f"POST {TICKETS}"): 1,
        ("permission", "tickets:read"): 2,
        ("permission", "tickets:write"): 1,
        ("status", "200"): 2,
        ("status", "201"): 1,
        ("status", "404"): 1,
    }


def test_for_a_wrong_signature_only_the_status_is_counted(service: Service, key: Key) -> None:
    key.get(TICKETS, x_api_signature="0" * 64)
    assert written(service, key) == {("status", "401"): 1}


def test_forbidden_and_rate_limited_requests_are_counted(service: Service, tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:read"], rate_limit=1)
    assert [key.get(TICKETS).status_code for _ in range(3)] == [403, 429, 429]
    counted = written(service, key)
    assert (counted["status", "403"], counted["status", "429"]) == (1, 2)
    assert not [value for measure, value in counted if measure == "permission"]


def test_nothing_is_written_for_a_single_request(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)
    own_service.in_serving(usage.write_counts)
    before = own_service.rows(_SQL, key_id=key.id)
    writes: list[tuple[object, ...]] = []
    write = own_service.state.database.write

    async def recorded(*given: object) -> object:
        writes.append(given)
        return await write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(own_service.state.database, "write", recorded)
    for _ in range(20):
        assert key.get(WHOAMI).status_code == 200
    assert _of_a_tenant(writes) == []
    assert own_service.rows(_SQL, key_id=key.id) == before
    assert written(own_service, key)["status", "200"] == 21
    assert len(_of_a_tenant(writes)) == 1


def _of_a_tenant(writes: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The writes of tenants, without those of the background loop."""
    return [given for given in writes if len(given) > 1 and given[1] is not None]


def test_counts_of_batches_and_processes_are_added(service: Service, key: Key) -> None:
    for _ in range(3):
        key.get(WHOAMI)
        service.in_serving(usage.write_counts)
    at = service.clock.now_us() // HOUR_US * HOUR_US
    other = Usage()
    for _ in range(5):
        other.note(_use(key), at, 200, f"GET {WHOAMI}", "127.0.0.1")
    service.state.key_usage.give_back(_taken(other))
    assert written(service, key)["status", "200"] == 8


def _use(key: Key) -> KeyUse:
    (row,) = key.service.rows("SELECT tenant_id FROM api_keys WHERE id = :id LIMIT 2", id=key.id)
    return KeyUse(row[0], key.id, "")


def test_each_hour_has_its_own_counts(own_service: Service) -> None:
    key = own_service.tenant().key()
    for _ in range(2):
        key.get(WHOAMI)
        own_service.clock.advance(3600)
    own_service.in_serving(usage.write_counts)
    sql = "SELECT hour_at FROM key_usage WHERE key_id = :key_id AND measure = :measure LIMIT 9"
    hours = sorted(row[0] for row in own_service.rows(sql, key_id=key.id, measure="status"))
    assert len(hours) == 2
    assert hours[1] - hours[0] == HOUR_US and hours[0] % HOUR_US == 0


def test_addresses_are_bounded_within_an_hour_and_over_batches() -> None:
    counted = Usage()
    key = KeyUse("t", "k", "")
    for batch in range(3):
        for number in range(MAX_ADDRESSES):
            counted.note(key, HOUR_US, 200, "GET /", f"192.0.{batch}.{number}")
    first = _taken(counted)
    for number in range(MAX_ADDRESSES):
        counted.note(key, HOUR_US, 200, "GET /", f"198.51.100.{number}")
    second = _taken(counted)
    addresses = [row.value for row in first if row.measure == "address"]
    assert len(addresses) == MAX_ADDRESSES + 1
    assert first[Row("t", "k", HOUR_US, "address", OTHER)] == 2 * MAX_ADDRESSES
    assert [row.value for row in second if row.measure == "address"] == [OTHER]
    counted.note(key, 2 * HOUR_US, 200, "GET /", "198.51.100.1")
    assert Row("t", "k", 2 * HOUR_US, "address", "198.51.100.1") in _taken(counted)


def test_a_flood_of_addresses_between_two_batches_takes_no_more_memory() -> None:
    counted = Usage()
    for number in range(25_000):
        counted.note(KeyUse("t", "k", ""), 0, 200, "GET /", str(number))
    assert len(counted._counts) <= 20_001
    rows = _taken(counted)
    assert rows[Row("t", "k", 0, "status", "200")] == 25_000
    assert len(rows) <= MAX_ADDRESSES + 3


def test_counts_of_many_hours_are_taken_in_batches() -> None:
    counted = Usage()
    waiting = {Row("t", f"k{n}", 0, "status", "200"): n for n in range(10_000, 0, -1)}
    counted.give_back(waiting)
    counted.note(KeyUse("t", "k1", ""), 0, 200, "GET /", "a")
    rows = _taken(counted)
    assert rows[Row("t", "k1", 0, "status", "200")] == 2
    assert len(rows) == 10_002
    assert _taken(counted) == {}


def test_counts_that_could_not_be_written_are_written_with_the_next(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)

    async def unavailable(*_: object) -> None:
        raise ServiceUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(own_service.state.database, "write", unavailable)
        assert own_service.in_serving(usage.write_counts) == 0
    key.get(WHOAMI)
    assert written(own_service, key)["status", "200"] == 2


def test_counts_of_a_tenant_that_is_being_moved_are_not_kept_for_ever(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)

    async def refused(*_: object) -> None:
        raise ServiceUnavailable(TENANT_MOVES)

    with monkeypatch.context() as patched:
        patched.setattr(own_service.state.database, "write", refused)
        assert own_service.in_serving(usage.write_counts) == 0
    assert _taken(own_service.state.key_usage) == {}


def test_counts_are_written_periodically(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "WRITE_INTERVAL_S", 0.02)
    service = start()
    key = service.tenant().key()
    key.get(WHOAMI)
    for _ in range(1000):
        if service.rows(_SQL, key_id=key.id):
            return
        key.get(WHOAMI)
    raise AssertionError("nothing was written")


def test_remaining_counts_are_written_at_shutdown(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)
    written_for = []
    write = own_service.state.database.write

    async def recorded(work: object, tenant_id: str | None = None) -> object:
        written_for.append(tenant_id)
        return await write(work, tenant_id)  # type: ignore[arg-type]

    monkeypatch.setattr(own_service.state.database, "write", recorded)
    own_service.stop()
    assert any(tenant is not None for tenant in written_for)
    assert _taken(own_service.state.key_usage) == {}


def test_counts_are_deleted_after_thirty_days(own_service: Service) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)
    assert written(own_service, key)
    own_service.clock.advance(30 * 24 * 3600 - 3600)
    own_service.prune()
    assert written(own_service, key)
    own_service.clock.advance(2 * 3600)
    own_service.prune()
    assert written(own_service, key) == {}


def test_counting_does_not_import_storage() -> None:
    code = "import sealdesk.telemetry.counters, sys; print('sealdesk.db' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
