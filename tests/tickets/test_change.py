"""Changing tickets: JSON Merge Patch and the transitions of the status (spec decision 7)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
STATUSES = ("open", "pending", "on_hold", "resolved", "closed")
STRICT = {"prefer": "handling=strict"}


def patched(key: Key, ticket: dict[str, Any], **change: Any) -> dict[str, Any]:
    """The ticket after a successful change."""
    response = key.patch(f"{TICKETS}/{ticket['id']}", change)
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == shown
    return shown


def in_status(key: Key, status: str) -> dict[str, Any]:
    """A ticket with this status."""
    return key.ticket() if status == "open" else patched(key, key.ticket(), status=status)


def test_omitted_fields_stay_unchanged(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket(
        tags=["a"], custom_fields={"x": 1}, external_id="e", assignee_id=tenant.user("agent")
    )
    after = patched(key, ticket, subject="Other")
    assert after == ticket | {
        "subject": "Other",
        "version": 2,
        "updated_at": after["updated_at"],
    }
    assert after["updated_at"] > ticket["updated_at"]


@for_each(
    ("name", "value"),
    [
        ("subject", "Other"),
        ("description", "Other"),
        ("status", "pending"),
        ("priority", "urgent"),
        ("tags", ["b", "c"]),
        ("custom_fields", {"y": [1]}),
        ("external_id", "order-1"),
    ],
)
def test_each_of_these_can_be_changed(key: Key, name: str, value: Any) -> None:
    assert patched(key, key.ticket(tags=["a"]), **{name: value})[name] == value


def test_the_assignee_can_be_changed_and_cleared(key: Key, tenant: Tenant) -> None:
    agent = tenant.user("agent")
    ticket = patched(key, key.ticket(), assignee_id=agent)
    assert ticket["assignee_id"] == agent
    assert patched(key, ticket, assignee_id=None)["assignee_id"] is None


@for_each(
    ("name", "empty"),
    [("assignee_id", None), ("external_id", None), ("tags", []), ("custom_fields", {})],
)
def test_null_clears_a_nullable_field(key: Key, tenant: Tenant, name: str, empty: Any) -> None:
    ticket = key.ticket(
        tags=["a"], custom_fields={"x": 1}, external_id="e", assignee_id=tenant.user("agent")
    )
    assert patched(key, ticket, **{name: None})[name] == empty


def test_six_clients_that_add_a_tag_leave_six(key: Key) -> None:
    ticket = key.ticket(tags=["new"])

    def add(n: int) -> None:
        patched_one = key.patch(f"{TICKETS}/{ticket['id']}", {"add_tags": [f"tag {n}"]})
        assert patched_one.status_code == 200, patched_one.text

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, range(6)))
    after = patched(key, ticket, remove_tags=["NEW"])
    assert sorted(after["tags"]) == [f"tag {n}" for n in range(6)]


def test_single_tags_are_added_and_removed_by_their_identity(key: Key) -> None:
    ticket = key.ticket(tags=["Billing", "New", "vip"])
    after = patched(key, ticket, add_tags=["billing", "VIP ", "late", "late"], remove_tags=["NEW"])
    assert after["tags"] == ["Billing", "vip", "late"]
    again = patched(key, after, add_tags=["late"], remove_tags=["new"])
    assert again == after


@for_each(
    ("change", "fault"),
    [
        ({"tags": ["a"], "add_tags": ["b"]}, ("/tags", "conflicting_fields")),
        ({"add_tags": ["b"], "remove_tags": ["a", "B"]}, ("/remove_tags/1", "conflicting_fields")),
        ({"add_tags": ["x"]}, ("/add_tags", "too_many")),
        ({"remove_tags": None}, ("/remove_tags", "null_not_allowed")),
        ({"add_tags": ["\t"]}, ("/add_tags/0", "too_short")),
    ],
)
def test_a_change_of_tags_that_contradicts_itself_or_is_too_long_changes_nothing(
    key: Key, change: dict[str, Any], fault: tuple[str, str]
) -> None:
    ticket = key.ticket(tags=[f"tag {n}" for n in range(50)])
    response = key.patch(f"{TICKETS}/{ticket['id']}", change | {"subject": "Other"})
    assert response.status_code == 422, response.text
    assert [(f["pointer"], f["code"]) for f in response.json()["errors"]] == [fault]
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket


@pytest.mark.parametrize("name", ["subject", "description", "status", "priority"])
def test_null_for_the_rest_is_a_fault(key: Key, name: str) -> None:
    ticket = key.ticket()
    response = key.patch(f"{TICKETS}/{ticket['id']}", {name: None})
    (fault,) = response.json()["errors"]
    assert (response.status_code, fault["pointer"], fault["code"]) == (
        422,
        f"/{name}",
        "null_not_allowed",
    )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"subject": " "}, ("/subject", "too_short")),
        ({"subject": "x" * 256}, ("/subject", "too_long")),
        ({"description": ""}, ("/description", "too_short")),
        ({"status": "new"}, ("/status", "invalid_value")),
        ({"priority": "normal"}, ("/priority", "invalid_value")),
        ({"assignee_id": 5}, ("/assignee_id", "invalid_type")),
        ({"tags": ["a", "\t"]}, ("/tags/1", "too_short")),
        ({"tags": ["x"] * 51}, ("/tags", "too_many")),
        ({"custom_fields": "x"}, ("/custom_fields", "invalid_type")),
        ({"external_id": "x" * 256}, ("/external_id", "too_long")),
    ],
)
def test_a_change_is_validated_like_a_new_ticket(
    key: Key, change: dict[str, Any], fault: tuple[str, str]
) -> None:
    ticket = key.ticket()
    response = key.patch(f"{TICKETS}/{ticket['id']}", change)
    assert response.status_code == 422
    assert [(f["pointer"], f["code"]) for f in response.json()["errors"]] == [fault]
    assert key.walk(TICKETS) == [ticket]


@for_each(
    "change",
    [
        {},
        {"subject": "A subject"},
        {"status": "open"},
        {"tags": ["a", "a"], "priority": "medium"},
        {"custom_fields": {}},
        {"custom_fields": {"x": 1}},
        {"custom_fields": {"absent": None}},
    ],
)
def test_a_change_without_a_difference_keeps_version_and_time(
    key: Key, change: dict[str, Any]
) -> None:
    ticket = key.ticket(tags=["a"], custom_fields={"x": 1})
    assert patched(key, ticket, **change) == ticket


@pytest.mark.parametrize("strictness", [{}, STRICT])
def test_a_customer_can_be_read_changed_and_sent_back(key: Key, strictness: dict[str, str]) -> None:
    ticket = patched(key, key.ticket(tags=["a"], custom_fields={"x": {"y": 1}}), status="resolved")
    response = key.patch(f"{TICKETS}/{ticket['id']}", ticket | {"subject": "Other"}, **strictness)
    assert response.status_code == 200
    assert "x-warnings" not in response.headers
    after = response.json()["data"]
    changed = {"subject": "Other", "version": 3, "updated_at": after["updated_at"]}
    assert after == ticket | changed


@pytest.mark.parametrize("strictness", [{}, STRICT])
def test_read_only_fields_are_refused_with_another_value(
    key: Key, strictness: dict[str, str]
) -> None:
    ticket = key.ticket()
    read_only = {
        "id": 5, "number": "x", "source": None, "reply_count": -1, "version": {}, "customer": [],
        "created_at": 1, "updated_at": 1, "first_response_at": 1, "resolved_at": 1, "closed_at": 1,
    }  # fmt: skip
    refused = key.patch(f"{TICKETS}/{ticket['id']}", read_only, **strictness)
    assert {each["pointer"] for each in refused.json()["errors"]} == {
        f"/{each}" for each in read_only
    }
    assert patched(key, ticket) == ticket


def test_tags_are_replaced_as_a_whole(key: Key) -> None:
    ticket = patched(key, key.ticket(tags=["a", "b"]), tags=["b", "c", "c"])
    assert ticket["tags"] == ["b", "c"]
    for tag, found in (("a", []), ("b", [ticket]), ("c", [ticket])):
        assert key.walk(f"{TICKETS}?tag={tag}") == found


@for_each(
    ("before", "patch", "after"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": None, "z": 3}}, {"a": {"y": 2, "z": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"x": 1, "n": None}}, {"a": {"x": 1}}),
        ({"a": {"x": 1}}, {"a": "text"}, {"a": "text"}),
        ({"a": [{"n": 1}]}, {"a": [{"n": None}]}, {"a": [{"n": None}]}),
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": 1}, {"a": 1.0}, {"a": 1.0}),
        ({"a": False}, {"a": 0}, {"a": 0}),
        ({"a": {"b": [1]}}, {"a": {"b": [True]}}, {"a": {"b": [True]}}),
    ],
)
def test_custom_fields_are_merged(
    key: Key, before: dict[str, Any], patch: dict[str, Any], after: dict[str, Any]
) -> None:
    ticket = patched(key, key.ticket(custom_fields=before), custom_fields=patch)
    # By their text: Python takes 1, 1.0 and true for equal.
    assert repr(ticket["custom_fields"]) == repr(after)
    assert ticket["version"] == 2


def test_custom_fields_that_grow_over_16_kib_together_are_refused(key: Key) -> None:
    ticket = key.ticket(custom_fields={"a": "x" * 10_000})
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"custom_fields": {"b": "x" * 10_000}})
    assert response.status_code == 422
    (fault,) = response.json()["errors"]
    assert (fault["pointer"], fault["code"]) == ("/custom_fields", "too_large")
    assert key.walk(TICKETS) == [ticket]


ALLOWED = {(a, b) for a in STATUSES for b in STATUSES if a != "closed" or b in ("open", "closed")}


@for_each("before", STATUSES)
@for_each("after", STATUSES)
def test_a_closed_ticket_can_only_become_open_and_others_any_status(
    key: Key, before: str, after: str
) -> None:
    ticket = in_status(key, before)
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"status": after})
    if before == after:
        assert (response.status_code, response.json()["data"]) == (200, ticket)
    elif (before, after) in ALLOWED:
        assert (response.status_code, response.json()["data"]["status"]) == (200, after)
    else:
        problem = response.json()
        assert (response.status_code, problem["code"]) == (409, "invalid_transition")
        assert problem["allowed"] == ["open"]
        assert ticket in key.walk(TICKETS)


@for_each(
    ("moves", "resolved_by", "closed_by"),
    [
        (["resolved"], 0, None),
        (["closed"], None, 0),
        (["resolved", "closed"], 0, 1),
        (["resolved", "open"], None, None),
        (["resolved", "pending"], None, None),
        (["resolved", "on_hold"], None, None),
        (["closed", "open"], None, None),
        (["resolved", "closed", "open"], None, None),
        (["resolved", "open", "resolved"], 2, None),
        (["closed", "open", "closed"], None, 2),
        (["pending", "on_hold", "open"], None, None),
    ],
)
def test_status_changes_set_and_clear_resolved_at_and_closed_at(
    key: Key, moves: list[str], resolved_by: int | None, closed_by: int | None
) -> None:
    ticket = key.ticket()
    times = []
    for status in moves:
        ticket = patched(key, ticket, status=status)
        times.append(ticket["updated_at"])
    assert ticket["resolved_at"] == (None if resolved_by is None else times[resolved_by])
    assert ticket["closed_at"] == (None if closed_by is None else times[closed_by])
    assert ticket["first_response_at"] is None


def test_the_other_fields_of_a_closed_ticket_may_change(key: Key) -> None:
    ticket = in_status(key, "closed")
    after = patched(key, ticket, subject="Other", status="closed", tags=["late"])
    assert (after["subject"], after["tags"], after["closed_at"]) == (
        "Other",
        ["late"],
        ticket["closed_at"],
    )


def test_an_invalid_transition_rolls_back_the_whole_change(key: Key) -> None:
    ticket = in_status(key, "closed")
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"subject": "Other", "status": "pending"})
    assert response.status_code == 409
    assert key.walk(TICKETS) == [ticket]


def test_updated_at_never_decreases(own_service: Service) -> None:
    key = own_service.tenant().key()
    ticket = key.ticket()
    own_service.clock.advance(60)
    later = patched(key, ticket, subject="later")
    own_service.clock.correct(-30)
    assert (
        patched(key, ticket, subject="by a clock that was set back")["updated_at"]
        == (later["updated_at"])
    )


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_an_unknown_ticket_is_404(key: Key, service: Service, method: str) -> None:
    foreign = service.tenant().key().ticket()["id"]
    body = {"subject": "x"} if method == "PATCH" else None
    for ticket_id in (foreign, "00000000-0000-7000-8000-000000000000", "5", foreign.upper()):
        response = key.call(method, f"{TICKETS}/{ticket_id}", body)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
