"""The ready document of a ticket always agrees with its columns."""

from typing import Any

import msgspec
import pytest

from sealdesk.customers import rules as customer_rules
from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store import tickets as ticket_store
from tests.support.client import Key
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def as_stored(tenant: Tenant, ticket_id: str) -> tuple[Any, Any]:
    """The stored document and customer reference, decoded."""
    (row,) = tenant.service.rows(
        "SELECT t.document, c.reference FROM tickets t JOIN customers c"
        " ON c.tenant_id = t.tenant_id AND c.id = t.customer_id"
        " WHERE t.tenant_id = :tenant_id AND t.id = :id LIMIT 1",
        tenant_id=tenant.id,
        id=ticket_id,
    )
    return msgspec.json.decode(row["document"]), msgspec.json.decode(row["reference"])


def as_rebuilt(tenant: Tenant, ticket_id: str) -> tuple[Any, Any]:
    """The same two, computed from the columns."""

    async def work(tx: Tx) -> tuple[Any, Any]:
        found = await ticket_store.find(tx, tenant.id, ticket_id)
        assert found is not None
        customer = await customers.find(tx, tenant.id, found.ticket.customer_id)
        assert customer is not None
        return documents.ready_document(found.ticket), customer_rules.reference(customer)

    document, reference = tenant.service.read(work)
    return msgspec.json.decode(document), msgspec.json.decode(reference)


NEW: list[dict[str, Any]] = [
    {},
    {"status": "resolved", "priority": "urgent", "tags": ["b", "a"], "external_id": "x"},
    {"custom_fields": {"a": {"b": [1, 1.5, None, "é😀", True]}}},
]
CHANGES: list[dict[str, Any]] = [
    {"subject": 'Quotes " and \\ and \u2028'},
    {"status": "pending"},
    {"status": "closed", "priority": "low"},
    {"tags": ["c"], "custom_fields": {"a": {"b": None, "c": 1}}, "external_id": "y"},
    {"tags": None, "custom_fields": None, "external_id": None},
    {"status": "open", "description": "Other"},
]
REPLIES: list[dict[str, Any]] = [
    {"body": "Hello"},
    {"body": "Hello", "is_internal": True},
    {"body": "Hello", "author": {"type": "customer"}},
]


@pytest.mark.parametrize("new", NEW)
def test_the_ready_document_agrees_with_the_columns_after_every_write(
    key: Key, tenant: Tenant, new: dict[str, Any]
) -> None:
    ticket = key.ticket(**new)
    path = f"{TICKETS}/{ticket['id']}"
    writes = [
        *((f"{path}/replies", reply) for reply in REPLIES),
        *((path, change) for change in CHANGES),
        (path, {"assignee_id": tenant.user("agent")}),
        (f"{path}/replies", REPLIES[2]),
        (f"{CUSTOMERS}/{ticket['customer']['id']}", {"name": 'M "x"', "email": "Ö@example.test"}),
        (f"{CUSTOMERS}/{ticket['customer']['id']}", {"phone": "5", "name": None}),
    ]
    for target, body in writes:
        method = "POST" if target.endswith("/replies") else "PATCH"
        assert key.call(method, target, body).status_code in (200, 201)
        stored = as_stored(tenant, ticket["id"])
        assert stored == as_rebuilt(tenant, ticket["id"])
        shown = key.get(path).json()["data"]
        assert shown == stored[0] | {"customer": stored[1]}
        assert key.walk(TICKETS) == [shown]


def test_a_name_from_a_new_ticket_is_shown_in_older_tickets(key: Key, tenant: Tenant) -> None:
    older = key.ticket(customer={"email": "c@example.test"})
    key.ticket(customer={"email": "c@example.test", "name": "Maria"})
    assert key.get(f"{TICKETS}/{older['id']}").json()["data"]["customer"]["name"] == "Maria"
    assert as_stored(tenant, older["id"]) == as_rebuilt(tenant, older["id"])
