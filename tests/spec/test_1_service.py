"""Interface section 1: what the service does."""

from tests.support.client import Key, Person
from tests.support.service import Service, Tenant


def test_1_each_tenant_sees_only_its_own_data(service: Service, key: Key) -> None:
    other = service.tenant("Other").key()
    other.ticket()
    assert key.walk("/api/v1/external/tickets") == []


def test_1_all_bodies_are_json(key: Key) -> None:
    response = key.get("/api/v1/external/tickets")
    assert response.headers["content-type"] == "application/json"


def test_1_an_integration_calls_with_a_key_and_a_secret(key: Key) -> None:
    assert key.get("/api/v1/external/whoami").status_code == 200


def test_1_each_request_is_signed(service: Service, key: Key) -> None:
    unsigned = Person(service, "").get("/api/v1/external/whoami", x_api_key=key.api_key)
    assert unsigned.status_code == 401


def test_1_an_integration_creates_lists_reads_and_updates_tickets(key: Key) -> None:
    path = f"/api/v1/external/tickets/{key.ticket()['id']}"
    changed = key.patch(path, {"subject": "Another subject"}).json()["data"]
    assert changed["subject"] == "Another subject"
    assert key.get(path).json()["data"] == changed
    assert key.walk("/api/v1/external/tickets") == [changed]


def test_1_an_integration_adds_and_lists_replies(key: Key) -> None:
    path = f"/api/v1/external/tickets/{key.ticket()['id']}/replies"
    added = key.post(path, {"body": "Hello"}).json()["data"]
    assert key.walk(path) == [added]


def test_1_an_integration_creates_lists_reads_and_updates_customers(key: Key) -> None:
    path = f"/api/v1/external/customers/{key.customer('ada@example.test')['id']}"
    changed = key.patch(path, {"name": "Ada"}).json()["data"]
    assert changed["name"] == "Ada"
    assert key.get(path).json()["data"] == changed
    assert key.walk("/api/v1/external/customers") == [changed]


def test_1_an_administrator_creates_lists_rotates_and_revokes_keys(tenant: Tenant) -> None:
    admin = tenant.admin()
    made = admin.post("/api/v1/api-keys", {"name": "Shop"}).json()["data"]
    path = f"/api/v1/api-keys/{made['id']}"
    assert [one["id"] for one in admin.get("/api/v1/api-keys").json()["data"]] == [made["id"]]
    assert admin.post(f"{path}/rotate").status_code == 200
    assert admin.delete(path).status_code == 204
    assert admin.get(path).json()["data"]["is_active"] is False
