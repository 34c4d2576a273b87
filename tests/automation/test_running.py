"""Automation rules act on tickets: once, in order, and never on what rules did."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from sealdesk.automation.rules import MAX_EFFECTS_PER_HOUR
from sealdesk.automation.steps import running
from sealdesk.automation.types import Rule
from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from tests.support.client import Key, Person
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant, wait_until

RULES = "/api/v1/rules"
PAGE = "/settings/rules"
TICKETS = "/api/v1/external/tickets"
WAITING = "SELECT id FROM automation_tasks LIMIT 100"
HANDLED = """
SELECT position FROM log_positions WHERE name = 'automation'
    AND position = (SELECT position FROM log_positions WHERE name = 'sequencer') LIMIT 1
"""


def when(field: str, *values: str, operator: str = "is") -> dict[str, Any]:
    return {"field": field, "operator": operator, "values": [*values]}


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    """A rule that is switched on."""
    name = f"VIP first{' again' * len(admin.get(RULES).json()['data'])}"
    new = {"name": name, "trigger": "created", "is_enabled": True, **fields}
    answer = admin.post(RULES, new)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def opened(key: Key, *tags: str) -> dict[str, Any]:
    new = {"subject": "Help", "description": "Please", "customer": {"email": "a@b.test"}}
    return dict(key.post(TICKETS, {**new, "tags": [*tags]}).json()["data"])


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    return dict(key.get(f"{TICKETS}/{ticket['id']}").json()["data"])


def wait_until_run(service: Service) -> None:
    """Until the rules have had every event, also those that wait for their position."""
    service.settle()
    wait_until(lambda: bool(service.rows(HANDLED)) and not service.rows(WAITING))


def effects(service: Service, ticket: dict[str, Any]) -> int:
    of = f"WHERE ticket_id = '{ticket['id']}'"
    return len(service.rows(f"SELECT rule_id FROM automation_effects {of} LIMIT 100"))


def test_a_ticket_on_which_rules_fail_holds_up_no_other(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    made(tenant.admin(), conditions=[], actions={"priority": "high"})
    key, run = tenant.key(), running.run
    failing: list[str] = []

    async def fail_for_first(tx: Tx, rule: Rule, stored: TicketAndCustomer, *rest: Any) -> bool:
        failing[:] = failing or [stored.ticket.id]
        if stored.ticket.id in failing:
            raise RuntimeError("rules fail on this ticket")
        return await run(tx, rule, stored, *rest)

    monkeypatch.setattr(running, "run", fail_for_first)
    first, second = opened(key), opened(key)
    wait_until(lambda: read(key, second)["priority"] == "high")
    assert read(key, first)["priority"] == "medium"
    monkeypatch.undo()
    own_service.clock.advance(60)
    wait_until(lambda: read(key, first)["priority"] == "high")


def test_a_rule_on_time_goes_on_where_it_does_not_fail_and_its_page_says_where_it_does(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    key, run = tenant.key(), running.run
    first, second = opened(key), opened(key)
    later = {"actions": {"priority": "high"}, "trigger": "unchanged", "hours": 1}

    async def fail_for_first(tx: Tx, rule: Rule, stored: TicketAndCustomer, *rest: Any) -> bool:
        if stored.ticket.id == first["id"]:
            raise RuntimeError("rules fail on this ticket")
        return await run(tx, rule, stored, *rest)

    monkeypatch.setattr(running, "run", fail_for_first)
    made(tenant.admin(), **later)
    own_service.clock.advance(3700)
    wait_until(lambda: read(key, second)["priority"] == "high")
    visitor = logged_in(tenant)
    wait_until(lambda: "It fails on these tickets" in visitor.get(PAGE).text)
    own_service.clock.advance(25 * 3600)
    wait_until(lambda: not own_service.rows(WAITING))
    visitor = logged_in(tenant)
    assert "It failed again and again" in visitor.get(f"/tickets/{first['id']}").text
    german = visitor.get(f"/tickets/{first['id']}", accept_language="de").text
    assert "einen Tag lang immer wieder gescheitert" in german
    assert "It fails on these tickets" not in visitor.get(PAGE).text


def test_a_rule_sets_the_priority_of_new_tickets_and_says_why(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    made(admin, conditions=[when("tag", "vip")], actions={"priority": "high"})
    key = tenant.key()
    ticket, other = opened(key, "VIP"), opened(key, "other")
    wait_until(lambda: read(key, ticket)["priority"] == "high")
    wait_until_run(service)
    assert read(key, other)["priority"] == "medium"
    page = " ".join(logged_in(tenant).get(f"/tickets/{ticket['id']}").text.split())
    assert "Rule VIP first" in page
    assert "because Tag is vip" in page


def test_rules_run_in_their_order_each_on_what_the_one_before_left(
    admin: Person, tenant: Tenant
) -> None:
    second = {"actions": {"add_tags": ["second"], "note": "Look *here*"}, "position": 2}
    made(admin, conditions=[when("tag", "first")], **second)
    made(admin, actions={"add_tags": ["first"]}, position=1)
    key = tenant.key()
    ticket = opened(key)
    wait_until(lambda: read(key, ticket)["tags"] == ["first", "second"])
    notes = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    assert [(each["body"], each["is_internal"]) for each in notes] == [("Look *here*", True)]


def test_a_rule_that_closes_a_ticket_writes_its_note_as_well(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    made(admin, conditions=[when("tag", "spam")], actions={"status": "closed", "note": "By a rule"})
    key = tenant.key()
    ticket = opened(key, "spam")
    wait_until(lambda: read(key, ticket)["status"] == "closed")
    replies = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    assert [(each["body"], each["is_internal"]) for each in replies] == [("By a rule", True)]
    assert effects(service, ticket) == 1


def test_rules_do_not_react_to_each_other(admin: Person, tenant: Tenant, service: Service) -> None:
    swaps = [("a", "b"), ("b", "a")]
    for old, new in swaps:
        made(
            admin,
            trigger="changed",
            conditions=[when("tag", old)],
            actions={"add_tags": [new], "remove_tags": [old]},
        )
    key = tenant.key()
    ticket = opened(key)
    key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["a"]})
    wait_until(lambda: effects(service, ticket) == len(swaps))
    wait_until_run(service)
    assert effects(service, ticket) == len(swaps)
    assert read(key, ticket)["tags"] == ["a"]


def test_a_rule_that_another_system_undoes_is_paused_and_says_so(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    rule = made(
        admin,
        trigger="changed",
        conditions=[when("priority", "low")],
        actions={"priority": "high"},
    )
    key = tenant.key()
    ticket = opened(key)
    for count in range(1, MAX_EFFECTS_PER_HOUR + 2):
        key.patch(f"{TICKETS}/{ticket['id']}", {"priority": "low"})
        wait_until(lambda: effects(service, ticket) == min(count, MAX_EFFECTS_PER_HOUR))  # noqa: B023
    path = f"{RULES}/{rule['id']}"
    wait_until(lambda: admin.get(path).json()["data"]["paused_because"] == "too_many_effects")
    assert read(key, ticket)["priority"] == "low"
    assert (
        "The rule is paused and has done nothing."
        in logged_in(tenant).get(f"/tickets/{ticket['id']}").text
    )
    assert admin.patch(path, {"is_enabled": True}).json()["data"]["paused_because"] is None


def test_a_rule_on_time_acts_once_until_somebody_changes_the_ticket(
    own_service: Service,
) -> None:
    service, tenant = own_service, own_service.tenant("Late")
    admin = tenant.admin()
    key = tenant.key()
    ticket, other = opened(key), opened(key)
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "pending"})
    note = {"actions": {"note": "Nobody has answered."}}
    made(admin, trigger="unchanged", hours=48, conditions=[when("status", "pending")], **note)
    service.clock.advance(47 * 3600)
    service.clock.advance(3700)
    wait_until(lambda: effects(service, ticket) == 1)
    service.clock.advance(49 * 3600)
    key.patch(f"{TICKETS}/{other['id']}", {"status": "pending"})
    service.clock.advance(49 * 3600)
    wait_until(lambda: effects(service, other) == 1)
    assert effects(service, ticket) == 1
    key.patch(f"{TICKETS}/{ticket['id']}", {"priority": "low"})
    service.clock.advance(49 * 3600)
    wait_until(lambda: effects(service, ticket) == 2)


def test_a_rule_whose_team_is_deleted_is_paused(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    team = admin.post("/api/v1/teams", {"name": "Gone"}).json()["data"]["id"]
    rule = made(admin, actions={"team_id": team})
    admin.call("DELETE", f"/api/v1/teams/{team}")
    key, path = tenant.key(), f"{RULES}/{rule['id']}"
    ticket = opened(key)
    wait_until(lambda: admin.get(path).json()["data"]["paused_because"] == "team_missing")
    assert read(key, ticket)["team_id"] is None
    assert "The team of this rule is deleted" in logged_in(tenant).get("/settings/rules").text
    refused = admin.patch(path, {"is_enabled": True})
    assert refused.json()["errors"][0]["pointer"] == "/actions/team_id"


def test_what_happened_before_a_rule_was_switched_on_is_left_alone(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    made(admin, conditions=[when("tag", "new")], actions={"priority": "low"})
    key = tenant.key()
    before = opened(key, "old")
    wait_until_run(service)
    made(admin, conditions=[when("tag", "old")], actions={"priority": "urgent"})
    after = opened(key, "old")
    wait_until(lambda: read(key, after)["priority"] == "urgent")
    assert read(key, before)["priority"] == "medium"


def test_a_dry_run_shows_what_a_rule_would_have_done_and_changes_nothing(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    key = tenant.key()
    ticket, _ = opened(key, "vip"), opened(key, "other")
    wait_until_run(service)
    rule = made(
        admin,
        conditions=[when("tag", "vip")],
        actions={"priority": "high", "add_tags": ["seen", "VIP"]},
        is_enabled=False,
    )
    page = logged_in(tenant).get(f"/settings/rules/{rule['id']}/dry-run")
    assert f"#{ticket['number']} Help" in page.text
    assert page.text.count("because Tag is vip") == 1
    assert "Priority : Medium → High" in page.text.replace("Priority: ", "Priority : ")
    assert "Continue" not in page.text
    tried = admin.get(f"{RULES}/{rule['id']}/dry-run").json()["data"]
    assert tried["next_after"] is None
    (found,) = tried["tickets"]
    assert (found["number"], found["because"]) == (ticket["number"], [when("tag", "vip")])
    assert found["changes"]["priority"] == ["medium", "high"]
    assert read(key, ticket) == ticket


def test_a_dry_run_of_a_rule_on_time_shows_the_tickets_that_wait_now(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    waiting, other = opened(key, "vip"), opened(key, "other")
    own_service.clock.advance(3600)
    late, admin = opened(key, "vip"), tenant.admin()
    rule = made(
        admin,
        trigger="unchanged",
        hours=1,
        conditions=[when("tag", "vip")],
        actions={"priority": "high"},
        is_enabled=False,
    )
    tried = admin.get(f"{RULES}/{rule['id']}/dry-run").json()["data"]
    assert [each["number"] for each in tried["tickets"]] == [waiting["number"]]
    assert tried["next_after"] is None
    assert [read(key, each)["priority"] for each in (waiting, other, late)] == ["medium"] * 3


def test_a_rule_acts_on_a_bad_rating_and_its_dry_run_shows_it(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    conditions = [when("rating", "1", "2"), when("rating_comment", "slow", operator="contains")]
    unhappy = {"trigger": "rated", "conditions": conditions, "actions": {"priority": "urgent"}}
    made(admin, **unhappy)
    key = tenant.key()
    good, bad = opened(key), opened(key)
    for ticket, mark in ((good, "5"), (bad, "1")):
        answer = key.post(f"{TICKETS}/{ticket['id']}/rating-link", None)
        customer, path = Visitor(service), urlsplit(answer.json()["data"]["url"]).path
        customer.submit(customer.get(path).form(path), rating=mark, comment="Too slow")
    wait_until(lambda: read(key, bad)["priority"] == "urgent")
    wait_until_run(service)
    assert read(key, good)["priority"] == "medium"
    assert effects(service, bad) == 1
    rule = made(admin, **unhappy, is_enabled=False)
    page = logged_in(tenant).get(f"{PAGE}/{rule['id']}/dry-run").text
    assert f"#{bad['number']} Help" in page and f"#{good['number']} Help" not in page
    assert "When a customer rates a ticket" in logged_in(tenant).get(PAGE).text


def test_a_ready_made_rule_is_switched_on(own_service: Service) -> None:
    tenant = own_service.tenant("Tidy")
    key, visitor = tenant.key(), logged_in(tenant)
    ticket = opened(key)
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "resolved"})
    forms = visitor.get("/settings/rules").forms
    (form,) = [each for each in forms if ("name", "Close what is resolved") in each.fields]
    visitor.submit(form)
    assert visitor.submit(form).status == 200
    assert len(tenant.admin().get(RULES).json()["data"]) == 1
    own_service.clock.advance(97 * 3600)
    wait_until(lambda: read(key, ticket)["status"] == "closed")
