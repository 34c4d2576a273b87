"""What automation rules do besides the simple fields: people, macros, replies, events."""

from typing import Any

from sealdesk.tickets.hours.types import DAYS
from tests.automation.test_running import (
    RULES,
    TICKETS,
    made,
    opened,
    read,
    wait_until_run,
    when,
)
from tests.support.client import Key, Person
from tests.support.pages import logged_in
from tests.support.service import Service, Tenant, wait_until

HOURS_PAGE = "/settings/business-hours"


def replies_of(key: Key, ticket: dict[str, Any]) -> list[tuple[str, bool]]:
    listed = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    return [(each["body"], each["is_internal"]) for each in listed]


def page_of(tenant: Tenant, ticket: dict[str, Any]) -> str:
    return " ".join(logged_in(tenant).get(f"/tickets/{ticket['id']}").text.split())


def test_a_rule_escalates_to_a_person_with_a_macro_a_field_and_an_event(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    bo = tenant.user(name="Bo")
    admin.post("/api/v1/custom-fields", {"key": "plan", "label": "Plan", "type": "text"})
    macro = {"name": "Hello", "shortcut": "hi", "body": "Hello {{customer.email}}", "tags": ["m"]}
    macro_id = admin.post("/api/v1/macros", macro).json()["data"]["id"]
    team_id = admin.post("/api/v1/teams", {"name": "On call"}).json()["data"]["id"]
    made(
        admin,
        conditions=[when("message", "please", operator="contains")],
        actions={
            "raise_priority": True,
            "assignee_id": bo,
            "custom_fields": {"plan": "gold"},
            "macro_id": macro_id,
            "notify": [team_id, bo],
            "send_event": True,
        },
    )
    key = tenant.key()
    ticket = opened(key)
    wait_until(lambda: read(key, ticket)["priority"] == "high")
    wait_until_run(service)
    after = read(key, ticket)
    assert (after["assignee_id"], after["custom_fields"]) == (bo, {"plan": "gold"})
    assert after["tags"] == ["m"]
    assert replies_of(key, ticket) == [("Hello a@b.test", False)]
    service.settle()
    events = key.get("/api/v1/external/events?type=ticket.rule_matched").json()["data"]
    assert [each["data"]["changes"] for each in events] == [{"rule": [None, "VIP first"]}]
    page = page_of(tenant, ticket)
    assert "Notified: On call" in page
    assert "Plan : none → gold" in page.replace("Plan: ", "Plan : ")
    kinds = service.rows(f"SELECT kind FROM notifications WHERE user_id = '{bo}' LIMIT 9")
    assert ("rule",) in [tuple(each) for each in kinds]


def test_a_rule_answers_customers_and_not_the_reply_of_a_rule(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    by_customer = [when("last_reply_by", "customer")]
    rule = made(admin, trigger="replied", conditions=by_customer, actions={"reply": "Thank you"})
    made(admin, trigger="replied", actions={"add_tags": ["replied"]})
    key = tenant.key()
    first, second = opened(key), opened(key)
    key.post(f"{TICKETS}/{first['id']}/replies", {"body": "We look into it"})
    broken = {"body": "It is broken", "author": {"type": "customer"}}
    key.post(f"{TICKETS}/{second['id']}/replies", broken)
    wait_until(lambda: read(key, first)["tags"] == read(key, second)["tags"] == ["replied"])
    wait_until_run(service)
    assert sorted(replies_of(key, second)) == [("It is broken", False), ("Thank you", False)]
    assert replies_of(key, first) == [("We look into it", False)]
    # The last reply is that of the rule by now.
    tried = admin.get(f"{RULES}/{rule['id']}/dry-run").json()["data"]["tickets"]
    assert [(each["number"], each["because"]) for each in tried] == [
        (second["number"], by_customer)
    ]


def test_what_is_gone_pauses_a_rule_which_says_so_on_the_ticket(
    admin: Person, tenant: Tenant
) -> None:
    macro = {"name": "Hello", "shortcut": "hi", "body": "Hello"}
    macro_id = admin.post("/api/v1/macros", macro).json()["data"]["id"]
    rule = made(admin, actions={"macro_id": macro_id, "priority": "low"})
    admin.call("DELETE", f"/api/v1/macros/{macro_id}")
    key = tenant.key()
    ticket = opened(key)
    path = f"{RULES}/{rule['id']}"
    wait_until(lambda: admin.get(path).json()["data"]["paused_because"] == "macro_missing")
    assert read(key, ticket)["priority"] == "medium"
    assert "The macro of this rule is deleted" in page_of(tenant, ticket)


def test_what_a_ticket_refuses_stands_in_its_history(admin: Person, tenant: Tenant) -> None:
    field = {"key": "plan", "label": "Plan", "type": "text", "required_on_resolve": True}
    admin.post("/api/v1/custom-fields", field)
    made(admin, actions={"status": "resolved"})
    key = tenant.key()
    ticket = opened(key)
    wait_until(lambda: "“Plan” is needed before" in page_of(tenant, ticket))
    assert read(key, ticket)["status"] == "open"


def test_a_rule_holds_outside_the_hours_of_the_team_or_else_of_the_desk(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    visitor = logged_in(tenant)
    form = visitor.get(HOURS_PAGE).form(HOURS_PAGE)
    visitor.submit(form, **dict.fromkeys(DAYS, ""))
    team_id = admin.post("/api/v1/teams", {"name": "Always"}).json()["data"]["id"]
    form = visitor.get(f"{HOURS_PAGE}?team={team_id}").form(HOURS_PAGE, "time_zone")
    visitor.submit(form, **dict.fromkeys(DAYS, "00:00-24:00"))
    closed = [when("business_hours", "no")]
    night = made(admin, conditions=closed, actions={"add_tags": ["night"], "priority": "low"})
    made(admin, conditions=[when("business_hours", "yes")], actions={"add_tags": ["day"]})
    key = tenant.key()
    ticket = opened(key)
    wait_until(lambda: read(key, ticket)["tags"] == ["night"])
    new = {"subject": "Help", "description": "Please", "customer": {"email": "a@b.test"}}
    of_team = key.post(TICKETS, {**new, "team_id": team_id}).json()["data"]
    wait_until(lambda: read(key, of_team)["tags"] == ["day"])
    wait_until_run(service)
    tried = admin.get(f"{RULES}/{night['id']}/dry-run").json()["data"]["tickets"]
    assert [each["number"] for each in tried] == [ticket["number"]]


def test_a_dry_run_tells_of_replies_and_fields_and_sends_nothing(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    admin.post("/api/v1/custom-fields", {"key": "plan", "label": "Plan", "type": "text"})
    key = tenant.key()
    ticket = opened(key, "vip")
    wait_until_run(service)
    actions = {"reply": "Hi", "raise_priority": True, "custom_fields": {"plan": "gold"}}
    rule = made(admin, is_enabled=False, actions={**actions, "send_event": True})
    page = logged_in(tenant).get(f"/settings/rules/{rule['id']}/dry-run").text
    assert all(
        each in page for each in ("reply to the customer", "High", "gold", "an event to webhooks")
    )
    assert read(key, ticket) == ticket
    assert replies_of(key, ticket) == []


def test_a_rule_is_tried_before_it_is_switched_on(admin: Person, tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    form = visitor.get("/settings/rules/new").form("/settings/rules/new")
    page = visitor.submit(
        form, name="Tried", raise_priority="yes", is_enabled="yes", then="dry-run"
    )
    assert "What the rule would have done" in page.text
    (rule,) = admin.get(RULES).json()["data"]
    assert not rule["is_enabled"]
    visitor.submit(page.form(f"/settings/rules/{rule['id']}/switch"))
    assert admin.get(RULES).json()["data"][0]["is_enabled"]


def test_the_page_of_a_rule_keeps_all_that_it_does(admin: Person, tenant: Tenant) -> None:
    admin.post("/api/v1/custom-fields", {"key": "plan", "label": "Plan", "type": "text"})
    bo = tenant.user(name="Bo")
    visitor = logged_in(tenant)
    form = visitor.get("/settings/rules/new").form("/settings/rules/new")
    page = visitor.submit(
        form,
        name="All",
        trigger="created",
        raise_priority="yes",
        assignee_id=bo,
        set_key="plan",
        set_value="gold",
        notify="bo",
        reply="Hi {{customer.name}}",
        send_event="yes",
    )
    assert "raise the priority by one" in page.text
    (rule,) = admin.get(RULES).json()["data"]
    done = {name: value for name, value in rule["actions"].items() if value}
    assert done == {
        "raise_priority": True,
        "assignee_id": bo,
        "custom_fields": {"plan": "gold"},
        "notify": [bo],
        "reply": "Hi {{customer.name}}",
        "send_event": True,
    }
    path = f"/settings/rules/{rule['id']}"
    visitor.submit(visitor.get(path).form(path))
    (again,) = admin.get(RULES).json()["data"]
    assert (again["actions"], again["version"]) == (rule["actions"], 1)
