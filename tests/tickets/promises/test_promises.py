"""SLA policies: what a ticket is promised, and that each breach is told once."""

from typing import Any

import pytest

from sealdesk import clock
from sealdesk.tickets.hours.types import DAYS
from sealdesk.tickets.promises import store as promises_store
from tests.support.client import Key, Person
from tests.support.pages import logged_in, ticket_ids
from tests.support.service import Service, Tenant, wait_until

POLICIES = "/api/v1/sla-policies"
TICKETS = "/api/v1/external/tickets"
EVENTS = "/api/v1/external/events"
HOUR_US = 3600 * 1_000_000
RENEWALS = "SELECT tenant_id FROM sla_renewals LIMIT 100"
NONE_DUE = {"first_response": None, "next_response": None, "resolution": None}


@pytest.fixture
def desk(own_service: Service) -> Tenant:
    return own_service.tenant()


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    """A policy, once all tickets have it."""
    answer = admin.post(POLICIES, {"name": "Standard", "counts": "calendar", **fields})
    assert answer.status_code == 201, answer.text
    wait_until_renewed(admin.service)
    return dict(answer.json()["data"])


def wait_until_renewed(service: Service) -> None:
    wait_until(lambda: not service.rows(RENEWALS))


def opened(key: Key, **fields: Any) -> dict[str, Any]:
    new = {"subject": "Help", "description": "Please", "customer": {"email": "a@b.test"}, **fields}
    answer = key.post(TICKETS, new)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    return dict(key.get(f"{TICKETS}/{ticket['id']}").json()["data"])


def first_due(key: Key, ticket: dict[str, Any]) -> Any:
    return read(key, ticket)["due"]["first_response"]


def reply(key: Key, ticket: dict[str, Any], **fields: Any) -> None:
    path = f"{TICKETS}/{ticket['id']}/replies"
    assert key.post(path, {"body": "Hello", **fields}).status_code == 201


def hours_after(at: str, hours: float) -> str:
    return clock.iso((clock.parse_instant(at) or 0) + int(hours * HOUR_US))


def told(key: Key, *kinds: str) -> list[tuple[str, str, list[str]]]:
    """(type, ticket, targets) of the events of policies."""
    key.service.settle()
    wanted = kinds or ("ticket.sla_warning", "ticket.sla_breached")
    listed = key.get(f"{EVENTS}?type={','.join(wanted)}&per_page=100").json()["data"]
    return [
        (each["type"], each["data"]["object"]["id"], [*each["data"]["changes"]]) for each in listed
    ]


def test_a_new_ticket_says_by_when_it_is_answered_and_resolved(tenant: Tenant) -> None:
    admin, key = tenant.admin(), tenant.key()
    policy = made(admin, first_response_minutes=60, resolution_minutes=480)
    ticket = opened(key)
    at = ticket["created_at"]
    assert ticket["due"] == {
        "policy_id": policy["id"],
        "first_response": hours_after(at, 1),
        "next_response": None,
        "resolution": hours_after(at, 8),
    }
    assert read(key, ticket)["due"] == ticket["due"]
    reply(key, ticket)
    after = read(key, ticket)["due"]
    assert (after["first_response"], after["resolution"]) == (None, hours_after(at, 8))
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "resolved"})
    assert read(key, ticket)["due"] is None


def test_without_a_policy_nothing_is_due_and_nothing_is_read(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_promises(*_: Any) -> None:
        raise AssertionError("a desk without policies pays for none")

    monkeypatch.setattr(promises_store, "read", read_promises)
    key = tenant.key()
    ticket = opened(key)
    assert ticket["due"] is None
    reply(key, ticket)
    assert key.patch(f"{TICKETS}/{ticket['id']}", {"status": "resolved"}).is_success


def test_a_breach_is_told_once(own_service: Service, desk: Tenant) -> None:
    made(desk.admin(), first_response_minutes=60, resolution_minutes=480, warning_minutes=15)
    ticket = opened(desk.key())
    own_service.clock.advance(50 * 60)
    key = desk.key()
    wait_until(lambda: len(told(key)) == 1)
    own_service.clock.advance(4 * 3600)
    key = desk.key()
    wait_until(lambda: len(told(key)) > 1)
    reply(key, ticket)
    own_service.clock.advance(4 * 3600)
    key = desk.key()
    wait_until(lambda: len(told(key)) >= 4)
    assert told(key) == [
        ("ticket.sla_warning", ticket["id"], ["first_response"]),
        ("ticket.sla_breached", ticket["id"], ["first_response"]),
        ("ticket.sla_warning", ticket["id"], ["resolution"]),
        ("ticket.sla_breached", ticket["id"], ["resolution"]),
    ]
    assert read(key, ticket)["version"] == ticket["version"] + 1


def test_the_assignee_is_notified_of_a_warning_and_a_breach(
    own_service: Service, desk: Tenant
) -> None:
    made(desk.admin(), first_response_minutes=60, warning_minutes=15)
    user_id = desk.admin().get("/api/v1/auth/me").json()["data"]["id"]
    opened(desk.key(), assignee_id=user_id)
    own_service.clock.advance(50 * 60)
    visitor = logged_in(desk)
    wait_until(lambda: "Something is due soon" in visitor.get("/notifications").text)
    assert "Something is late" not in visitor.get("/notifications").text
    own_service.clock.advance(11 * 60)
    visitor = logged_in(desk)
    wait_until(lambda: "Something is late" in visitor.get("/notifications").text)


def test_lists_and_tickets_say_what_is_due_and_what_is_late(
    own_service: Service, desk: Tenant
) -> None:
    made(desk.admin(), first_response_minutes=180)
    ticket = opened(desk.key())
    at = f"/tickets/{ticket['id']}"
    visitor = logged_in(desk)
    for path in ("/tickets", at, "/team-now"):
        page = visitor.get(path)
        assert "First response due 2 h" in page.text
        assert ticket["due"]["first_response"] in page.answer.text
    own_service.clock.advance(5 * 3600)
    visitor = logged_in(desk)
    for path in ("/tickets", at, "/team-now"):
        assert "First response late 2 h" in visitor.get(path).text
    reply(desk.key(), ticket)
    for path in ("/tickets", at):
        assert "late 2 h" not in visitor.get(path).text


def test_tickets_are_listed_by_what_is_due_next_and_within_hours(
    own_service: Service, desk: Tenant
) -> None:
    plain = logged_in(desk).get("/tickets?status=all")
    assert "Due at any time" not in plain.text
    admin = desk.admin()
    made(admin, name="High", priorities=["high"], resolution_minutes=180)
    made(admin, name="Low", priorities=["low"], resolution_minutes=600)
    key = desk.key()
    low, _, high = (opened(key, priority=each) for each in ("low", "medium", "high"))
    by_due = [high["id"], low["id"]]
    listed = key.get(f"{TICKETS}?sort_by=due_at&sort=asc").json()["data"]
    assert [each["id"] for each in listed] == by_due
    own_service.clock.advance(2.5 * 3600)
    visitor = logged_in(desk)
    assert "Due next first" in visitor.get("/tickets").text
    cases = {"sort=due": by_due, "due=late": [], "due=1": by_due[:1], "due=24&sort=due": by_due}
    for query, wanted in cases.items():
        assert ticket_ids(visitor.get(f"/tickets?{query}")) == wanted, query
    own_service.clock.advance(3600)
    visitor = logged_in(desk)
    assert ticket_ids(visitor.get("/tickets?due=late")) == by_due[:1]


def test_the_first_policy_that_matches_is_used(tenant: Tenant) -> None:
    admin, key = tenant.admin(), tenant.key()
    standard = made(admin, first_response_minutes=600)
    vip = made(admin, name="VIP", tags=["VIP"], first_response_minutes=30)
    big = made(
        admin, name="Big", customers=["@big.test"], priorities=["high"], resolution_minutes=9
    )
    order = sorted(
        (admin.get(f"{POLICIES}/{each['id']}").json()["data"] for each in (standard, vip, big)),
        key=lambda each: each["position"],
    )
    assert [each["name"] for each in order] == ["VIP", "Big", "Standard"]
    customer = {"email": "Ann@BIG.test"}
    cases: list[tuple[dict[str, Any], Any]] = [
        ({"tags": ["vip", "other"], "customer": customer, "priority": "high"}, vip),
        ({"customer": customer, "priority": "high"}, big),
        ({"customer": customer}, standard),
    ]
    for fields, policy in cases:
        assert opened(key, **fields)["due"]["policy_id"] == policy["id"]
    ticket = opened(key)
    key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["vip"]})
    after = read(key, ticket)
    assert after["due"]["first_response"] == hours_after(ticket["created_at"], 0.5)


def test_changed_policies_reach_the_tickets_that_are_open_without_an_event(
    tenant: Tenant,
) -> None:
    admin, key = tenant.admin(), tenant.key()
    ticket = opened(key)
    policy = made(admin, first_response_minutes=60)
    assert read(key, ticket)["due"]["first_response"] == hours_after(ticket["created_at"], 1)
    path = f"{POLICIES}/{policy['id']}"
    assert admin.patch(path, {"first_response_minutes": 120}).status_code == 200
    wait_until_renewed(admin.service)
    assert read(key, ticket)["due"]["first_response"] == hours_after(ticket["created_at"], 2)
    assert admin.delete(path).status_code == 204
    wait_until_renewed(admin.service)
    assert read(key, ticket)["due"] is None
    assert told(key) == []


def test_a_ticket_of_a_merged_customer_gets_what_is_promised_to_the_other_one(
    tenant: Tenant,
) -> None:
    admin, key = tenant.admin(), tenant.key()
    made(admin, customers=["vip@bücher.example"], first_response_minutes=60)
    ann, vip = key.customer("ann@acme.test"), key.customer("vip@xn--bcher-kva.example")
    ticket, ended = (opened(key, customer={"email": "ann@acme.test"}) for _ in range(2))
    key.patch(f"{TICKETS}/{ended['id']}", {"status": "resolved"})
    service = tenant.service
    wait_until(lambda: not service.rows("SELECT tenant_id FROM sla_renewals LIMIT 1"))
    assert ticket["due"] is None
    at = f"/api/v1/external/customers/{ann['id']}/merge"
    assert key.post(at, {"into": vip["id"]}).status_code == 200
    assert read(key, ticket)["due"]["first_response"] == hours_after(ticket["created_at"], 1)
    assert read(key, ended)["due"] is None
    assert key.delete(at).status_code == 200
    assert read(key, ticket)["due"] is None


def test_changed_business_hours_reach_the_tickets_that_are_open(tenant: Tenant) -> None:
    visitor, key, path = logged_in(tenant), tenant.key(), "/settings/business-hours"
    always = dict.fromkeys(DAYS, "00:00-24:00") | {"time_zone": "UTC"}
    visitor.submit(visitor.get(path).form(path), **always)
    made(tenant.admin(), counts="business", first_response_minutes=60)
    ticket = opened(key)
    at = ticket["created_at"]
    assert ticket["due"]["first_response"] == hours_after(at, 1)
    today, tomorrow = at[:10], hours_after(at, 24)[:10]
    visitor.submit(visitor.get(path).form(path), holidays=f"{today}\n{tomorrow}")
    wait_until_renewed(tenant.service)
    after = read(key, ticket)
    assert after["due"]["first_response"] == f"{hours_after(at, 48)[:10]}T01:00:00.000000Z"
    assert after["version"] == ticket["version"] + 1
    assert told(key) == []


def test_tickets_count_by_the_hours_of_their_team_as_long_as_it_has_some(tenant: Tenant) -> None:
    visitor, admin, key = logged_in(tenant), tenant.admin(), tenant.key()
    path = "/settings/business-hours"
    always = dict.fromkeys(DAYS, "00:00-24:00") | {"time_zone": "UTC"}
    visitor.submit(visitor.get(path).form(path, "time_zone"), **always)
    team = admin.post("/api/v1/teams", {"name": "Night"}).json()["data"]["id"]
    made(admin, counts="business", first_response_minutes=60)
    ticket, other = opened(key, team_id=team), opened(key)
    at = ticket["created_at"]
    of_desk, of_team = hours_after(at, 1), f"{hours_after(at, 48)[:10]}T01:00:00.000000Z"
    own = visitor.get(f"{path}?team={team}").form(path, "time_zone")
    holidays = f"{at[:10]}\n{hours_after(at, 24)[:10]}"
    visitor.submit(own, **always | {"holidays": holidays})
    wait_until_renewed(tenant.service)
    assert first_due(key, ticket) == of_team
    assert first_due(key, other) == hours_after(other["created_at"], 1)
    for team_id, due in ((None, of_desk), (team, of_team)):
        key.patch(f"{TICKETS}/{ticket['id']}", {"team_id": team_id})
        assert first_due(key, ticket) == due
    assert first_due(key, opened(key, team_id=team)) == of_team
    assert admin.delete(f"/api/v1/teams/{team}").status_code == 204
    wait_until_renewed(tenant.service)
    assert first_due(key, ticket) == of_desk


def test_clocks_stand_still_while_a_ticket_is_pending(own_service: Service, desk: Tenant) -> None:
    made(desk.admin(), resolution_minutes=600, pauses_on=["pending"])
    ticket = opened(desk.key())
    path = f"{TICKETS}/{ticket['id']}"
    own_service.clock.advance(3600)
    desk.key().patch(path, {"status": "pending"})
    assert read(desk.key(), ticket)["due"] is None
    own_service.clock.advance(20 * 3600)
    key = desk.key()
    key.patch(path, {"status": "open"})
    due = clock.parse_instant(read(key, ticket)["due"]["resolution"]) or 0
    late = due - (clock.parse_instant(ticket["due"]["resolution"]) or 0)
    assert abs(late - 20 * HOUR_US) < 60 * 1_000_000
    assert told(key) == []


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({}, "/first_response_minutes", "required"),
        ({"first_response_minutes": 0}, "/first_response_minutes", None),
        ({"resolution_minutes": 10**15}, "/resolution_minutes", None),
        ({"first_response_minutes": 60, "counts": "business"}, "/counts", "no_business_hours"),
        ({"first_response_minutes": 60, "warning_minutes": 60}, "/warning_minutes", "too_early"),
        ({"first_response_minutes": 60, "customers": ["acme"]}, "/customers/0", "invalid_value"),
        ({"first_response_minutes": 60, "team_ids": ["0199b0c8"]}, "/team_ids/0", "unknown_team"),
        ({"first_response_minutes": 5, "tags": ["a"], "position": 9}, "/position", "overlapping"),
        ({"first_response_minutes": 60, "name": " STAN\u00addard "}, "/name", "taken"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(
    tenant: Tenant, fields: dict[str, Any], field: str, code: str | None
) -> None:
    admin = tenant.admin()
    made(admin, first_response_minutes=60, tags=["a", "b"])
    new = {"name": "New", "counts": "calendar", **fields}
    answer = admin.post(POLICIES, new)
    assert answer.status_code == 422, answer.text
    faults = {each["pointer"]: each["code"] for each in answer.json()["errors"]}
    assert field in faults and code in (None, faults[field])
    assert len(admin.get(POLICIES).json()["data"]) == 1


def test_a_policy_is_added_changed_and_deleted_on_pages(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    path = "/settings/sla-policies"
    new = f"{path}/new"
    page = visitor.submit(
        visitor.get(new).form(new), name="VIP", counts="calendar", tags="vip, Gold"
    )
    assert page.status == 422 and "Promise at least one" in page.text
    page = visitor.submit(page.form(new), counts="business", first_response_minutes="60")
    assert "no business hours yet" in page.text
    assert "Set business hours" in page.text and "/settings/business-hours" in page.links
    page = visitor.submit(page.form(new), counts="calendar", first_response_minutes="soon")
    assert page.status == 422 and page.form(new).value("first_response_minutes") == "soon"
    page = visitor.submit(page.form(new), first_response_minutes="90")
    assert page.status == 200 and "First response: 90 min" in page.text
    (listed,) = tenant.admin().get(POLICIES).json()["data"]
    assert (listed["tags"], listed["first_response_minutes"]) == (["vip", "Gold"], 90)
    at = f"{path}/{listed['id']}"
    form = visitor.get(at).form(at)
    assert "Resolution: 8 h" in visitor.submit(form, resolution_minutes="480").text
    page = visitor.submit(form, name="Of another page")
    assert page.status == 412 and page.form(at).value("name") == "Of another page"
    assert "Resolution: 8 h" in visitor.get(path).text
    admin = tenant.admin()
    team_id = admin.post("/api/v1/teams", {"name": "Gone"}).json()["data"]["id"]
    assert admin.patch(f"/api/v1/sla-policies/{listed['id']}", {"team_ids": [team_id]}).is_success
    admin.delete(f"/api/v1/teams/{team_id}")
    page = visitor.submit(visitor.get(at).form(at), name="Of a team that is gone")
    assert page.status == 422 and "There is no such team." in page.text
    assert ("team_ids", team_id) in page.form(at).fields
    deletion = f"{at}/delete"
    assert "No policies yet" in visitor.submit(visitor.get(deletion).form(deletion)).text
    assert "SLA policy deleted" in visitor.get("/settings/audit").text
