"""Interface section 4.2: the endpoints of the external API."""

import pytest

from tests.support.client import Key, Person

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def test_4_2_get_tickets_returns_a_list_of_tickets(key: Key) -> None:
    ticket = key.ticket()
    response = key.get(TICKETS)
    assert response.status_code == 200
    assert response.json()["data"] == [ticket]


@pytest.mark.parametrize(
    "query",
    ["per_page=5", "status=open", "priority=high", "sort_by=created_at", "sort=asc"],
)
def test_4_2_get_tickets_takes_each_parameter(key: Key, query: str) -> None:
    ticket = key.ticket(priority="high")
    assert key.get(f"{TICKETS}?{query}").json()["data"] == [ticket]


def test_4_2_get_tickets_takes_a_cursor(key: Key) -> None:
    older, newer = key.ticket(), key.ticket()
    first = key.get(f"{TICKETS}?per_page=1").json()
    assert first["data"] == [newer]
    cursor = first["meta"]["next_cursor"]
    assert key.get(f"{TICKETS}?per_page=1&cursor={cursor}").json()["data"] == [older]


def test_4_2_post_tickets_returns_the_ticket_with_its_id(key: Key) -> None:
    new = {"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}
    response = key.post(TICKETS, new)
    assert response.is_success
    assert response.json()["data"]["id"]


@pytest.mark.parametrize("missing", ["subject", "description", "customer"])
def test_4_2_post_tickets_needs_each_required_field(key: Key, missing: str) -> None:
    new = {"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}
    del new[missing]
    response = key.post(TICKETS, new)
    assert [fault["pointer"] for fault in response.json()["errors"]] == [f"/{missing}"]


def test_4_2_post_tickets_needs_the_email_of_the_customer(key: Key) -> None:
    response = key.post(TICKETS, {"subject": "S", "description": "D", "customer": {"name": "A"}})
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["/customer/email"]


def test_4_2_post_tickets_takes_a_priority_and_a_customer_name(key: Key) -> None:
    shown = key.ticket(priority="high", customer={"email": "a@example.test", "name": "Ada"})
    assert (shown["priority"], shown["customer"]["name"]) == ("high", "Ada")


def test_4_2_get_ticket_returns_the_ticket(key: Key) -> None:
    ticket = key.ticket()
    response = key.get(f"{TICKETS}/{ticket['id']}")
    assert response.status_code == 200
    assert response.json() == {"data": ticket}


def test_4_2_patch_ticket_changes_the_given_fields_only(key: Key) -> None:
    ticket = key.ticket()
    changed = key.patch(f"{TICKETS}/{ticket['id']}", {"subject": "New"}).json()["data"]
    kept = ("id", "description", "status", "priority", "customer", "created_at")
    assert changed["subject"] == "New"
    assert [changed[name] for name in kept] == [ticket[name] for name in kept]


def test_4_2_get_replies_returns_a_list_of_replies(key: Key) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    reply = key.post(path, {"body": "Hello"}).json()["data"]
    assert key.get(path).json() == {
        "data": [reply],
        "meta": {"per_page": 25, "has_more": False, "next_cursor": None},
    }


def test_4_2_get_replies_takes_per_page_and_cursor(key: Key) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    older, newer = (key.post(path, {"body": text}).json()["data"] for text in "ab")
    first = key.get(f"{path}?per_page=1").json()
    assert first["data"] == [newer]
    cursor = first["meta"]["next_cursor"]
    assert key.get(f"{path}?per_page=1&cursor={cursor}").json()["data"] == [older]


def test_4_2_post_replies_returns_the_reply(key: Key) -> None:
    response = key.post(f"{TICKETS}/{key.ticket()['id']}/replies", {"body": "Hello"})
    assert response.is_success
    assert response.json()["data"]["body"] == "Hello"


def test_4_2_get_customers_returns_a_list_of_customers(key: Key) -> None:
    customer = key.customer("ada@example.test")
    assert key.get(CUSTOMERS).json() == {
        "data": [customer],
        "meta": {"per_page": 25, "has_more": False, "next_cursor": None},
    }


def test_4_2_get_customers_takes_per_page_and_cursor(key: Key) -> None:
    older, newer = key.customer("a@example.test"), key.customer("b@example.test")
    first = key.get(f"{CUSTOMERS}?per_page=1").json()
    assert first["data"] == [newer]
    cursor = first["meta"]["next_cursor"]
    assert key.get(f"{CUSTOMERS}?per_page=1&cursor={cursor}").json()["data"] == [older]


def test_4_2_post_customers_returns_the_customer(key: Key) -> None:
    response = key.post(CUSTOMERS, {"email": "ada@example.test", "name": "Ada"})
    assert response.is_success
    assert response.json()["data"]["email"] == "ada@example.test"


def test_4_2_get_customer_returns_the_customer(key: Key) -> None:
    customer = key.customer("ada@example.test")
    response = key.get(f"{CUSTOMERS}/{customer['id']}")
    assert response.status_code == 200
    assert response.json() == {"data": customer}


def test_4_2_patch_customer_changes_the_given_fields_only(key: Key) -> None:
    customer = key.customer("ada@example.test", company="Acme")
    changed = key.patch(f"{CUSTOMERS}/{customer['id']}", {"name": "Ada"}).json()["data"]
    assert changed["name"] == "Ada"
    assert (changed["email"], changed["company"]) == ("ada@example.test", "Acme")


def test_4_2_a_response_with_status_204_has_no_body(key: Key, admin: Person) -> None:
    response = admin.delete(f"/api/v1/api-keys/{key.id}")
    assert (response.status_code, response.content) == (204, b"")
    assert "content-length" not in response.headers
