"""Automation rules by API and on their page: what is stored, and what is refused."""

import re
from typing import Any

import msgspec
import pytest

from sealdesk import clock
from sealdesk.automation import matching, possible
from sealdesk.automation.types import Condition, Rule, RuleActions
from sealdesk.caller import Actor
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store.history import TicketHistoryEntry
from tests.automation.test_running import RULES, made, when
from tests.support.client import Person
from tests.support.for_each import for_each
from tests.support.pages import logged_in
from tests.support.service import Tenant

PAGE = "/settings/rules"
KEY_RULES = "/api/v1/external/rules"
HIGH = {"priority": "high"}


def refused(admin: Person, **fields: Any) -> list[tuple[str, str]]:
    new = {"name": "A rule", "trigger": "created", "actions": HIGH, **fields}
    answer = admin.post(RULES, new)
    assert answer.status_code == 422, answer.text
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def test_rules_are_stored_as_they_were_sent_with_their_versions(tenant: Tenant) -> None:
    admin = tenant.admin()
    conditions = [when("tag", "vip", "gold"), when("subject", "refund", operator="contains")]
    rule = made(admin, conditions=conditions, actions={"priority": "high", "add_tags": ["x"]})
    path = f"{RULES}/{rule['id']}"
    assert (rule["conditions"], rule["position"], rule["version"]) == (conditions, 1, 1)
    assert admin.get(path).json()["data"] == rule
    changed = admin.patch(path, {"is_enabled": False}).json()["data"]
    assert (changed["version"], changed["is_enabled"]) == (2, False)
    assert made(admin, actions=HIGH)["position"] == 2
    assert admin.delete(path).status_code == 204
    assert admin.get(path).status_code == 404
    audit = logged_in(tenant).get("/settings/audit").text
    assert all(each in audit for each in ("Rule added", "Rule changed", "Rule deleted"))


def test_a_key_sends_a_rule_again_and_there_is_one(tenant: Tenant) -> None:
    key = tenant.key(permissions=["rules:write"])
    new = {"name": "VIP first", "trigger": "created", "actions": HIGH}
    first, again = (key.post(KEY_RULES, new, **{"idempotency-key": "vip"}) for _ in "12")
    path = f"{KEY_RULES}/{first.json()['data']['id']}"
    assert (first.status_code, first.headers["location"]) == (201, path)
    assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true")
    refusal = key.get(f"{path}/dry-run")
    assert (refusal.status_code, refusal.json()["required"]) == (403, ["rules:read"])


@for_each(
    ("conditions", "faults"),
    [
        ([when("colour", "red")], ["unknown_field"]),
        ([when("status", "red")], ["unknown_value"]),
        ([when("status", "Open")], []),
        ([when("status", "closed")], ["never_holds"]),
        ([when("status", "open"), when("status", "pending")], ["never_holds"] * 2),
        ([when("priority", "low", "medium", "high", "urgent", operator="is_not")], ["never_holds"]),
        ([when("priority", "igh", operator="contains")], []),
        ([when("priority", "zzz", operator="contains")], ["never_holds"]),
        ([when("tag", "vip"), when("tag", "VIP", operator="is_not")], ["never_holds"]),
        ([when("tag", "vip"), when("tag", "gold")], []),
        ([when("tag", ""), when("tag", "gold")], ["never_holds"]),
        ([when("tag", "", operator="is_not"), when("tag", "gold")], []),
        (
            [when("subject", "x", operator="lacks"), when("subject", "axe", operator="contains")],
            ["never_holds"],
        ),
        ([when("subject", "x"), when("subject", "y", operator="contains")], ["never_holds"]),
        ([when("subject", "", operator="lacks")], ["never_holds"]),
        ([when("subject", "")], ["never_holds"]),
        ([when("description", "")], []),
        ([when("customer_email", "a+b@x.test", "c@x.test")], []),
        ([when("customer_email", "@x.test")], ["invalid_value"]),
        ([when("customer_email", "@x.test", operator="contains")], []),
        ([when("rating", "1")], ["never_holds"]),
        ([when("rating", "6")], ["unknown_value"]),
        ([when("rating_comment", "x", operator="contains")], ["never_holds"]),
        ([when("rating_comment", "")], []),
        ([when("last_reply_by", "customer")], ["never_holds"]),
        ([when("last_reply_by", "")], []),
        ([when("last_reply_by", "rule")], ["unknown_value"]),
        ([when("customer_name", ""), when("external_id", "")], []),
        ([when("business_hours", "maybe")], ["unknown_value"]),
        ([when("business_hours", "yes", "no", operator="is_not")], ["never_holds"]),
        ([when("custom_fields.size", "XL")], ["unknown_value"]),
        ([when("custom_fields.size", "s"), when("custom_fields.size", "M")], ["never_holds"] * 2),
        ([when("custom_fields.other", "s"), when("custom_fields.other", "M")], []),
        ([when("custom_fields.due", "3"), when("custom_fields.due", "4")], ["never_holds"] * 2),
        ([when("custom_fields.due", "3"), when("custom_fields.due", "3.0", "4")], []),
        (
            [when("custom_fields.due", "3"), when("custom_fields.due", "4", operator="contains")],
            ["never_holds"] * 2,
        ),
        (
            [when("message", "x", operator="contains"), when("description", "axe", "y")],
            [],
        ),
        ([when("message", "x"), when("description", "y")], ["never_holds"] * 2),
        ([when("tag", "v" * 65)], ["never_holds"]),
        ([when("tag", "v" * 65, "v" * 64)], []),
        ([when("tag", "v" * 65, operator="is_not")], []),
    ],
)
def test_conditions_that_can_never_hold_are_refused(
    conditions: list[dict[str, Any]], faults: list[str]
) -> None:
    given = msgspec.convert(conditions, list[Condition])
    choices = {"custom_fields.size": ["", "S", "M"]}
    found = possible.find_faults(given, "created", choices, ["custom_fields.due"])
    assert {each.code for each in found} == {*faults} and len(found) >= len(faults)


def test_a_history_names_whom_the_conditions_of_its_rules_are_about() -> None:
    causes = [["team_id", "is", "a"], ["team_id", "is", ""], ["tag", "is", "vip"]]
    changes = {"team_id": (None, "b"), "rule": (None, causes)}
    entry = TicketHistoryEntry("1", Actor("system", "", "VIP first"), changes, "")
    assert history.named_ids([entry], "team_id") == {"a", "b"}


def test_who_rates_a_ticket_has_rated_it_and_who_replies_has_replied() -> None:
    assert possible.find_faults([Condition("rating", "is", [""])], "rated", {})
    assert not possible.find_faults([Condition("rating", "is", ["5"])], "rated", {})
    unrated, said = Condition("rating", "is", [""]), Condition("rating_comment", "is_not", [""])
    assert possible.find_faults([unrated, said], "unchanged", {})
    assert not possible.find_faults([said], "unchanged", {})
    nobody = Condition("last_reply_by", "is", [""])
    assert possible.find_faults([nobody], "replied", {})
    assert not possible.find_faults([nobody], "unchanged", {})


def test_who_or_what_a_condition_names_must_be_there(tenant: Tenant) -> None:
    admin = tenant.admin()
    user = tenant.user()
    for key, kind in (("gift", "checkbox"), ("size", "number"), ("due", "date")):
        field = {"key": key, "label": key.title(), "type": kind}
        assert admin.post("/api/v1/custom-fields", field).status_code == 201
    wrong = [
        *(when("team_id", "Returns"), when("assignee_id", "Ada"), when("custom_fields.gift", "x")),
        *(when("business_hours", "yes"), when("custom_fields.size", "3", "tall")),
        when("custom_fields.due", "2026-02-30", operator="is_not"),
        when("custom_fields.due", "2026-", "March", operator="contains"),
    ]
    assert {*refused(admin, conditions=wrong)} == {
        ("/conditions/0", "unknown_team"),
        ("/conditions/1", "unknown_user"),
        ("/conditions/2", "unknown_value"),
        ("/conditions/3", "no_business_hours"),
        ("/conditions/4", "invalid_value"),
        ("/conditions/5", "invalid_value"),
        ("/conditions/6", "invalid_value"),
    }
    right = [
        *(when("assignee_id", user), when("custom_fields.gift", "true"), when("team_id", "")),
        *(when("custom_fields.size", "2.5", ""), when("custom_fields.due", "2026-02-28")),
    ]
    made(admin, conditions=right, actions=HIGH)


def test_a_rule_names_people_and_teams_wherever_it_is_shown(tenant: Tenant) -> None:
    """Also in its form, which takes it back as it was; the id of whoever has a namesake."""
    admin, visitor = tenant.admin(), logged_in(tenant)
    team = admin.post("/api/v1/teams", {"name": "Returns"}).json()["data"]["id"]
    kim, alex, _ = (tenant.user(name=name) for name in ("Kim Lee", "Alex Poe", "Alex Poe"))
    conditions = [
        when("team_id", team, operator="is_not"),
        when("assignee_id", kim, alex),
    ]
    rule = made(admin, conditions=conditions, actions=HIGH)
    assert "Team is not Returns and Assigned to is Kim Lee" in visitor.get(PAGE).text
    path = f"{PAGE}/{rule['id']}"
    visitor.submit(visitor.get(path).form(path), name="Renamed")
    (rule,) = admin.get(RULES).json()["data"]
    assert (rule["name"], rule["conditions"]) == ("Renamed", conditions)
    admin.delete(f"/api/v1/teams/{team}")
    page = visitor.get(PAGE).text
    assert "Team is not (deleted)" in page and "The team of this rule is deleted." in page


def test_the_list_says_what_a_rule_names_that_is_gone(tenant: Tenant) -> None:
    """Before the rule would run and be paused."""
    admin, user = tenant.admin(), tenant.user()
    macro = {"name": "Hello", "shortcut": "hi", "body": "Hello"}
    field = {"key": "plan", "label": "Plan", "type": "text"}
    macro_id, field_id = (
        admin.post(f"/api/v1/{path}", new).json()["data"]["id"]
        for path, new in (("macros", macro), ("custom-fields", field))
    )
    for actions in ({"macro_id": macro_id}, {"custom_fields": {"plan": "x"}}, {"notify": [user]}):
        made(admin, actions=actions)
    visitor = logged_in(tenant)
    said = ("macro of this rule is deleted", "Somebody whom this rule names", "A custom field that")
    assert not any(each in visitor.get(PAGE).text for each in said)
    admin.delete(f"/api/v1/macros/{macro_id}")
    admin.patch(f"/api/v1/custom-fields/{field_id}", {"is_active": False})
    tenant.deactivate(user)
    assert all(each in visitor.get(PAGE).text for each in said)


def test_a_name_is_taken_however_it_is_spelled_and_may_be_spelled_otherwise(
    tenant: Tenant,
) -> None:
    admin = tenant.admin()
    first, second = made(admin, name="Café", actions=HIGH), made(admin, actions=HIGH)
    assert refused(admin, name=" CAFE\u0301 ") == [("/name", "taken")]
    assert admin.patch(f"{RULES}/{second['id']}", {"name": "café"}).status_code == 422
    assert admin.patch(f"{RULES}/{first['id']}", {"name": "CAFÉ"}).is_success


def test_a_rule_that_does_nothing_or_lacks_its_hours_is_refused(tenant: Tenant) -> None:
    admin = tenant.admin()
    nothing = {"add_tags": [], "notify": [], "custom_fields": {}, "send_event": False}
    for actions in ({}, nothing):
        assert refused(admin, actions=actions) == [("/actions", "empty")]
    assert refused(admin, trigger="unchanged") == [("/hours", "required")]
    assert refused(admin, hours=3) == [("/hours", "not_needed")]
    gone = "0199b0c8-1f20-7a41-8b62-7c8d9e0f1a2b"
    unknown = {"team_id": gone, "assignee_id": gone, "macro_id": gone, "notify": [gone]}
    assert refused(admin, actions={**unknown, "custom_fields": {"plan": "x"}}) == [
        ("/actions/team_id", "unknown_team"),
        ("/actions/assignee_id", "unknown_user"),
        ("/actions/macro_id", "unknown_macro"),
        ("/actions/notify/0", "unknown_user"),
        ("/actions/custom_fields/plan", "unknown_field"),
    ]
    nobody = {"team_id": "", "assignee_id": "", "macro_id": ""}
    assert [pointer for pointer, _ in refused(admin, actions=nobody)] == [
        f"/actions/{name}" for name in nobody
    ]
    assert refused(admin, actions={"raise_priority": True, "priority": "low"}) == [
        ("/actions/raise_priority", "conflicting_fields")
    ]
    message = [when("message", "x", operator="contains")]
    assert refused(admin, trigger="changed", conditions=message) == [
        ("/conditions/0", "never_holds")
    ]


def test_a_rule_is_written_on_its_page_and_reads_as_a_sentence(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    form = visitor.get(f"{PAGE}/new").form(f"{PAGE}/new")
    fields = {"name": "VIP first", "trigger": "created", "is_enabled": "yes"}
    condition = {"field": "tag", "operator": "is", "values": "vip, gold"}
    page = visitor.submit(form, **fields, **condition, priority="high")
    assert "When a ticket is created, if Tag is vip or gold" in page.text
    assert "set priority High." in page.text
    (rule,) = tenant.admin().get(RULES).json()["data"]
    assert rule["conditions"] == [when("tag", "vip", "gold")]
    off = visitor.submit(page.form(f"{PAGE}/{rule['id']}/switch"))
    assert "Switch on" in off.text


def test_the_page_of_a_rule_names_who_made_each_version(tenant: Tenant) -> None:
    admin, visitor = tenant.admin(), logged_in(tenant)
    rule, other = (made(admin, name=name, actions=HIGH) for name in ("VIP first", "Another"))
    path = f"{PAGE}/{rule['id']}"
    visitor.submit(visitor.get(path).form(path), name="Gold first", priority="urgent")
    form = visitor.get(path).form(path)
    writer = tenant.key(name="Deploys", permissions=["rules:write"])
    assert writer.patch(f"{KEY_RULES}/{rule['id']}", {"is_enabled": False}).is_success
    page = visitor.submit(visitor.submit(form, name="", is_enabled="yes").form(path), name="Mine")
    assert page.status == 412 and "Somebody else has changed this" in page.text
    assert page.form(path).value("name") == "Mine"
    text = visitor.get(path).text
    assert re.search("3 Deploys.* On Version 2 admin.* Name, Actions Version 1 admin.* added", text)
    assert "Version 2" not in visitor.get(f"{PAGE}/{other['id']}").text
    assert "Mine" in visitor.submit(page.form(path)).text


def test_a_form_says_beside_the_condition_what_is_wrong(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    form = visitor.get(f"{PAGE}/new").form(f"{PAGE}/new")
    condition = {"field": "status", "operator": "is", "values": "red"}
    page = visitor.submit(form, name="Wrong", trigger="created", priority="high", **condition)
    assert page.status == 422
    assert ("p", "id", "conditions/0-fault") in page.attributes
    assert page.text.count("This must be one of Open, Pending, On hold, Resolved, Closed.") == 1
    by = {"field": "last_reply_by", "operator": "is", "values": "customer,"}
    saved = visitor.submit(page.form(f"{PAGE}/new"), **{**by, "name": "Who", "trigger": "changed"})
    assert "if Last reply by is Customer or empty" in saved.text
    condition["values"] = "Pending, on HOLD,"
    saved = visitor.submit(page.form(f"{PAGE}/new"), **condition)
    assert "if Status is Pending or On hold" in saved.text
    rule, _ = tenant.admin().get(RULES).json()["data"]
    assert rule["conditions"] == [when("status", "pending", "on_hold")]
    form = visitor.get(f"{PAGE}/{rule['id']}").form(f"{PAGE}/{rule['id']}")
    assert ("values", "Pending, On hold") in form.fields


def test_a_rule_by_business_hours_leads_to_them_if_there_are_none(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    form = visitor.get(f"{PAGE}/new").form(f"{PAGE}/new")
    condition = {"field": "business_hours", "operator": "is", "values": "no"}
    page = visitor.submit(form, name="Night", trigger="created", priority="high", **condition)
    assert page.status == 422 and "no business hours yet" in page.text
    assert "Set business hours" in page.text and "/settings/business-hours" in page.links


def test_a_rule_by_business_hours_needs_a_desk_or_a_team_that_opens(tenant: Tenant) -> None:
    admin, visitor, at = tenant.admin(), logged_in(tenant), "/settings/business-hours"
    opened, closed = [when("business_hours", "yes")], [when("business_hours", "no")]
    week = dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), "")
    visitor.submit(visitor.get(at).form(at), **week)
    assert refused(admin, conditions=opened) == [("/conditions/0", "no_business_hours")]
    made(admin, conditions=closed, actions=HIGH)
    team = admin.post("/api/v1/teams", {"name": "Night"}).json()["data"]["id"]
    form = visitor.get(f"{at}?team={team}").form(at, "time_zone")
    visitor.submit(form, monday="22:00-24:00")
    made(admin, conditions=opened, actions=HIGH)


def rule_of(*conditions: Condition, **fields: Any) -> Rule:
    return Rule(
        tenant_id="t", id="r", name="r", position=1, trigger="created", hours=0,
        conditions=conditions, actions=RuleActions(), is_enabled=True, paused_because=None,
        version=1, enabled_at=0, created_at=0, updated_at=0, **fields,
    )  # fmt: skip


def facts(**fields: Any) -> matching.Facts:
    ticket = {"tags": [], "customer": {"email": "A@B.test"}, "custom_fields": {}, **fields}
    return matching.facts_of(ticket)


@for_each(
    ("condition", "holds"),
    [
        (Condition("tag", "is", ["VIP"]), True),
        (Condition("tag", "is", [""]), False),
        (Condition("tag", "is_not", ["x", "vip"]), False),
        (Condition("assignee_id", "is", [""]), True),
        (Condition("subject", "contains", ["refund"]), True),
        (Condition("subject", "lacks", ["order"]), False),
        (Condition("customer_email", "contains", ["@BÜCHER.example"]), True),
        (Condition("customer_email", "is", ["josé@bücher.example"]), True),
        (Condition("customer_email", "lacks", ["José"]), False),
        (Condition("custom_fields.plan", "is", ["gold"]), True),
        (Condition("custom_fields.paid", "is", ["true"]), True),
        (Condition("custom_fields.weight", "is", ["5.00"]), True),
        (Condition("custom_fields.weight", "is_not", ["05", "50"]), False),
        (Condition("custom_fields.weight", "is", ["50"]), False),
        (Condition("custom_fields.version", "is", ["5.0"]), True),
        (Condition("custom_fields.version", "is", ["5"]), False),
        (Condition("custom_fields.other", "is", [""]), True),
        (Condition("custom_fields.other", "is_not", ["gold"]), True),
        (Condition("message", "contains", ["please"]), True),
        (Condition("customer_name", "is", ["josé"]), True),
        (Condition("external_id", "is", ["ac-1"]), True),
        (Condition("last_reply_by", "is", [""]), True),
    ],
)
def test_conditions_compare_fields(condition: Condition, holds: bool) -> None:
    ticket = facts(
        tags=["vip"],
        subject="Refund of my order",
        description="Please!",
        customer={"email": "José@xn--bcher-kva.example", "name": "José"},
        external_id="AC-1",
        custom_fields={"plan": "Gold", "paid": True, "weight": 5, "version": "5.0"},
    )
    rule = rule_of(condition)
    assert (matching.find_causes(rule, ticket) is not None) == holds
    assert matching.RuleIndex([rule]).may_act("created", ticket, clock.Clock().now_us()) == holds


def test_rules_that_share_a_value_are_found_by_what_tells_them_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[Any] = []
    monkeypatch.setattr(matching, "_holds", lambda prepared, _: compared.append(prepared))
    is_open = Condition("status", "is", ["open"])
    rules = [
        rule_of(is_open, other)
        for number in range(100)
        for other in (
            Condition("tag", "is", [f"tag {number}"]),
            Condition("subject", "contains", [f"order {number}"]),
        )
    ]
    ticket = facts(status="open", tags=["tag 7"], subject="Where is my order 8", description="")
    assert not matching.RuleIndex(rules).may_act("created", ticket, 1)
    assert len(compared) == 2
