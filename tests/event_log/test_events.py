"""The outbox: every change records its events in its transaction (spec decision 11)."""

import json
from typing import Any, NamedTuple

import pytest

from tests.support.client import Key
from tests.support.feed import recorded_in
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
NEW = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
BY_CUSTOMER = {"body": "Hello", "author": {"type": "customer"}}


class Event(NamedTuple):
    """A recorded event."""

    type: str
    object: dict[str, Any]
    changes: dict[str, list[Any]]


class Outbox:
    """The events of a tenant since the last read."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self._seen = ""

    def news(self) -> list[Event]:
        """The events since the last read, in the order of the writes, without those of API keys."""
        self._tenant.service.settle()
        rows = self._tenant.service.rows(
            "SELECT id, type, object, changes FROM events"
            " WHERE tenant_id = :tenant_id AND id > :seen AND type NOT LIKE 'api_key%'"
            " ORDER BY id LIMIT 100",
            tenant_id=self._tenant.id,
            seen=self._seen,
        )
        self._seen = rows[-1]["id"] if rows else self._seen
        return [
            Event(row["type"], json.loads(row["object"]), json.loads(row["changes"]))
            for row in rows
        ]


@pytest.fixture
def outbox(tenant: Tenant) -> Outbox:
    return Outbox(tenant)


def read(key: Key, path: str) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(path).json()["data"]
    return shown


def test_a_new_ticket_of_a_new_customer(key: Key, outbox: Outbox) -> None:
    ticket = key.ticket()
    customer = read(key, f"{CUSTOMERS}/{ticket['customer']['id']}")
    assert outbox.news() == [
        Event("customer.created", customer, {}),
        Event("ticket.created", ticket, {}),
    ]


def test_a_new_ticket_that_names_its_customer(key: Key, outbox: Outbox) -> None:
    key.customer("c@example.test")
    outbox.news()
    ticket = key.ticket(customer={"email": "c@example.test", "name": "Maria"})
    customer = read(key, f"{CUSTOMERS}/{ticket['customer']['id']}")
    assert outbox.news() == [
        Event("customer.updated", customer, {"name": [None, "Maria"]}),
        Event("ticket.created", ticket, {}),
    ]


def test_change_event_has_old_and_new_value_of_each_field(
    key: Key, tenant: Tenant, outbox: Outbox
) -> None:
    ticket = key.ticket(tags=["a"], custom_fields={"n": 1}, external_id="x")
    agent = tenant.user("agent")
    outbox.news()
    change = {
        "subject": "Other",
        "priority": "high",
        "tags": ["b"],
        "custom_fields": {"n": True},
        "external_id": None,
        "assignee_id": agent,
        "description": ticket["description"],
    }
    after = key.patch(f"{TICKETS}/{ticket['id']}", change).json()["data"]
    (event,) = outbox.news()
    assert event == Event(
        "ticket.updated",
        after,
        {
            "subject": ["A subject", "Other"],
            "priority": ["medium", "high"],
            "tags": [["a"], ["b"]],
            "custom_fields": [{"n": 1}, {"n": True}],
            "external_id": ["x", None],
            "assignee_id": [None, agent],
        },
    )
    assert event.changes["custom_fields"][1]["n"] is True


def test_status_change_has_its_own_event_beside_the_update(key: Key, outbox: Outbox) -> None:
    ticket = key.ticket()
    outbox.news()
    change = {"status": "resolved", "subject": "Other"}
    after = key.patch(f"{TICKETS}/{ticket['id']}", change).json()["data"]
    moved = {"status": ["open", "resolved"]}
    assert outbox.news() == [
        Event("ticket.updated", after, {"subject": ["A subject", "Other"], **moved}),
        Event("ticket.status_changed", after, moved),
    ]


def test_reply_event_has_the_form_of_the_api(key: Key, outbox: Outbox) -> None:
    ticket = key.ticket()
    outbox.news()
    reply = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"}).json()["data"]
    assert outbox.news() == [Event("reply.created", reply, {})]


def test_reply_that_reopens_records_the_status_change(key: Key, outbox: Outbox) -> None:
    path = f"{TICKETS}/{key.ticket(status='resolved')['id']}"
    outbox.news()
    reply = key.post(f"{path}/replies", BY_CUSTOMER).json()["data"]
    moved = {"status": ["resolved", "open"]}
    after = read(key, path)
    assert outbox.news() == [
        Event("reply.created", reply, {}),
        Event("ticket.updated", after, moved),
        Event("ticket.status_changed", after, moved),
    ]


def test_customer_event_names_the_changed_fields(key: Key, outbox: Outbox) -> None:
    customer = key.customer("c@example.test", metadata={"n": 1})
    assert outbox.news() == [Event("customer.created", customer, {})]
    change = {"email": "d@example.test", "metadata": {"n": 1.0}, "company": None}
    after = key.patch(f"{CUSTOMERS}/{customer['id']}", change).json()["data"]
    assert outbox.news() == [
        Event(
            "customer.updated",
            after,
            {
                "email": ["c@example.test", "d@example.test"],
                "metadata": [{"n": 1}, {"n": 1.0}],
            },
        )
    ]


def test_request_that_changes_nothing_records_no_event(key: Key, outbox: Outbox) -> None:
    ticket = key.ticket(status="resolved")
    customer = f"{CUSTOMERS}/{ticket['customer']['id']}"
    outbox.news()
    for path, change in (
        (f"{TICKETS}/{ticket['id']}", {}),
        (f"{TICKETS}/{ticket['id']}", {"status": "resolved", "tags": None}),
        (customer, {}),
        (customer, {"email": "customer@example.test"}),
    ):
        assert key.patch(path, change).status_code == 200
    assert outbox.news() == []


def test_refused_request_records_no_event(key: Key, outbox: Outbox) -> None:
    ticket = key.ticket(status="resolved")
    path = f"{TICKETS}/{ticket['id']}"
    key.patch(path, {"status": "closed"})
    outbox.news()
    key.post(f"{path}/replies", BY_CUSTOMER)
    key.patch(path, {"status": "pending", "subject": "Other"})
    key.patch(path, {"subject": "Other"}, if_match='"0.0"')
    key.post(TICKETS, NEW | {"customer": {"email": "new@example.test"}, "assignee_id": "x"})
    key.post(CUSTOMERS, {"email": "customer@example.test"})
    assert outbox.news() == []


def test_repeated_request_records_no_second_event(key: Key, outbox: Outbox) -> None:
    for _ in range(2):
        key.post(TICKETS, NEW, idempotency_key="once")
    assert [event.type for event in outbox.news()] == ["customer.created", "ticket.created"]


@pytest.mark.parametrize("doomed", ["ticket.created", "reply.created", "ticket.status_changed"])
def test_a_change_is_undone_when_its_event_cannot_be_recorded(
    own_service: Service, doomed: str
) -> None:
    key = own_service.tenant().key()
    ticket = key.ticket(status="resolved")
    own_service.refuse_rows(recorded_in(own_service), f"NEW.type = '{doomed}'")
    path = f"{TICKETS}/{ticket['id']}"
    answer = {
        "ticket.created": lambda: key.post(TICKETS, NEW | {"customer": {"email": "n@x.test"}}),
        "reply.created": lambda: key.post(f"{path}/replies", BY_CUSTOMER),
        "ticket.status_changed": lambda: key.patch(path, {"status": "open"}),
    }[doomed]()
    assert answer.status_code >= 500
    assert key.walk(TICKETS) == [ticket]
    assert key.walk(f"{path}/replies") == []
    assert len(key.walk(CUSTOMERS)) == 1
