"""Customers without tickets can be deleted; those with tickets cannot."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.client import Key
from tests.support.searching import wait_until_customers
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"
EVENTS = "/api/v1/external/events"


def test_a_deleted_customer_is_gone_and_the_feed_tells(tenant: Tenant, key: Key) -> None:
    customer = key.customer("ana@shop.example", name="Anabelle Quist")
    path = f"{CUSTOMERS}/{customer['id']}"
    wait_until_customers(tenant, "Anabelle", customer["id"])
    assert key.delete(path).status_code == 204
    wait_until_customers(tenant, "Anabelle")
    assert [key.get(path).status_code, key.delete(path).status_code] == [404, 404]
    tenant.service.settle()
    event = key.get(EVENTS).json()["data"][-1]
    assert (event["type"], event["data"]) == (
        "customer.deleted", {"object": customer, "changes": {}},
    )  # fmt: skip
    again = key.customer("ana@shop.example")
    assert again["id"] != customer["id"]


def test_a_customer_with_a_ticket_stays(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(customer={"email": "bo@shop.example"})
    path = f"{CUSTOMERS}/{ticket['customer']['id']}"
    refused = key.delete(path)
    assert (refused.status_code, refused.json()["code"]) == (409, "customer_has_tickets")
    assert key.get(path).status_code == 200
    tenant.service.settle()
    types = [event["type"] for event in key.get(EVENTS).json()["data"]]
    assert types == ["customer.created", "ticket.created"]


def test_another_tenants_customer_cannot_be_deleted(tenant: Tenant, key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('cy@shop.example')['id']}"
    stranger = tenant.service.tenant().key()
    assert stranger.delete(path).status_code == 404
    assert key.get(path).status_code == 200


def test_a_ticket_that_is_opened_meanwhile_has_a_customer(tenant: Tenant) -> None:
    key, email = tenant.key(), "di@shop.example"
    ids = [key.customer(f"{n}{email}")["id"] for n in range(8)]

    def delete_or_open(n: int) -> int:
        if n % 2:
            return key.delete(f"{CUSTOMERS}/{ids[n // 2]}").status_code
        new = {"subject": "S", "description": "D", "customer": {"email": f"{n // 2}{email}"}}
        return key.post("/api/v1/external/tickets", new).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(delete_or_open, range(16)))
    assert set(statuses[::2]) == {201}
    assert set(statuses[1::2]) <= {204, 409}
    shown = key.walk("/api/v1/external/tickets")
    assert {key.get(f"{CUSTOMERS}/{t['customer']['id']}").status_code for t in shown} == {200}


def test_a_customer_that_has_changed_since_is_not_deleted(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    seen = key.get(path).headers["etag"]
    key.patch(path, {"name": "Ada"})
    refused = key.delete(path, if_match=seen)
    assert (refused.status_code, refused.json()["code"]) == (412, "version_mismatch")
    assert key.delete(path, if_match="1").status_code == 400
    assert refused.json()["current"] == key.get(path).headers["etag"]
    assert key.delete(path, if_match=f"W/{refused.json()['current']}").status_code == 204
    assert key.delete(path, if_match="*").status_code == 404
