"""Whose turn it is: who wrote last on a ticket, and since when its customer waits."""

from typing import Any

import pytest

from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.store import ready_documents
from tests.support.client import Key
from tests.support.feed import EVENTS, wait_until_placed
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
NOTE: dict[str, Any] = {"is_internal": True}
BY_CUSTOMER: dict[str, Any] = {"author": {"type": "customer"}}


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    return shown


def reply(key: Key, ticket: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The ticket after a reply."""
    response = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello", **fields})
    assert response.status_code == 201, response.text
    return read(key, ticket)


def move(key: Key, ticket: dict[str, Any], status: str) -> dict[str, Any]:
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"status": status})
    assert response.status_code == 200, response.text
    return read(key, ticket)


@pytest.mark.parametrize("status", ["open", "pending", "on_hold"])
def test_the_customer_of_a_new_ticket_waits_since_its_creation(key: Key, status: str) -> None:
    ticket = key.ticket(status=status)
    assert ticket["waiting_since"] == ticket["created_at"]
    assert ticket["last_reply_by"] is ticket["last_customer_reply_at"] is None


def test_nobody_waits_for_a_ticket_that_is_resolved_at_once(key: Key) -> None:
    assert key.ticket(status="resolved")["waiting_since"] is None


def test_a_public_reply_ends_the_waiting(key: Key) -> None:
    ticket = reply(key, key.ticket())
    assert (ticket["waiting_since"], ticket["last_reply_by"]) == (None, "api_key")
    assert ticket["last_customer_reply_at"] is None


def test_a_reply_of_the_customer_begins_the_waiting_once(key: Key) -> None:
    answered = reply(key, key.ticket())
    first = reply(key, answered, **BY_CUSTOMER)
    assert first["last_reply_by"] == "customer"
    assert first["waiting_since"] == first["last_customer_reply_at"] == first["updated_at"]
    second = reply(key, answered, **BY_CUSTOMER)
    assert second["waiting_since"] == first["waiting_since"]
    assert second["last_customer_reply_at"] == second["updated_at"] > first["updated_at"]


def test_a_customer_who_writes_again_waits_since_the_creation(key: Key) -> None:
    ticket = key.ticket()
    assert reply(key, ticket, **BY_CUSTOMER)["waiting_since"] == ticket["created_at"]


def test_a_note_changes_neither(key: Key) -> None:
    for before in (key.ticket(), reply(key, key.ticket()), reply(key, key.ticket(), **BY_CUSTOMER)):
        after = reply(key, before, **NOTE)
        for name in ("waiting_since", "last_reply_by", "last_customer_reply_at"):
            assert after[name] == before[name]


@pytest.mark.parametrize("status", ["resolved", "closed"])
def test_resolving_and_closing_end_the_waiting(key: Key, status: str) -> None:
    assert move(key, key.ticket(), status)["waiting_since"] is None


@pytest.mark.parametrize("status", ["pending", "on_hold"])
def test_other_statuses_leave_the_waiting_as_it_is(key: Key, status: str) -> None:
    ticket = key.ticket()
    assert move(key, ticket, status)["waiting_since"] == ticket["created_at"]
    answered = reply(key, ticket)
    assert move(key, answered, "open")["waiting_since"] is None


def test_a_customer_who_reopens_a_ticket_waits_since_that_reply(key: Key) -> None:
    resolved = move(key, key.ticket(), "resolved")
    reopened = reply(key, resolved, **BY_CUSTOMER)
    assert reopened["status"] == "open"
    assert reopened["waiting_since"] == reopened["last_customer_reply_at"]


def test_reopening_resumes_the_waiting_only_if_the_customer_wrote_last(key: Key) -> None:
    new = key.ticket()
    move(key, new, "resolved")
    assert move(key, new, "open")["waiting_since"] == new["created_at"]
    answered = reply(key, new)
    move(key, answered, "closed")
    assert move(key, answered, "open")["waiting_since"] is None
    asked = reply(key, new, **BY_CUSTOMER)
    move(key, asked, "closed")
    assert move(key, asked, "open")["waiting_since"] == asked["last_customer_reply_at"]


def test_a_key_cannot_set_them(key: Key) -> None:
    ticket = key.ticket(waiting_since=None, last_reply_by="agent", last_customer_reply_at=1)
    assert ticket["waiting_since"] == ticket["created_at"]
    patch = {"waiting_since": None, "last_reply_by": "agent", "last_customer_reply_at": 5}
    assert key.patch(f"{TICKETS}/{ticket['id']}", patch).status_code == 422
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket


def test_events_show_who_waits(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket()
    move(key, ticket, "resolved")
    wait_until_placed(tenant.service)
    events = [event for event in key.walk(EVENTS) if event["type"].startswith("ticket.")]
    assert {event["type"]: event["data"]["object"]["waiting_since"] for event in events} == {
        "ticket.created": ticket["created_at"],
        "ticket.updated": None,
        "ticket.status_changed": None,
    }


def snippet_of(tenant: Tenant, ticket: dict[str, Any]) -> str:
    (row,) = tenant.service.rows(
        "SELECT snippet FROM tickets WHERE tenant_id = :tenant_id AND id = :id LIMIT 1",
        tenant_id=tenant.id,
        id=ticket["id"],
    )
    return str(row["snippet"])


def test_the_snippet_is_the_last_message(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket(description="First\n\n  line")
    assert snippet_of(tenant, ticket) == "First line"
    key.patch(f"{TICKETS}/{ticket['id']}", {"description": "Corrected"})
    assert snippet_of(tenant, ticket) == "Corrected"
    reply(key, ticket, body="\x1fFrom a colleague", is_internal=True)
    assert snippet_of(tenant, ticket) == f"{rules.NOTE_MARK}From a colleague"
    key.patch(f"{TICKETS}/{ticket['id']}", {"description": "Corrected again"})
    assert snippet_of(tenant, ticket) == f"{rules.NOTE_MARK}From a colleague"
    reply(key, ticket, body=f"{rules.NOTE_MARK}No note")
    assert snippet_of(tenant, ticket) == "No note"
    assert "snippet" not in read(key, ticket)


@for_each("text", [*HOSTILE_TEXTS, "x" * 65536, "\n" * 60_000 + "end", "a " * 9000])
def test_a_snippet_is_one_short_line(text: str) -> None:
    snippet = rules.snippet(text)
    assert len(snippet) <= 160 and len(snippet.splitlines()) <= 1
    assert bool(snippet) == bool(text.strip())


FORGET = """
UPDATE tickets SET snippet = NULL, last_message_at = NULL, last_reply_by = NULL,
    last_customer_reply_at = NULL WHERE tenant_id = :tenant_id
"""


def test_rewriting_documents_fills_in_tickets_of_earlier_versions(
    own_service: Service, key: Key, tenant: Tenant
) -> None:
    asked = reply(key, key.ticket(), **BY_CUSTOMER)
    answered = reply(key, reply(key, key.ticket(), **BY_CUSTOMER), body="Answer")
    noted = reply(key, key.ticket(), body="A note", is_internal=True)
    new = key.ticket(description="New")

    async def forget_and_rewrite(tx: Tx) -> int:
        await tx.execute(FORGET, {"tenant_id": tenant.id})
        batch = await ready_documents.rewrite_batch(tx, tenant.id, ready_documents.FIRST_ID, 10)
        return batch.rewritten

    assert tenant.service.write(forget_and_rewrite) == 4
    for ticket in (asked, answered, noted, new):
        assert read(key, ticket) == ticket
    assert [snippet_of(tenant, each) for each in (answered, noted, new)] == [
        "Answer", f"{rules.NOTE_MARK}A note", "New",
    ]  # fmt: skip
