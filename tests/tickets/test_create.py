"""Creating tickets (spec decision 7)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk import clock, ids
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def faults(key: Key, **fields: Any) -> set[tuple[str, str]]:
    """(pointer, code) of the faults of a new ticket."""
    sent = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}, **fields}
    response = key.post(TICKETS, sent)
    assert response.status_code == 422, response.text
    assert key.walk(TICKETS) == []
    return {(fault["pointer"], fault["code"]) for fault in response.json()["errors"]}


def test_a_ticket_has_these_fields_and_defaults(key: Key) -> None:
    ticket = key.ticket(subject="Hello", description="There", customer={"email": "c@example.test"})
    customer = ticket.pop("customer")
    assert customer == {"id": customer["id"], "email": "c@example.test", "name": None}
    assert ticket == {
        "id": ticket["id"],
        "number": 1,
        "subject": "Hello",
        "description": "There",
        "status": "open",
        "priority": "medium",
        "source": "api",
        "assignee_id": None,
        "team_id": None,
        "tags": [],
        "custom_fields": {},
        "external_id": None,
        "reply_count": 0,
        "created_at": ticket["created_at"],
        "updated_at": ticket["created_at"],
        "first_response_at": None,
        "resolved_at": None,
        "closed_at": None,
        "last_reply_by": None,
        "merged_into_id": None,
        "snoozed_until": None,
        "attachments": [],
        "satisfaction": None,
        "last_customer_reply_at": None,
        "waiting_since": ticket["created_at"],
        "due": None,
        "version": 1,
    }


def test_every_writable_field_is_stored(key: Key, tenant: Tenant) -> None:
    given = {
        "subject": "Größe 😀",
        "description": "Line\nbreak",
        "status": "on_hold",
        "priority": "urgent",
        "assignee_id": tenant.user("agent"),
        "tags": ["b", "a"],
        "custom_fields": {"order": 7731, "parts": [1.5, None, {"x": True}]},
        "external_id": "order-7731",
    }
    ticket = key.ticket(**given)
    assert {name: ticket[name] for name in given} == given
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket


def test_creating_a_ticket_returns_201_with_its_location(key: Key) -> None:
    new = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    response = key.post(TICKETS, new)
    assert response.status_code == 201
    assert response.headers["location"] == f"{TICKETS}/{response.json()['data']['id']}"


def test_the_id_contains_the_time_of_creation_to_the_microsecond(key: Key) -> None:
    ticket = key.ticket()
    assert ticket["id"][14] == "7"
    assert clock.iso(ids.instant_of(ticket["id"])) == ticket["created_at"]


@pytest.mark.parametrize(
    ("status", "is_set"), [("open", None), ("pending", None), ("resolved", "resolved_at")]
)
def test_a_ticket_may_begin_in_any_status_but_closed(
    key: Key, status: str, is_set: str | None
) -> None:
    ticket = key.ticket(status=status)
    expected = {"resolved_at": None, "closed_at": None}
    if is_set:
        expected[is_set] = ticket["created_at"]
    assert {name: ticket[name] for name in expected} == expected
    assert faults(key.service.tenant().key(), status="closed") == {("/status", "invalid_value")}


@pytest.mark.parametrize("priority", ["low", "medium", "high", "urgent"])
def test_priorities_are_these_four(key: Key, priority: str) -> None:
    assert key.ticket(priority=priority)["priority"] == priority


# Lengths are in code points, so 255 characters beyond the basic plane fit.
@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_the_longest_texts_are_stored(key: Key, letter: str) -> None:
    ticket = key.ticket(
        subject=letter * 255,
        description=letter * 65536,
        tags=[letter * 64],
        external_id=letter * 255,
    )
    assert ticket["subject"] == letter * 255
    assert ticket["description"] == letter * 65536


@for_each(
    ("fields", "fault"),
    [
        ({"subject": "😀" * 256}, ("/subject", "too_long")),
        ({"subject": ""}, ("/subject", "too_short")),
        ({"subject": " \n\u2003"}, ("/subject", "too_short")),
        ({"subject": None}, ("/subject", "null_not_allowed")),
        ({"subject": ["s"]}, ("/subject", "invalid_type")),
        ({"description": "x" * 65537}, ("/description", "too_long")),
        ({"description": "\t"}, ("/description", "too_short")),
        ({"status": None}, ("/status", "null_not_allowed")),
        ({"priority": None}, ("/priority", "null_not_allowed")),
        ({"priority": 1}, ("/priority", "invalid_type")),
        ({"customer": None}, ("/customer", "null_not_allowed")),
        ({"customer": "c@example.test"}, ("/customer", "invalid_type")),
        ({"customer": {"email": None}}, ("/customer/email", "null_not_allowed")),
        ({"customer": {"email": "c@example.test", "name": "x" * 256}},
         ("/customer/name", "too_long")),
        ({"tags": [str(n) for n in range(51)]}, ("/tags", "too_many")),
        ({"tags": "refund"}, ("/tags", "invalid_type")),
        ({"custom_fields": {"x": "y" * 16384}}, ("/custom_fields", "too_large")),
        ({"external_id": 7731}, ("/external_id", "invalid_type")),
    ],
)  # fmt: skip
def test_an_invalid_field_is_named_and_nothing_is_stored(
    key: Key, fields: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert faults(key, **fields) == {fault}


def test_a_nullable_field_may_be_null(key: Key) -> None:
    ticket = key.ticket(assignee_id=None, tags=None, custom_fields=None, external_id=None)
    assert (ticket["assignee_id"], ticket["tags"], ticket["custom_fields"]) == (None, [], {})


def test_custom_fields_may_have_16_kib_of_json(key: Key) -> None:
    ticket = key.ticket(custom_fields={"x": "y" * (16384 - len('{"x":""}'))})
    assert len(ticket["custom_fields"]["x"]) == 16376


def test_repeated_tags_are_kept_once_in_any_case_in_their_order(key: Key) -> None:
    assert key.ticket(tags=["b", "a", "b", "A"])["tags"] == ["b", "a"]
    assert len(key.ticket(tags=[str(n) for n in range(50)])["tags"]) == 50


def test_external_ids_need_not_be_unique(key: Key) -> None:
    for _ in range(2):
        key.ticket(external_id="same")
    assert len(key.walk(f"{TICKETS}?external_id=same")) == 2


@pytest.mark.parametrize("strictness", [{}, {"prefer": "handling=strict"}])
def test_read_only_fields_are_ignored_without_a_warning(
    tenant: Tenant, strictness: dict[str, str]
) -> None:
    key = tenant.key(permissions=["tickets:write"])
    read_only = {
        "id": "x", "number": 99, "source": "email", "reply_count": 5, "version": 9,
        "created_at": 1, "updated_at": 1, "first_response_at": 1, "resolved_at": 1, "closed_at": 1,
    }  # fmt: skip
    customer = {"id": "x", "email": "c@example.test"}
    sent = {"subject": "s", "description": "d", "customer": customer, **read_only}
    response = key.post(TICKETS, sent, **strictness)
    assert response.status_code == 201
    assert "x-warnings" not in response.headers
    ticket = response.json()["data"]
    assert all(ticket[name] != value for name, value in read_only.items())


def test_the_customer_is_added_with_the_ticket(key: Key) -> None:
    ticket = key.ticket(customer={"email": "New@Example.test", "name": "Maria"})
    (customer,) = key.walk(CUSTOMERS)
    assert ticket["customer"] == {
        "id": customer["id"],
        "email": "New@Example.test",
        "name": "Maria",
    }
    assert customer["version"] == 1


@pytest.mark.parametrize(
    ("known", "sent"),
    [
        ("maria@example.test", "MARIA@Example.TEST"),
        ("jos\u00e9@example.test", "jose\u0301@example.test"),
        ("JOS\u00c9@example.test", "jose\u0301@example.test"),
    ],
)
def test_the_customer_is_found_whatever_the_case_and_composition(
    key: Key, known: str, sent: str
) -> None:
    customer = key.customer(known)
    ticket = key.ticket(customer={"email": sent})
    assert ticket["customer"] == {"id": customer["id"], "email": known, "name": None}
    assert key.walk(CUSTOMERS) == [customer]


@pytest.mark.parametrize("blank", [None, "", " "])
def test_a_missing_name_of_a_customer_is_filled_in(key: Key, blank: str | None) -> None:
    customer = key.customer("c@example.test", name=blank)
    ticket = key.ticket(customer={"email": "c@example.test", "name": "Maria"})
    assert ticket["customer"]["name"] == "Maria"
    (now,) = key.walk(CUSTOMERS)
    assert (now["name"], now["version"]) == ("Maria", 2)
    assert now["updated_at"] > customer["updated_at"]


@pytest.mark.parametrize("sent", ["Mary", "", None])
def test_a_stored_name_is_not_overwritten(key: Key, sent: str | None) -> None:
    customer = key.customer("c@example.test", name="Maria")
    ticket = key.ticket(customer={"email": "c@example.test", "name": sent})
    assert ticket["customer"]["name"] == "Maria"
    assert key.walk(CUSTOMERS) == [customer]


def test_a_blank_name_does_not_change_a_customer_without_one(key: Key) -> None:
    customer = key.customer("c@example.test")
    key.ticket(customer={"email": "c@example.test", "name": " "})
    assert key.walk(CUSTOMERS) == [customer]


def test_the_same_address_is_another_customer_in_another_tenant(key: Key, service: Service) -> None:
    ours = key.ticket(customer={"email": "c@example.test"})
    theirs = service.tenant().key().ticket(customer={"email": "c@example.test"})
    assert ours["customer"]["id"] != theirs["customer"]["id"]


def test_a_rejected_ticket_adds_no_customer(key: Key) -> None:
    new = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    assert key.post(TICKETS, {**new, "assignee_id": "nobody"}).status_code == 422
    assert key.walk(CUSTOMERS) == []


def test_numbers_rise_within_the_tenant(key: Key, service: Service) -> None:
    service.tenant().key().ticket()
    numbers = [key.ticket()["number"] for _ in range(3)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1


def test_numbers_are_unique_and_rising_when_many_create_at_once(key: Key) -> None:
    def create(_: int) -> list[int]:
        return [key.ticket()["number"] for _ in range(6)]

    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(create, range(8)))
    assert all(run == sorted(run) for run in runs)
    assert len({number for run in runs for number in run}) == 48


def test_a_customer_of_concurrent_new_tickets_is_added_once(key: Key) -> None:
    with ThreadPoolExecutor(8) as pool:
        tickets = list(
            pool.map(lambda _: key.ticket(customer={"email": "c@example.test"}), range(8))
        )
    (customer,) = key.walk(CUSTOMERS)
    assert {ticket["customer"]["id"] for ticket in tickets} == {customer["id"]}
