"""Replies, and what they do to their ticket (spec decision 8)."""

from typing import Any

import pytest

from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
BY_CUSTOMER = {"author": {"type": "customer"}}
INTERNAL = {"is_internal": True}


def reply(key: Key, ticket: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A new reply, as the response shows it."""
    response = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello", **fields})
    assert response.status_code == 201, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    return shown


def move(key: Key, ticket: dict[str, Any], status: str) -> None:
    assert key.patch(f"{TICKETS}/{ticket['id']}", {"status": status}).status_code == 200


def test_a_reply_has_these_fields(key: Key) -> None:
    ticket = key.ticket()
    shown = reply(key, ticket, body="Größe 😀\n")
    assert shown == {
        "id": shown["id"],
        "ticket_id": ticket["id"],
        "body": "Größe 😀\n",
        "is_internal": False,
        "author": {"type": "api_key", "id": key.id, "name": "test"},
        "created_at": shown["created_at"],
        "attachments": [],
        "delivery": None,
        "delivery_reason": None,
        "delivery_at": None,
    }
    assert key.walk(f"{TICKETS}/{ticket['id']}/replies") == [shown]


def test_the_author_of_a_reply_may_be_the_customer(key: Key) -> None:
    ticket = key.ticket(customer={"email": "c@example.test", "name": "Maria"})
    assert reply(key, ticket, **BY_CUSTOMER)["author"] == {
        "type": "customer",
        "id": ticket["customer"]["id"],
        "name": "Maria",
    }


def test_a_reply_may_name_its_author_as_the_key(key: Key) -> None:
    ticket = key.ticket()
    shown = reply(key, ticket, author={"type": "api_key", "id": "x", "name": "y"})
    assert shown["author"] == {"type": "api_key", "id": key.id, "name": "test"}


@for_each(
    ("fields", "fault"),
    [
        ({"body": ""}, ("/body", "too_short")),
        ({"body": " \n"}, ("/body", "too_short")),
        ({"body": "😀" * 65537}, ("/body", "too_long")),
        ({"body": None}, ("/body", "null_not_allowed")),
        ({"body": 5}, ("/body", "invalid_type")),
        ({"is_internal": "yes"}, ("/is_internal", "invalid_type")),
        ({"is_internal": 1}, ("/is_internal", "invalid_type")),
        ({"is_internal": None}, ("/is_internal", "null_not_allowed")),
        ({"author": "customer"}, ("/author", "invalid_type")),
        ({"author": {}}, ("/author/type", "required")),
        ({"author": {"type": "agent"}}, ("/author/id", "unknown_agent")),
        ({"author": {"type": "robot"}}, ("/author/type", "invalid_value")),
    ],
)
def test_an_invalid_field_is_named_and_nothing_is_stored(
    key: Key, fields: dict[str, Any], fault: tuple[str, str]
) -> None:
    ticket = key.ticket()
    response = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello", **fields})
    assert response.status_code == 422
    assert [(f["pointer"], f["code"]) for f in response.json()["errors"]] == [fault]
    assert key.walk(f"{TICKETS}/{ticket['id']}/replies") == []
    assert read(key, ticket) == ticket


def test_a_reply_may_have_65536_characters(key: Key) -> None:
    assert len(reply(key, key.ticket(), body="😀" * 65536)["body"]) == 65536


@pytest.mark.parametrize("fields", [{}, INTERNAL, BY_CUSTOMER])
def test_every_reply_raises_the_tickets_version_and_time(key: Key, fields: dict[str, Any]) -> None:
    ticket = key.ticket()
    shown = reply(key, ticket, **fields)
    after = read(key, ticket)
    assert after["version"] == 2
    assert after["updated_at"] == shown["created_at"] > ticket["updated_at"]


def test_public_replies_are_counted_and_internal_ones_not(key: Key) -> None:
    ticket = key.ticket()
    for fields in ({}, INTERNAL, BY_CUSTOMER):
        reply(key, ticket, **fields)
    assert read(key, ticket)["reply_count"] == 2


def test_the_first_public_reply_that_is_not_the_customers_is_the_first_response(key: Key) -> None:
    ticket = key.ticket()
    for fields in (INTERNAL, BY_CUSTOMER):
        reply(key, ticket, **fields)
        assert read(key, ticket)["first_response_at"] is None
    first = reply(key, ticket)
    assert read(key, ticket)["first_response_at"] == first["created_at"]


def test_the_first_response_never_changes_again(key: Key) -> None:
    ticket = key.ticket()
    first = reply(key, ticket)
    for status in ("resolved", "open", "closed", "open"):
        move(key, ticket, status)
    reply(key, ticket)
    assert read(key, ticket)["first_response_at"] == first["created_at"]


@pytest.mark.parametrize("status", ["pending", "on_hold", "resolved"])
def test_a_public_reply_of_the_customer_reopens_the_ticket(key: Key, status: str) -> None:
    ticket = key.ticket()
    move(key, ticket, status)
    reply(key, ticket, **BY_CUSTOMER)
    after = read(key, ticket)
    assert (after["status"], after["resolved_at"], after["version"]) == ("open", None, 3)


@for_each("fields", [{}, INTERNAL, {**BY_CUSTOMER, **INTERNAL}])
@for_each("status", ["pending", "on_hold", "resolved"])
def test_other_replies_keep_the_status(key: Key, status: str, fields: dict[str, Any]) -> None:
    ticket = key.ticket()
    move(key, ticket, status)
    before = read(key, ticket)
    reply(key, ticket, **fields)
    after = read(key, ticket)
    assert (after["status"], after["resolved_at"]) == (status, before["resolved_at"])


@pytest.mark.parametrize("fields", [{}, INTERNAL, BY_CUSTOMER])
def test_a_closed_ticket_takes_no_reply(key: Key, fields: dict[str, Any]) -> None:
    ticket = key.ticket()
    move(key, ticket, "closed")
    before = read(key, ticket)
    response = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello", **fields})
    assert (response.status_code, response.json()["code"]) == (409, "ticket_closed")
    assert read(key, ticket) == before
    assert key.walk(f"{TICKETS}/{ticket['id']}/replies") == []


def test_replies_are_listed_newest_first_and_in_reading_order(key: Key) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}/replies"
    written = [reply(key, ticket, body=str(n)) for n in range(5)]
    assert key.walk(path) == key.walk(f"{path}?sort=desc") == written[::-1]
    assert key.walk(f"{path}?sort=asc") == written


@pytest.mark.parametrize("sort", ["asc", "desc"])
def test_replies_are_filtered_by_whether_they_are_internal(key: Key, sort: str) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}/replies?sort={sort}"
    written = [reply(key, ticket, is_internal=n % 2 == 1) for n in range(6)]
    ordered = written if sort == "asc" else written[::-1]
    for value in (True, False):
        found = key.walk(f"{path}&is_internal={str(value).lower()}")
        assert found == [shown for shown in ordered if shown["is_internal"] is value]


def test_replies_of_another_ticket_are_not_listed(key: Key) -> None:
    reply(key, key.ticket())
    assert key.walk(f"{TICKETS}/{key.ticket()['id']}/replies") == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_replies_of_an_unknown_ticket_are_404(key: Key, service: Service, method: str) -> None:
    foreign = service.tenant().key().ticket()["id"]
    body = {"body": "Hello"} if method == "POST" else None
    for ticket_id in (foreign, "00000000-0000-7000-8000-000000000000", "5"):
        response = key.call(method, f"{TICKETS}/{ticket_id}/replies", body)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_an_internal_note_is_readable_with_the_read_permission(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket()
    note = reply(key, ticket, **INTERNAL)
    reader = tenant.key(permissions=("replies:read",))
    assert reader.walk(f"{TICKETS}/{ticket['id']}/replies") == [note]


@pytest.mark.parametrize("strictness", [{}, {"prefer": "handling=strict"}])
def test_read_only_fields_of_a_reply_are_ignored(
    key: Key, tenant: Tenant, strictness: dict[str, str]
) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    sent = {"body": "Hello", "id": "x", "ticket_id": "y", "created_at": 1}
    writer = tenant.key(permissions=("tickets:write",))
    response = writer.post(path, sent, **strictness)
    assert response.status_code == 201
    assert "x-warnings" not in response.headers
