"""The history of a ticket: who changed which field, and when."""

from typing import Any

import msgspec
import pytest

from tests.support.client import Key
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"


def history(service: Service, ticket: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """(kind of actor, name, changes) of a ticket, oldest first."""
    rows = service.rows(
        "SELECT actor_kind, actor_name, changes FROM ticket_changes WHERE ticket_id = :id"
        " ORDER BY id LIMIT 100",
        id=ticket["id"],
    )
    return [(row[0], row[1], msgspec.json.decode(row[2])) for row in rows]


@pytest.fixture
def shop(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


def test_the_history_records_a_change_with_its_actor(service: Service, shop: Key) -> None:
    ticket = shop.ticket(tags=["a"])
    shop.patch(f"{TICKETS}/{ticket['id']}", {"status": "pending", "tags": ["a", "b"]})
    shop.patch(f"{TICKETS}/{ticket['id']}", {"subject": "Other"})
    assert history(service, ticket) == [
        ("api_key", "Shop", {"status": ["open", "pending"], "tags": [["a"], ["a", "b"]]}),
        ("api_key", "Shop", {"subject": ["A subject", "Other"]}),
    ]


def test_the_history_records_the_beginning_of_long_texts(service: Service, shop: Key) -> None:
    ticket = shop.ticket(description="d" * 65_536)
    long = {"description": "e" * 65_536, "custom_fields": {"a": "ü" * 400}, "subject": "s" * 255}
    assert shop.patch(f"{TICKETS}/{ticket['id']}", long).status_code == 200
    ((_, _, changes),) = history(service, ticket)
    assert changes == {
        "subject": ["A subject", "s" * 255],
        "description": ["d" * 255 + "…", "e" * 255 + "…"],
        "custom_fields": [{}, {"a": "ü" * 255 + "…"}],
    }


def test_the_history_records_no_change_without_a_difference(service: Service, shop: Key) -> None:
    ticket = shop.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    for body in ({}, {"status": "open"}, {"subject": "A subject", "version": 1}):
        assert shop.patch(path, body).status_code == 200
    assert shop.patch(path, {"priority": "dire"}).status_code == 422
    assert shop.patch(path, {"priority": "high"}, if_match='"9.9"').status_code == 412
    assert shop.post(f"{path}/replies", {"body": "Hello"}).status_code == 201
    assert history(service, ticket) == []


def test_the_history_records_a_ticket_reopened_by_its_customer(service: Service, shop: Key) -> None:
    ticket = shop.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    shop.patch(path, {"status": "resolved"})
    shop.post(f"{path}/replies", {"body": "It broke again", "author": {"type": "customer"}})
    assert [changes for _, _, changes in history(service, ticket)] == [
        {"status": ["open", "resolved"]},
        {"status": ["resolved", "open"]},
    ]


def test_history_and_change_are_stored_together_or_not_at_all(
    own_service: Service,
) -> None:
    key = own_service.tenant().key()
    ticket = key.ticket()
    own_service.refuse_rows("ticket_changes")
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"status": "pending"})
    assert response.status_code >= 500
    own_service.take_rows("ticket_changes")
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["status"] == "open"
