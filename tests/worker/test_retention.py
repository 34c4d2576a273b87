"""Retention: expired rows are deleted, and all others are kept."""

from typing import Any

import pytest

from sealdesk.caller import SYSTEM, Actor
from sealdesk.db.engine import Tx
from sealdesk.event_log.presence import SharedPresence, Viewer
from sealdesk.identity import actions
from sealdesk.state import AppState
from sealdesk.tickets.ticket.store import replying
from sealdesk.webhooks.store import endpoints as webhooks
from sealdesk.webhooks.types import Endpoint
from sealdesk.worker import retention
from tests.support.client import Key
from tests.support.feed import wait_until_placed
from tests.support.service import Service, Tenant
from tests.webhooks.factories import log_delivery, refused
from tests.webhooks.stored import add_replay, stored_endpoint

DAY_S = 24 * 3600
TICKETS = "/api/v1/external/tickets"
NEW = {"subject": "A subject", "description": "Text", "customer": {"email": "c@example.test"}}


@pytest.fixture(autouse=True)
def _stopped_clock(own_service: Service) -> None:
    """Some rows live for a minute, which a slow machine may take by itself."""
    own_service.clock.stop()


@pytest.fixture
def tenant(own_service: Service) -> Tenant:
    return own_service.tenant()


def _prune(service: Service) -> int:
    wait_until_placed(service)
    return service.prune()


def _count(service: Service, table: str) -> int:
    return int(service.rows(f"SELECT count(*) FROM {table}")[0][0])


def _left_after(service: Service, table: str, seconds: float) -> tuple[int, int]:
    """The number of rows before, and after pruning when this much time has passed."""
    before = _count(service, table)
    service.clock.advance(seconds)
    _prune(service)
    return before, _count(service, table)


@pytest.mark.parametrize(("after_s", "left"), [(DAY_S - 60, 1), (DAY_S + 1, 0)])
def test_stored_responses_are_deleted_after_a_day(
    own_service: Service, key: Key, after_s: float, left: int
) -> None:
    key.post(TICKETS, NEW, idempotency_key="once")
    assert _left_after(own_service, "idempotency", after_s) == (1, left)


@pytest.mark.parametrize(("after_s", "left"), [(590, 1), (601, 0)])
def test_used_signatures_are_deleted_after_twice_the_skew(
    own_service: Service, tenant: Tenant, after_s: float, left: int
) -> None:
    tenant.key(replay_protection="writes").ticket()
    assert _left_after(own_service, "used_signatures", after_s) == (1, left)


@pytest.mark.parametrize(("after_s", "left"), [(DAY_S - 10, 4), (DAY_S + 1, 0)])
def test_failed_logins_are_deleted_after_the_longest_limit(
    own_service: Service, after_s: float, left: int
) -> None:
    now_us = own_service.clock.now_us()
    own_service.write(
        lambda tx: actions.begin_log_in(tx, "a@example.test", "192.0.2.1", now_us=now_us)
    )
    assert _left_after(own_service, "login_failures", after_s) == (4, left)


@pytest.mark.parametrize(("after_s", "left"), [(12 * 3600 - 10, 1), (12 * 3600 + 2, 0)])
def test_revoked_tokens_are_deleted_after_their_last_renewal_expired(
    own_service: Service, tenant: Tenant, after_s: float, left: int
) -> None:
    tenant.admin().post("/api/v1/auth/logout")
    assert _left_after(own_service, "ended_tokens", after_s) == (1, left)


@pytest.mark.parametrize(("after_s", "left"), [(3590, 1), (3601, 0)])
def test_reset_links_are_deleted_after_an_hour(
    own_service: Service, tenant: Tenant, after_s: float, left: int
) -> None:
    async def work(tx: Tx) -> None:
        user = await actions.get_user_by_email(tx, tenant.admin_email)
        now_us = own_service.clock.now_us()
        await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us)

    own_service.write(work)
    assert _left_after(own_service, "reset_links", after_s) == (1, left)


@pytest.mark.parametrize(("after_s", "left"), [(59, 1), (62, 0)])
def test_reply_indicators_are_deleted_after_a_minute(
    own_service: Service, tenant: Tenant, after_s: float, left: int
) -> None:
    ticket_id, now_us = tenant.key().ticket()["id"], own_service.clock.now_us()
    actor = Actor("user", "u", "Ada")
    own_service.write(lambda tx: replying.record_replying(tx, tenant.id, ticket_id, actor, now_us))
    assert _left_after(own_service, "answering", after_s) == (1, left)


@pytest.mark.parametrize(("after_s", "left"), [(49, 1), (51, 0)])
def test_viewers_of_a_process_that_was_killed_are_deleted(
    own_service: Service, tenant: Tenant, after_s: float, left: int
) -> None:
    async def store(state: AppState) -> None:
        killed = SharedPresence(state.database, own_service.clock)
        killed.enter(Viewer(tenant.id, "a ticket", "u", "Eve"))
        await killed.exchange()

    own_service.in_serving(store)
    assert _left_after(own_service, "viewers", after_s) == (1, left)


def test_events_of_all_tenants_are_deleted_after_thirty_days(own_service: Service) -> None:
    for _ in range(3):
        own_service.tenant().key().ticket()
    own_service.settle()
    old = _count(own_service, "events")
    own_service.clock.advance(15 * DAY_S)
    own_service.tenant().key().ticket()
    own_service.settle()
    before, after = _left_after(own_service, "events", 15 * DAY_S + 60)
    assert (before > old > 0, after) == (True, before - old)


@pytest.fixture
def endpoint(own_service: Service, tenant: Tenant) -> Endpoint:
    """An endpoint with two deliveries, one of which had two attempts."""
    endpoint = stored_endpoint(tenant, "ticket.created")
    for attempts in ((refused(1), refused(2)), ()):
        log_delivery(tenant, endpoint.id, *attempts, status="pending")
    return endpoint


def _log(service: Service) -> list[int]:
    return [_count(service, table) for table in ("endpoints", "deliveries", "attempts", "replays")]


@pytest.mark.parametrize(("after_s", "left"), [(-60, [1, 2, 2, 1]), (60, [1, 0, 0, 0])])
def test_deliveries_attempts_and_replays_are_deleted_after_thirty_days(
    own_service: Service, endpoint: Endpoint, after_s: float, left: list[int]
) -> None:
    add_replay(own_service, endpoint)
    own_service.clock.advance(30 * DAY_S + after_s)
    _prune(own_service)
    assert _log(own_service) == left


@pytest.mark.parametrize(("after_s", "left"), [(30, [2, 2, 2, 1]), (90, [1, 0, 0, 0])])
def test_rows_of_a_deleted_endpoint_are_deleted(
    own_service: Service,
    tenant: Tenant,
    endpoint: Endpoint,
    after_s: float,
    left: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retention, "_STEP_ROWS", 1)
    stored_endpoint(tenant, "ticket.created")
    add_replay(own_service, endpoint)
    now_us = own_service.clock.now_us()
    own_service.write(lambda tx: webhooks.delete(tx, endpoint.tenant_id, endpoint.id, now_us))
    own_service.clock.advance(after_s)
    _prune(own_service)
    assert _log(own_service) == left


def test_permanent_rows_are_kept(own_service: Service, key: Key) -> None:
    kept = key.ticket()
    own_service.clock.advance(400 * DAY_S)
    _prune(own_service)
    assert key.walk(TICKETS) == [kept]
    assert _count(own_service, "audit") > 0


def test_many_rows_are_deleted_in_small_steps(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_STEP_ROWS", 5)
    monkeypatch.setattr(retention, "_STEP_PAUSE_S", 0.0)
    steps: list[Any] = []
    database = type(own_service.state.database)
    write = database.write

    def counted(self: Any, work: Any, tenant_id: str | None = None) -> Any:
        steps.append(work)
        return write(self, work, tenant_id)

    now_us = own_service.clock.now_us()
    for number in range(8):
        address = f"192.0.2.{number}"
        own_service.write(
            lambda tx, address=address: actions.begin_log_in(  # type: ignore[misc]
                tx, "a@example.test", address, now_us=now_us
            )
        )
    own_service.clock.advance(DAY_S + 1)
    monkeypatch.setattr(database, "write", counted)
    assert _prune(own_service) == 32
    assert len(steps) >= 5


def test_a_round_prunes_so_many_tenants_and_the_next_one_goes_on(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "TENANTS_AT_ONCE", 2)
    for _ in range(5):
        own_service.tenant().key()
    wait_until_placed(own_service)
    own_service.clock.advance(31 * DAY_S)
    pruner = retention.Pruner()
    left = []
    for _ in range(3):
        own_service.in_background(pruner.run_round)
        of_tenants = "SELECT DISTINCT tenant_id FROM events LIMIT 9"
        left.append(len(own_service.rows(of_tenants)))
    assert left == [3, 1, 0]
