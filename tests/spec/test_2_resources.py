"""Interface section 2: resources, their fields, and the envelopes around them."""

import re
from typing import Any
from uuid import UUID

from tests.support.client import Key, Person
from tests.support.service import Tenant

KEYS = "/api/v1/api-keys"
TICKETS = "/api/v1/external/tickets"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    """A new key as the response of its creation shows it."""
    response = admin.post(KEYS, {"name": "Shop", **fields})
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


def listed(admin: Person, key_id: str) -> dict[str, Any]:
    """A key as the list shows it."""
    (shown,) = (one for one in admin.get(KEYS).json()["data"] if one["id"] == key_id)
    return dict(shown)


def test_2_1_id_is_a_uuid(admin: Person) -> None:
    key = made(admin)
    assert str(UUID(key["id"])) == key["id"]


def test_2_1_name_is_the_label_that_was_given(admin: Person) -> None:
    assert made(admin, name="Shop integration")["name"] == "Shop integration"


def test_2_1_name_is_required_on_create(admin: Person) -> None:
    response = admin.post(KEYS, {"rate_limit": 5})
    assert response.status_code == 422
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["/name"]


def test_2_1_key_prefix_is_tk_live_and_the_first_8_hex_characters(admin: Person) -> None:
    key = made(admin)
    assert re.fullmatch(r"tk_live_[0-9a-f]{8}", key["key_prefix"])
    assert key["api_key"].startswith(key["key_prefix"])


def test_2_1_permissions_are_names_of_resource_and_action(admin: Person) -> None:
    names = ["tickets:read", "tickets:write", "customers:read"]
    assert made(admin, permissions=names)["permissions"] == names


def test_2_1_permissions_are_optional_on_create(admin: Person) -> None:
    assert all(re.fullmatch(r"[a-z]+:[a-z]+", name) for name in made(admin)["permissions"])


def test_2_1_rate_limit_is_the_integer_that_was_given(admin: Person) -> None:
    assert made(admin, rate_limit=250)["rate_limit"] == 250


def test_2_1_rate_limit_is_optional_on_create(admin: Person) -> None:
    assert isinstance(made(admin)["rate_limit"], int)


def test_2_1_is_active_is_true_before_and_false_after_revocation(admin: Person) -> None:
    key = made(admin)
    assert key["is_active"] is True
    admin.delete(f"{KEYS}/{key['id']}")
    assert listed(admin, key["id"])["is_active"] is False


def test_2_1_last_used_at_is_null_in_the_list_before_the_first_use(admin: Person) -> None:
    assert listed(admin, made(admin)["id"])["last_used_at"] is None


def test_2_1_last_used_at_is_a_timestamp_in_the_list_after_a_use(admin: Person, key: Key) -> None:
    key.get(TICKETS)
    assert ISO.fullmatch(listed(admin, key.id)["last_used_at"])


def test_2_1_expires_at_null_means_no_expiry(admin: Person) -> None:
    assert made(admin)["expires_at"] is None
    assert made(admin, expires_at=None)["expires_at"] is None


def test_2_1_expires_at_is_the_instant_that_was_given(admin: Person) -> None:
    key = made(admin, expires_at="2100-01-31T09:30:00Z")
    assert key["expires_at"] == "2100-01-31T09:30:00.000000Z"


def test_2_1_created_at_is_an_iso_8601_utc_timestamp(admin: Person) -> None:
    assert ISO.fullmatch(made(admin)["created_at"])


def test_2_1_api_key_is_tk_live_and_40_hex_characters(admin: Person) -> None:
    assert re.fullmatch(r"tk_live_[0-9a-f]{40}", made(admin)["api_key"])


def test_2_1_api_secret_of_a_new_key_is_64_hex_characters(admin: Person) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", made(admin)["api_secret"])


def test_2_1_api_secret_of_a_rotated_key_is_64_hex_characters(admin: Person) -> None:
    rotated = admin.post(f"{KEYS}/{made(admin)['id']}/rotate").json()["data"]
    assert re.fullmatch(r"[0-9a-f]{64}", rotated["api_secret"])


def test_2_1_the_key_and_the_secret_are_in_no_later_response(admin: Person) -> None:
    key = made(admin)
    path = f"{KEYS}/{key['id']}"
    responses = [admin.get(KEYS), admin.get(path), admin.patch(path, {"name": "Other"})]
    responses += [admin.post(f"{path}/rotate"), admin.delete(path)]
    texts = " ".join(response.text for response in responses)
    assert key["api_key"] not in texts
    assert key["api_secret"] not in texts


def test_2_1_the_secret_is_shown_again_only_by_rotation_as_a_new_one(admin: Person) -> None:
    key = made(admin)
    rotated = admin.post(f"{KEYS}/{key['id']}/rotate").json()["data"]
    assert rotated["api_secret"] != key["api_secret"]
    assert rotated["api_secret"] not in admin.get(KEYS).text


def test_2_1_the_list_contains_neither_api_key_nor_api_secret(admin: Person) -> None:
    shown = listed(admin, made(admin)["id"])
    assert {"api_key", "api_secret"}.isdisjoint(shown)


def test_2_2_a_ticket_is_created_from_subject_description_priority_and_customer(key: Key) -> None:
    customer = {"email": "maria@example.test", "name": "Maria"}
    shown = key.ticket(subject="S", description="D", priority="high", customer=customer)
    assert (shown["subject"], shown["description"], shown["priority"]) == ("S", "D", "high")
    assert (shown["customer"]["email"], shown["customer"]["name"]) == (
        "maria@example.test",
        "Maria",
    )


def test_2_2_the_name_of_the_customer_is_optional(key: Key) -> None:
    assert key.ticket(customer={"email": "maria@example.test"})["customer"]["name"] is None


def test_2_2_the_id_of_a_ticket_is_a_string(key: Key) -> None:
    assert isinstance(key.ticket()["id"], str)


def test_2_2_tickets_are_filtered_by_status(key: Key) -> None:
    key.ticket(status="pending")
    open_one = key.ticket(status="open")
    assert key.walk(f"{TICKETS}?status=open") == [open_one]


def test_2_2_tickets_are_filtered_by_priority(key: Key) -> None:
    key.ticket(priority="low")
    high = key.ticket(priority="high")
    assert key.walk(f"{TICKETS}?priority=high") == [high]


def test_2_3_a_reply_is_created_with_a_body(key: Key) -> None:
    response = key.post(f"{TICKETS}/{key.ticket()['id']}/replies", {"body": "Hello"})
    assert response.json()["data"]["body"] == "Hello"


def test_2_4_customers_have_an_id(key: Key) -> None:
    assert isinstance(key.customer("ada@example.test")["id"], str)


def test_2_4_the_customer_in_a_ticket_carries_email_and_name(key: Key) -> None:
    customer = key.customer("ada@example.test", name="Ada")
    shown = key.ticket(customer={"email": "ada@example.test"})["customer"]
    assert shown == {"id": customer["id"], "email": "ada@example.test", "name": "Ada"}


def test_2_5_a_single_resource_is_in_data_alone(key: Key) -> None:
    ticket = key.ticket()
    assert key.get(f"{TICKETS}/{ticket['id']}").json() == {"data": ticket}


def test_2_5_a_list_is_in_data_with_meta_beside_it(tenant: Tenant) -> None:
    key = tenant.key()
    ticket = key.ticket()
    assert key.get(TICKETS).json() == {
        "data": [ticket],
        "meta": {"per_page": 25, "has_more": False, "next_cursor": None},
    }
