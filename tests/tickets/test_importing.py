"""Importing: times and authors that a key with import:write chooses."""

from typing import Any

import pytest

from sealdesk import clock, ids
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
MARCH, APRIL, MAY = (f"2023-0{month}-01T10:00:00.000000Z" for month in (3, 4, 5))
_TICKET = {"subject": "Old", "description": "D", "customer": {"email": "ann@example.test"}}


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def key(office: Tenant) -> Key:
    return office.key(permissions=["tickets:write", "tickets:read", "import:write"])


@pytest.fixture(scope="module")
def plain(office: Tenant) -> Key:
    """A key that may write but not import."""
    return office.key(permissions=["tickets:write", "tickets:read"])


def _ticket(key: Key, **fields: Any) -> dict[str, Any]:
    answer = key.post(TICKETS, {**_TICKET, **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def _reply(key: Key, ticket: dict[str, Any], **fields: Any) -> Any:
    return key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "B", **fields})


def _faults(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]


def test_an_imported_ticket_is_in_lists_where_its_time_is(office: Tenant) -> None:
    tenant = office.service.tenant()
    key = tenant.key()
    recent = _ticket(key)
    newer, older = _ticket(key, created_at=APRIL), _ticket(key, created_at=MARCH)
    listed = key.get(TICKETS).json()["data"]
    assert [each["id"] for each in listed] == [recent["id"], newer["id"], older["id"]]
    assert older["created_at"] == older["waiting_since"] == MARCH
    assert ids.instant_of(older["id"]) == clock.parse_instant(MARCH)
    assert older["updated_at"] >= recent["updated_at"] and older["number"] > newer["number"]


def test_a_conversation_is_imported_with_its_times_and_authors(office: Tenant, key: Key) -> None:
    agent_id = office.user("agent", name="Bo")
    ticket = _ticket(key, created_at=MARCH)
    by_agent = {"type": "agent", "id": agent_id}
    _reply(key, ticket, created_at=APRIL, author=by_agent)
    _reply(key, ticket, created_at=MAY, author={"type": "customer"})
    replies = key.get(f"{TICKETS}/{ticket['id']}/replies?sort=asc").json()["data"]
    assert [each["created_at"] for each in replies] == [APRIL, MAY]
    assert replies[0]["author"] == {"type": "agent", "id": agent_id, "name": "Bo"}
    shown = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    assert (shown["first_response_at"], shown["last_customer_reply_at"]) == (APRIL, MAY)
    assert (shown["waiting_since"], shown["last_reply_by"]) == (MAY, "customer")
    assert shown["updated_at"] > MAY and shown["reply_count"] == 2


def test_replies_are_imported_in_the_order_of_time(key: Key) -> None:
    ticket = _ticket(key, created_at=APRIL)
    assert _faults(_reply(key, ticket, created_at=MARCH)) == [("/created_at", "not_in_order")]
    assert _reply(key, ticket, created_at=APRIL).status_code == 201
    assert _reply(key, ticket).status_code == 201
    assert _faults(_reply(key, ticket, created_at=MAY)) == [("/created_at", "not_in_order")]


@for_each(
    ("created_at", "code"),
    [
        ("1989-12-31T23:59:59Z", "time_too_old"),
        ("2999-01-01T00:00:00Z", "time_in_future"),
        ("yesterday", "invalid_time"),
    ],
)
def test_other_times_are_refused(key: Key, created_at: str, code: str) -> None:
    answer = key.post(TICKETS, {**_TICKET, "created_at": created_at})
    assert _faults(answer) == [("/created_at", code)]
    assert _faults(_reply(key, _ticket(key), created_at=created_at)) == [("/created_at", code)]


def test_without_the_permission_the_time_is_ignored_and_an_agent_forbidden(
    office: Tenant, plain: Key
) -> None:
    ticket = _ticket(plain, created_at=MARCH)
    written = _reply(plain, ticket, created_at=MARCH).json()["data"]
    assert ticket["created_at"] > MAY and written["created_at"] > MAY
    agent = {"type": "agent", "id": office.user("agent")}
    answer = _reply(plain, ticket, author=agent)
    assert (answer.status_code, answer.json()["required"]) == (403, ["import:write"])
    assert plain.get(f"{TICKETS}/{ticket['id']}").json()["data"]["reply_count"] == 1


def test_the_permission_to_import_does_not_include_writing(office: Tenant) -> None:
    importer = office.key(permissions=["import:write"])
    assert importer.post(TICKETS, {**_TICKET, "created_at": MARCH}).status_code == 403


def test_an_agent_of_another_tenant_is_unknown(service: Service, key: Key) -> None:
    ticket = _ticket(key)
    for agent_id in (service.tenant().user("agent"), "", None):
        answer = _reply(key, ticket, author={"type": "agent", "id": agent_id})
        assert _faults(answer) == [("/author/id", "unknown_agent")]


def test_an_import_notifies_nobody_and_is_in_the_feed(office: Tenant, key: Key) -> None:
    agent_id = office.user("agent")
    ticket = _ticket(key, created_at=MARCH, assignee_id=agent_id)
    _reply(key, ticket, created_at=APRIL, author={"type": "customer"})
    sql = "SELECT kind FROM notifications WHERE user_id = :id ORDER BY id LIMIT 9"
    assert office.service.rows(sql, id=agent_id) == []
    _reply(key, ticket, author={"type": "customer"})
    assert [row["kind"] for row in office.service.rows(sql, id=agent_id)] == ["replied"]
    office.service.settle()
    recorded = office.service.rows(
        "SELECT type, created_at FROM events WHERE tenant_id = :tenant ORDER BY id DESC LIMIT 3",
        tenant=office.id,
    )
    assert {row["type"] for row in recorded} == {"ticket.created", "reply.created"}
    assert all(row["created_at"] > (clock.parse_instant(MAY) or 0) for row in recorded)
