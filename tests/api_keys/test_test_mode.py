"""Test keys: data, webhooks and a clock of their own, beside those of their tenant."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from sealdesk import clock
from sealdesk.crypto import signing
from sealdesk.db.engine import Tx
from sealdesk.records import test_tenants as records
from tests.api_keys.factories import KEYS, created_key, made
from tests.support.client import Key
from tests.support.databases import Begin
from tests.support.for_each import for_each
from tests.support.pages import logged_in
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service, Tenant, wait_until

CLOCK = "/api/v1/external/test-clock"
TICKETS = "/api/v1/external/tickets"
RULES = "/api/v1/external/rules"
WEBHOOKS = "/api/v1/external/webhooks"
_PAGES = "/settings/api-keys"
_WEEK_S = 7 * 24 * 3600
_ALL = ["tickets:read", "tickets:write", "customers:read", "webhooks:read", "webhooks:write"]


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that the tests of this file share, and which may send to loopback."""
    with begin(tmp_path_factory.mktemp("test-mode"), **LOOPBACK) as own:
        yield own


def key_for_tests(tenant: Tenant, **fields: Any) -> Key:
    fields = {"permissions": _ALL, "rate_limit": 100_000, **fields}
    return created_key(tenant.service, made(tenant.admin(), mode="test", **fields))


def advance(key: Key, seconds: int) -> dict[str, Any]:
    response = key.call("PUT", CLOCK, {"advance_s": seconds})
    assert response.status_code == 200, response.text
    return dict(response.json()["data"])


def test_a_test_key_begins_with_tk_test_and_says_so(tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    shown = key.get("/api/v1/external/whoami").json()["data"]
    assert re.fullmatch(r"tk_test_[0-9a-f]{40}", key.api_key)
    assert (shown["mode"], shown["tenant"]["name"]) == ("test", "Acme (test)")
    assert shown["tenant"]["id"] != tenant.id
    assert tenant.key().get("/api/v1/external/whoami").json()["data"]["mode"] == "live"


def test_all_test_keys_of_a_tenant_share_their_data_and_live_keys_see_none(
    service: Service, tenant: Tenant
) -> None:
    first, second, live = key_for_tests(tenant), key_for_tests(tenant), tenant.key()
    ticket = first.ticket(subject="Trial")
    stranger = key_for_tests(service.tenant())
    path = f"{TICKETS}/{ticket['id']}"
    assert second.get(path).json()["data"]["subject"] == "Trial"
    assert [one.get(path).status_code for one in (live, stranger)] == [404, 404]
    assert live.get(TICKETS).json()["data"] == []
    assert live.ticket()["number"] == 1


def test_keys_are_managed_beside_live_ones(tenant: Tenant) -> None:
    admin, live = tenant.admin(), tenant.key()
    key = key_for_tests(tenant, name="Trial")
    assert [one["id"] for one in admin.get(KEYS).json()["data"]] == [live.id]
    assert [one["id"] for one in admin.get(f"{KEYS}?mode=test").json()["data"]] == [key.id]
    assert admin.get(f"{KEYS}/{key.id}").json()["data"]["mode"] == "test"
    assert admin.patch(f"{KEYS}/{key.id}", {"name": "Other"}).json()["data"]["name"] == "Other"
    assert admin.delete(f"{KEYS}/{key.id}").status_code == 204
    assert key.get(TICKETS).json()["code"] == "api_key_revoked"
    assert live.get(TICKETS).status_code == 200


def test_an_administrator_of_another_tenant_finds_no_test_key(
    service: Service, tenant: Tenant
) -> None:
    key, other = key_for_tests(tenant), service.tenant()
    key_for_tests(other)
    assert other.admin().get(f"{KEYS}/{key.id}").status_code == 404
    assert other.admin().delete(f"{KEYS}/{key.id}").status_code == 404


def test_without_test_keys_the_list_is_empty(tenant: Tenant) -> None:
    tenant.key()
    assert tenant.admin().get(f"{KEYS}?mode=test").json()["data"] == []


def test_agents_can_be_assigned_and_those_who_come_later_with_the_next_key(tenant: Tenant) -> None:
    agent_id = tenant.user(name="Ann")
    key = key_for_tests(tenant)
    assert key.ticket(assignee_id=agent_id)["assignee_id"] == agent_id
    later_id = tenant.user(name="Bob")
    key_for_tests(tenant)
    assert key.ticket(assignee_id=later_id)["assignee_id"] == later_id


def test_a_test_tenant_gets_no_users_of_its_own(service: Service, tenant: Tenant) -> None:
    key_for_tests(tenant)
    found = service.read(lambda tx: records.find_of(tx, tenant.id))
    assert found is not None
    with pytest.raises(Exception, match="no such tenant"):
        Tenant(service, found.tenant_id, "").user()


def test_the_clock_goes_ahead_and_live_data_keep_the_real_time(
    service: Service, tenant: Tenant
) -> None:
    key, live = key_for_tests(tenant), tenant.key()
    before = clock.iso(service.clock.now_us())
    shown = advance(key, _WEEK_S)
    assert shown["ahead_s"] == _WEEK_S
    assert before <= shown["real_now"] < shown["now"]
    ticket, now = key.ticket(), clock.iso(service.clock.now_us() + _WEEK_S * 1_000_000)
    assert shown["now"] <= ticket["created_at"] <= now
    assert live.ticket()["created_at"] < shown["now"]
    assert key.get(CLOCK).json()["data"]["ahead_s"] == _WEEK_S


def test_signatures_follow_the_real_time(service: Service, tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    advance(key, _WEEK_S)
    ahead_s = service.clock.now_us() // 1_000_000 + _WEEK_S
    assert key.get(TICKETS).status_code == 200
    headers = key.signature_headers("GET", TICKETS, timestamp=ahead_s)
    assert key.get(TICKETS, **headers).json()["code"] == "timestamp_out_of_range"


def test_a_key_expires_by_the_real_time(service: Service, tenant: Tenant) -> None:
    soon = clock.iso(service.clock.now_us() + 3600 * 1_000_000)
    key = key_for_tests(tenant, expires_at=soon)
    advance(key, _WEEK_S)
    assert key.get(TICKETS).status_code == 200


def test_a_stored_response_is_found_after_the_clock_went_ahead(tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    new = {"subject": "S", "description": "D", "customer": {"email": "a@b.test"}}
    first = key.post(TICKETS, new, idempotency_key="one")
    advance(key, _WEEK_S)
    assert key.post(TICKETS, new, idempotency_key="one").json() == first.json()


def test_a_live_key_has_no_clock(tenant: Tenant) -> None:
    key_for_tests(tenant)
    live = tenant.key()
    for response in (live.get(CLOCK), live.call("PUT", CLOCK, {"advance_s": 1})):
        assert (response.status_code, response.json()["code"]) == (403, "test_key_required")


@for_each(
    ("change", "fault"),
    [
        ({}, "one_of_both"),
        ({"now": "2099-01-01T00:00:00Z", "advance_s": 1}, "one_of_both"),
        ({"now": "2000-01-01T00:00:00Z"}, "clock_goes_back"),
        ({"now": "2999-01-01T00:00:00Z"}, "too_late"),
    ],
)
def test_a_change_of_the_clock_is_refused(
    tenant: Tenant, change: dict[str, Any], fault: str
) -> None:
    key = key_for_tests(tenant)
    response = key.call("PUT", CLOCK, change)
    assert [each["code"] for each in response.json()["errors"]] == [fault]
    assert key.get(CLOCK).json()["data"]["ahead_s"] == 0


def test_a_clock_that_is_ahead_does_not_go_back(tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    advance(key, _WEEK_S)
    response = key.call("PUT", CLOCK, {"now": key.get(CLOCK).json()["data"]["real_now"]})
    assert response.json()["errors"][0]["code"] == "clock_goes_back"


def test_a_snoozed_ticket_wakes_when_its_tenants_clock_goes_ahead(
    service: Service, tenant: Tenant
) -> None:
    key, live = key_for_tests(tenant), tenant.key()
    until = clock.iso(service.clock.now_us() + (_WEEK_S - 60) * 1_000_000)
    mine, other = (f"{TICKETS}/{each.ticket()['id']}" for each in (key, live))
    for each, path in ((key, mine), (live, other)):
        assert each.patch(path, {"snoozed_until": until}).status_code == 200
    advance(key, _WEEK_S)
    wait_until(lambda: key.get(mine).json()["data"]["snoozed_until"] is None)
    assert live.get(other).json()["data"]["snoozed_until"] == until


def test_rules_act_by_the_clock_of_their_tenant(service: Service, tenant: Tenant) -> None:
    key = key_for_tests(tenant, permissions=[*_ALL, "rules:write"])
    for trigger, hours, priority in (("created", 0, "high"), ("unchanged", 24, "urgent")):
        actions = {"priority": priority}
        new = {"name": trigger, "trigger": trigger, "hours": hours, "actions": actions}
        assert key.post(RULES, {**new, "is_enabled": True}).status_code == 201
    advance(key, _WEEK_S)
    path = f"{TICKETS}/{key.ticket()['id']}"
    wait_until(lambda: key.get(path).json()["data"]["priority"] == "high")
    advance(key, _WEEK_S)
    service.write(_look_again)
    wait_until(lambda: key.get(path).json()["data"]["priority"] == "urgent")


async def _look_again(tx: Tx) -> None:
    """Let rules on time look at tickets now, not up to 30 seconds later."""
    await tx.execute("UPDATE automation_rules SET looked_at = 0", {})


def test_retries_of_a_webhook_become_due_when_the_clock_goes_ahead(tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    with receiving() as receiver:
        endpoint_id = _endpoint(key, receiver)
        receiver.answers(500, headers={"Retry-After": "300"})
        key.ticket()
        for attempt in range(1, 5):
            receiver.wait(attempt)
            wait_until(partial(_has_attempts, key, endpoint_id, attempt))
            advance(key, 3 * 3600)
        receiver.wait(5)


def test_retries_of_live_webhooks_keep_the_real_time(service: Service, tenant: Tenant) -> None:
    key, live = key_for_tests(tenant), tenant.key()
    advance(key, _WEEK_S)
    with receiving() as receiver:
        endpoint_id = _endpoint(live, receiver)
        receiver.answers(500, headers={"Retry-After": "300"})
        live.ticket()
        receiver.wait(1)
        wait_until(lambda: _delivery(live, endpoint_id)["attempt_count"] == 1)
        before = _delivery(live, endpoint_id)["next_attempt_at"]
        advance(key, _WEEK_S)
        assert _delivery(live, endpoint_id)["next_attempt_at"] == before
        assert before < clock.iso(service.clock.now_us() + _WEEK_S * 1_000_000 // 2)


def test_a_delivery_is_sent_again_when_its_clock_is_ahead(tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    advance(key, _WEEK_S)
    with receiving() as receiver:
        endpoint_id = _endpoint(key, receiver)
        key.ticket()
        receiver.wait(1)
        wait_until(lambda: _delivery(key, endpoint_id)["status"] == "succeeded")
        delivery = _delivery(key, endpoint_id)
        path = f"{WEBHOOKS}/{endpoint_id}/deliveries/{delivery['id']}/redeliver"
        assert key.post(path, None).is_success
        receiver.wait(2)


def test_webhooks_of_a_test_tenant_carry_the_real_time(service: Service, tenant: Tenant) -> None:
    key = key_for_tests(tenant)
    advance(key, _WEEK_S)
    with receiving() as receiver:
        _endpoint(key, receiver)
        key.ticket()
        (got,) = receiver.wait(1)
    assert abs(int(got.headers["webhook-timestamp"]) - service.clock.now_us() // 1_000_000) < 600


def test_old_events_are_deleted_by_the_clock_of_their_tenant(
    service: Service, tenant: Tenant
) -> None:
    key, live = key_for_tests(tenant), tenant.key()
    key.ticket()
    live.ticket()
    service.settle()
    advance(key, 31 * 24 * 3600)
    key.ticket(subject="New")
    service.settle()
    service.prune()
    shown = key.get("/api/v1/external/events?type=ticket.created").json()["data"]
    assert [each["data"]["object"]["subject"] for each in shown] == ["New"]
    assert len(live.get("/api/v1/external/events?type=ticket.created").json()["data"]) == 1


def test_one_pattern_knows_every_key_that_is_made() -> None:
    for prefix in (signing.LIVE_PREFIX, signing.TEST_PREFIX):
        assert signing.API_KEY.fullmatch((prefix + "0" * 40).encode())
    assert signing.API_KEY.fullmatch(b"tk_demo_" + b"0" * 40) is None


def test_pages_create_show_and_revoke_a_test_key(tenant: Tenant) -> None:
    visitor, admin = logged_in(tenant), tenant.admin()
    form = visitor.get(f"{_PAGES}/new").form(f"{_PAGES}/new")
    assert form.value("mode") == "live"
    created = visitor.submit(form, name="Trial", mode="test")
    assert created.status == 201
    assert re.search(r"tk_test_[0-9a-f]{40}", created.answer.text)
    (shown,) = admin.get(f"{KEYS}?mode=test").json()["data"]
    assert admin.get(KEYS).json()["data"] == []
    at = f"{_PAGES}/{shown['id']}"
    assert at in visitor.get(_PAGES).links
    assert "Test" in visitor.get(at).text.split()
    edit = visitor.get(f"{at}/edit").form(f"{at}/edit")
    assert "Other" in visitor.submit(edit, name="Other").text
    visitor.submit(visitor.get(f"{at}/revoke").form(f"{at}/revoke"))
    (shown,) = admin.get(f"{KEYS}?mode=test").json()["data"]
    assert (shown["name"], shown["is_active"]) == ("Other", False)


def test_pages_of_another_tenant_have_no_test_keys(service: Service, tenant: Tenant) -> None:
    key, stranger = key_for_tests(tenant), logged_in(service.tenant())
    assert stranger.get(f"{_PAGES}/{key.id}").status == 404
    assert key.id not in stranger.get(_PAGES).answer.text


def _endpoint(key: Key, receiver: Receiver) -> str:
    new = {"url": receiver.url, "events": ["ticket.created"]}
    return str(key.post(WEBHOOKS, new).json()["data"]["id"])


def _has_attempts(key: Key, endpoint_id: str, count: int) -> bool:
    return bool(_delivery(key, endpoint_id)["attempt_count"] == count)


def _delivery(key: Key, endpoint_id: str) -> dict[str, Any]:
    (delivery,) = key.get(f"{WEBHOOKS}/{endpoint_id}/deliveries").json()["data"]
    return dict(delivery)
