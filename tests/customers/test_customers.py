"""Customers (spec decision 8)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sealdesk import clock, ids
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service

CUSTOMERS = "/api/v1/external/customers"
STRICT = {"prefer": "handling=strict"}
NULLABLE = ("name", "phone", "company", "external_id", "metadata")


def patched(key: Key, customer: dict[str, Any], **change: Any) -> dict[str, Any]:
    """The customer after a successful change."""
    response = key.patch(f"{CUSTOMERS}/{customer['id']}", change)
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    assert key.get(f"{CUSTOMERS}/{customer['id']}").json()["data"] == shown
    return shown


def fault(response: httpx.Response) -> tuple[str, str]:
    assert response.status_code == 422, response.text
    (only,) = response.json()["errors"]
    return only["pointer"], only["code"]


def test_a_customer_has_these_fields_and_defaults(key: Key) -> None:
    customer = key.customer("c@example.test")
    assert customer == {
        "id": customer["id"],
        "email": "c@example.test",
        "name": None,
        "phone": None,
        "company": None,
        "external_id": None,
        "metadata": {},
        "other_emails": [],
        "other_phones": [],
        "merged_into_id": None,
        "created_at": clock.iso(ids.instant_of(customer["id"])),
        "updated_at": customer["created_at"],
        "version": 1,
    }


def test_creating_a_customer_returns_201_and_its_location(key: Key) -> None:
    response = key.post(CUSTOMERS, {"email": "c@example.test"})
    assert response.status_code == 201
    place = response.headers["location"]
    assert place == f"{CUSTOMERS}/{response.json()['data']['id']}"
    assert key.get(place).json() == response.json()


def test_every_writable_field_is_stored(key: Key) -> None:
    given: dict[str, Any] = {
        "email": "Zoë.Größe+tag@EXAMPLE.test",
        "name": "😀" * 255,
        "phone": "5" * 64,
        "company": "x" * 255,
        "external_id": "y" * 255,
        "metadata": {"x": "y" * (16384 - len('{"x":""}'))},
    }
    customer = key.customer(**given)
    assert {name: customer[name] for name in given} == given


@for_each(
    ("fields", "expected"),
    [
        ({"email": ""}, ("/email", "invalid_email")),
        ({"email": None}, ("/email", "null_not_allowed")),
        ({"email": 5}, ("/email", "invalid_type")),
        ({"email": "c"}, ("/email", "invalid_email")),
        ({"email": " c@example.test"}, ("/email", "invalid_email")),
        ({"email": "C <c@example.test>"}, ("/email", "invalid_email")),
        ({"email": "c@example.test, d@example.test"}, ("/email", "invalid_email")),
        ({"email": f"c@{'example.' * 32}test"}, ("/email", "invalid_email")),
        ({"name": "x" * 256}, ("/name", "too_long")),
        ({"phone": "5" * 65}, ("/phone", "too_long")),
        ({"phone": 5}, ("/phone", "invalid_type")),
        ({"company": "x" * 256}, ("/company", "too_long")),
        ({"external_id": "x" * 256}, ("/external_id", "too_long")),
        ({"metadata": []}, ("/metadata", "invalid_type")),
        ({"metadata": {"x": "y" * 16384}}, ("/metadata", "too_large")),
    ],
)
def test_an_invalid_field_is_named_and_nothing_is_stored(
    key: Key, fields: dict[str, Any], expected: tuple[str, str]
) -> None:
    before = key.walk(CUSTOMERS)
    assert fault(key.post(CUSTOMERS, {"email": "c@example.test", **fields})) == expected
    assert key.walk(CUSTOMERS) == before
    customer = key.customer(f"known-{len(before)}@example.test")
    assert fault(key.patch(f"{CUSTOMERS}/{customer['id']}", fields)) == expected
    assert customer in key.walk(CUSTOMERS)


def test_an_email_address_is_required(key: Key) -> None:
    assert fault(key.post(CUSTOMERS, {"name": "Maria"})) == ("/email", "required")


@pytest.mark.parametrize("name", NULLABLE)
def test_every_field_but_the_address_may_be_null(key: Key, name: str) -> None:
    empty: Any = {} if name == "metadata" else None
    full = {n: {"x": 1} if n == "metadata" else "x" for n in NULLABLE}
    assert key.customer("a@example.test", **{name: None})[name] == empty
    customer = key.customer("b@example.test", **full)
    after = patched(key, customer, **{name: None})
    assert after == customer | {name: empty, "version": 2, "updated_at": after["updated_at"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("email", "other@example.test"),
        ("name", "Other"),
        ("phone", "+49 30 1234"),
        ("company", "Santos"),
        ("external_id", "C-1"),
        ("metadata", {"plan": "pro"}),
    ],
)
def test_each_of_these_can_be_changed(key: Key, name: str, value: Any) -> None:
    customer = key.customer("c@example.test")
    after = patched(key, customer, **{name: value})
    assert after == customer | {name: value, "version": 2, "updated_at": after["updated_at"]}
    assert after["updated_at"] > customer["updated_at"]


@pytest.mark.parametrize(
    "change",
    [{}, {"name": "Maria"}, {"phone": None}, {"metadata": {}}, {"metadata": {"absent": None}}],
)
def test_a_change_without_a_difference_keeps_version_and_time(
    key: Key, change: dict[str, Any]
) -> None:
    customer = key.customer("c@example.test", name="Maria", metadata={"x": 1})
    assert patched(key, customer, **change) == customer


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ({"b": 2}, {"a": {"x": 1, "y": [1]}, "n": 1, "b": 2}),
        ({"a": {"x": None, "z": {}}}, {"a": {"y": [1], "z": {}}, "n": 1}),
        ({"a": None, "n": True}, {"n": True}),
    ],
)
def test_metadata_are_merged(key: Key, patch: dict[str, Any], after: dict[str, Any]) -> None:
    customer = key.customer("c@example.test", metadata={"a": {"x": 1, "y": [1]}, "n": 1})
    # By their text: Python takes 1 and true for equal.
    assert repr(patched(key, customer, metadata=patch)["metadata"]) == repr(after)


def test_metadata_that_grow_over_16_kib_together_are_refused(key: Key) -> None:
    customer = key.customer("c@example.test", metadata={"a": "x" * 10_000})
    response = key.patch(f"{CUSTOMERS}/{customer['id']}", {"metadata": {"b": "x" * 10_000}})
    assert fault(response) == ("/metadata", "too_large")
    assert key.walk(CUSTOMERS) == [customer]


@pytest.mark.parametrize("strictness", [{}, STRICT])
def test_a_customer_can_be_read_changed_and_sent_back(key: Key, strictness: dict[str, str]) -> None:
    customer = key.customer("c@example.test", metadata={"x": 1})
    response = key.patch(f"{CUSTOMERS}/{customer['id']}", customer | {"name": "M"}, **strictness)
    assert response.status_code == 200
    assert "x-warnings" not in response.headers
    assert response.json()["data"]["name"] == "M"
    copy = customer | {"email": "copy@example.test"}
    assert key.post(CUSTOMERS, copy, **strictness).status_code == 201


# Identity is NFC and lower case; 'é' is sent composed and decomposed.
SAME = [
    ("maria@example.test", "maria@example.test"),
    ("maria@example.test", "MARIA@Example.TEST"),
    ("jos\u00e9@example.test", "JOSE\u0301@example.test"),
]


@pytest.mark.parametrize(("known", "sent"), SAME)
def test_a_taken_address_is_409_with_the_id_of_its_owner(key: Key, known: str, sent: str) -> None:
    owner = key.customer(known)
    other = key.customer("other@example.test")
    for response in (
        key.post(CUSTOMERS, {"email": sent}),
        key.patch(f"{CUSTOMERS}/{other['id']}", {"email": sent, "name": "x"}),
    ):
        problem = response.json()
        assert (response.status_code, problem["code"]) == (409, "customer_email_taken")
        assert problem["existing_id"] == owner["id"]
    assert key.walk(CUSTOMERS) == [other, owner]


def test_an_address_is_shown_as_it_was_given_and_its_case_may_change(key: Key) -> None:
    customer = key.customer("Maria@Example.test")
    assert customer["email"] == "Maria@Example.test"
    after = patched(key, customer, email="maria@example.TEST")
    assert (after["email"], after["version"]) == ("maria@example.TEST", 2)


@pytest.mark.parametrize("blank", ["", " \n", "\u200b", "\u3164", "\U0001d159"])
def test_a_text_that_nobody_can_see_is_none(key: Key, blank: str) -> None:
    unseen = dict.fromkeys(("name", "company", "phone"), blank) | {"other_phones": [blank or " "]}
    created = key.post(CUSTOMERS, {"email": "a@example.test", **unseen}).json()["data"]
    seen = {"name": "A", "company": "B", "phone": "1", "other_phones": ["2"]}
    patched(key, created, **seen)
    for customer in (created, patched(key, created, **unseen)):
        shown = [customer[name] for name in ("name", "company", "phone", "other_phones")]
        assert shown == [None, None, None, []]


def test_a_former_address_can_be_used_again(key: Key) -> None:
    customer = key.customer("old@example.test")
    patched(key, customer, email="new@example.test")
    assert key.customer("OLD@example.test")["id"] != customer["id"]
    assert key.post(CUSTOMERS, {"email": "New@example.test"}).status_code == 409


def test_an_address_belongs_to_one_customer_of_each_tenant(key: Key, service: Service) -> None:
    key.customer("c@example.test")
    assert service.tenant().key().customer("c@example.test")["version"] == 1


def test_one_of_two_concurrent_creates_of_one_address_succeeds(key: Key) -> None:
    with ThreadPoolExecutor(2) as pool:
        responses = list(
            pool.map(lambda email: key.post(CUSTOMERS, {"email": email}), ["C@x.test", "c@x.test"])
        )
    won, lost = sorted(responses, key=lambda response: response.status_code)
    assert (won.status_code, lost.status_code) == (201, 409)
    assert lost.json()["existing_id"] == won.json()["data"]["id"]
    assert key.walk(CUSTOMERS) == [won.json()["data"]]


def test_external_ids_need_not_be_unique(key: Key) -> None:
    for n in range(2):
        key.customer(f"c{n}@example.test", external_id="same")
    assert len(key.walk(f"{CUSTOMERS}?external_id=same")) == 2


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_an_unknown_customer_is_404(key: Key, service: Service, method: str) -> None:
    foreign = service.tenant().key().customer("c@example.test")["id"]
    body = {"name": "x"} if method == "PATCH" else None
    for customer_id in (foreign, "00000000-0000-7000-8000-000000000000", "5"):
        response = key.call(method, f"{CUSTOMERS}/{customer_id}", body)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_the_customer_of_a_ticket_can_be_read_as_a_customer(key: Key) -> None:
    ticket = key.ticket(customer={"email": "c@example.test", "name": "Maria"})
    customer = key.get(f"{CUSTOMERS}/{ticket['customer']['id']}").json()["data"]
    assert (customer["name"], customer["metadata"], customer["version"]) == ("Maria", {}, 1)
    assert key.post(CUSTOMERS, {"email": "c@example.test"}).status_code == 409


def test_updated_at_never_decreases(own_service: Service) -> None:
    key = own_service.tenant().key()
    customer = key.customer("c@example.test")
    own_service.clock.correct(-30)
    assert patched(key, customer, name="Maria")["updated_at"] == customer["updated_at"]
