"""PUT by external_id creates a customer once, and changes them after that."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.support.client import Key
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"
PATH = f"{CUSTOMERS}/by-external-id"


def test_a_customer_is_created_then_changed_then_left_alone(tenant: Tenant, key: Key) -> None:
    created = key.call("PUT", f"{PATH}/C-1", {"email": "ana@shop.example", "phone": "123"})
    assert created.status_code == 201
    customer = created.json()["data"]
    assert (customer["external_id"], customer["phone"], customer["version"]) == ("C-1", "123", 1)
    changed = key.call("PUT", f"{PATH}/C-1", {"email": "ana@shop.example", "name": "Ana"})
    assert changed.status_code == 200
    after = changed.json()["data"]
    assert after | {"updated_at": ""} == customer | {"name": "Ana", "version": 2, "updated_at": ""}
    again = key.call("PUT", f"{PATH}/C-1", {"email": "ana@shop.example", "name": "Ana"})
    assert (again.json()["data"], again.headers["etag"]) == (after, changed.headers["etag"])
    tenant.service.settle()
    types = [event["type"] for event in key.get("/api/v1/external/events").json()["data"]]
    assert types == ["customer.created", "customer.updated"]


def test_the_customer_with_the_address_gets_the_external_id(key: Key) -> None:
    known = key.ticket(customer={"email": "bo@shop.example", "name": "Bo"})["customer"]
    response = key.call("PUT", f"{PATH}/C-2", {"email": "BO@shop.example"})
    assert (response.status_code, response.json()["data"]["id"]) == (200, known["id"])
    assert response.json()["data"]["external_id"] == "C-2"
    taken = key.call("PUT", f"{PATH}/C-3", {"email": "bo@shop.example"})
    assert (taken.status_code, taken.json()["code"]) == (409, "customer_email_taken")
    assert taken.json()["existing_id"] == known["id"]


def test_an_external_id_of_several_customers_changes_none(key: Key) -> None:
    for name in "ab":
        key.post(CUSTOMERS, {"email": f"{name}@shop.example", "external_id": "same"})
    response = key.call("PUT", f"{PATH}/same", {"email": "a@shop.example", "name": "A"})
    assert (response.status_code, response.json()["code"]) == (409, "external_id_not_unique")


@pytest.mark.parametrize("text", ["a/b", "ü %2F?", "by-external-id", "x" * 255])
def test_an_external_id_is_any_percent_encoded_text(key: Key, text: str) -> None:
    email = "any@shop.example"
    response = key.call("PUT", f"{PATH}/{quote(text, safe='')}", {"email": email})
    assert (response.status_code, response.json()["data"]["external_id"]) == (201, text)


@pytest.mark.parametrize("path", ["%FF", "%00", "%20", "x" * 256, "", "a/b"])
def test_what_cannot_be_an_external_id_is_not_found(key: Key, path: str) -> None:
    assert key.call("PUT", f"{PATH}/{path}", {"email": "a@b.example"}).status_code == 404


def test_at_once_only_one_is_created(tenant: Tenant) -> None:
    key = tenant.key()
    with ThreadPoolExecutor(4) as pool:
        bodies = [{"email": f"c{n}@shop.example"} for n in range(4)]
        responses = list(pool.map(lambda each: key.call("PUT", f"{PATH}/C-9", each), bodies))
    assert sorted(each.status_code for each in responses) == [200, 200, 200, 201]
    assert len(key.walk(f"{CUSTOMERS}?external_id=C-9")) == 1


def test_a_signature_of_a_put_is_good_for_one_use(tenant: Tenant) -> None:
    key = tenant.key(replay_protection="writes")
    signed = key.signature_headers("PUT", f"{PATH}/C-5", b'{"email": "a@b.example"}')
    change = {"email": "a@b.example"}
    sent = [key.call("PUT", f"{PATH}/C-5", change, headers=signed) for _ in range(2)]
    assert [each.status_code for each in sent] == [201, 401]
