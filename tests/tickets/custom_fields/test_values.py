"""Values of custom fields through the API: their types, free keys, and resolving."""

from typing import Any

import pytest

from tests.support.client import Key, Person
from tests.support.service import Tenant
from tests.tickets.custom_fields.factories import FIELDS, define

TICKETS = "/api/v1/external/tickets"


def _create(key: Key, **fields: Any) -> Any:
    new = {"subject": "S", "description": "D", "customer": {"email": "a@b.test"}, **fields}
    return key.post(TICKETS, new)


def _faults(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]


@pytest.mark.parametrize(
    ("of_type", "right", "wrong", "code"),
    [
        ("text", ["", "a\nb", "12"], [12, True, ["a"], {"a": "b"}], "invalid_type"),
        ("number", [0, -1.5, 10**15], [True, [1]], "invalid_type"),
        ("number", [], ["12", ""], "invalid_value"),
        ("choice", ["DHL"], ["dhl", "", "FedEx"], "invalid_value"),
        ("choice", [], [1, ["DHL"]], "invalid_type"),
        ("date", ["2026-02-28"], ["2026-02-29", "28.02.2026", "20260228", "٢٠٢٦-٠٢-٢٨"],
         "invalid_value"),
        ("date", [], [20260228], "invalid_type"),
        ("checkbox", [True, False], [0, 1], "invalid_type"),
        ("checkbox", [], ["yes"], "invalid_value"),
    ],
)  # fmt: skip
def test_a_defined_field_takes_values_of_its_type_only(
    admin: Person, key: Key, of_type: str, right: list[Any], wrong: list[Any], code: str
) -> None:
    define(admin, "f", of_type)
    ticket = key.ticket()
    for value in (*right, None):
        changed = key.patch(f"{TICKETS}/{ticket['id']}", {"custom_fields": {"f": value}})
        assert changed.status_code == 200, changed.text
        assert _create(key, custom_fields={"f": value}).status_code == 201
    for value in wrong:
        changed = key.patch(f"{TICKETS}/{ticket['id']}", {"custom_fields": {"f": value}})
        assert _faults(changed) == [("/custom_fields/f", code)]
        assert _faults(_create(key, custom_fields={"f": value})) == [("/custom_fields/f", code)]
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["custom_fields"] == {}


def test_every_wrong_value_has_its_own_fault_with_the_label(admin: Person, key: Key) -> None:
    define(admin, "size", "number", label="Size in cm")
    define(admin, "carrier", "choice")
    refused = _create(key, custom_fields={"size": "L", "carrier": "FedEx"})
    assert _faults(refused) == [
        ("/custom_fields/size", "invalid_value"),
        ("/custom_fields/carrier", "invalid_value"),
    ]
    assert "Size in cm" in refused.text and "DHL, UPS" in refused.text


def test_values_of_other_keys_stay_free(admin: Person, key: Key) -> None:
    define(admin, "size", "number")
    free = {"Size": "L", "odd key/~": {"a": [1, None]}}
    assert key.ticket(custom_fields=free)["custom_fields"] == free


def test_a_value_from_before_its_definition_stays_until_it_is_written(
    admin: Person, key: Key
) -> None:
    ticket = key.ticket(custom_fields={"size": "L"})
    at = f"{TICKETS}/{ticket['id']}"
    define(admin, "size", "number")
    for change in ({"subject": "T"}, {"custom_fields": {"a": 1}}, {"custom_fields": {"size": "L"}}):
        assert key.patch(at, change).status_code == 200
    assert _faults(key.patch(at, {"custom_fields": {"size": "M"}})) == [
        ("/custom_fields/size", "invalid_value")
    ]
    # Python takes 1 and true for equal.
    key.patch(at, {"custom_fields": {"size": 1}})
    assert _faults(key.patch(at, {"custom_fields": {"size": True}})) == [
        ("/custom_fields/size", "invalid_type")
    ]


def test_an_inactive_field_checks_nothing(admin: Person, key: Key) -> None:
    field = define(admin, "size", "number", required_on_resolve=True)
    admin.patch(f"{FIELDS}/{field['id']}", {"is_active": False})
    ticket = key.ticket(custom_fields={"size": "L"}, status="resolved")
    assert ticket["custom_fields"] == {"size": "L"}


def test_a_ticket_is_not_resolved_without_a_required_value(admin: Person, key: Key) -> None:
    define(admin, "size", "number", label="Size in cm", required_on_resolve=True)
    ticket = key.ticket()
    at = f"{TICKETS}/{ticket['id']}"
    refused = key.patch(at, {"status": "resolved"})
    assert _faults(refused) == [("/custom_fields/size", "required")]
    assert "Size in cm" in refused.text
    assert key.get(at).json()["data"]["status"] == "open"
    assert _faults(_create(key, status="resolved")) == [("/custom_fields/size", "required")]
    # Zero is a value, and one request may bring the value with the status.
    both = {"status": "resolved", "custom_fields": {"size": 0}}
    assert key.patch(at, both).json()["data"]["status"] == "resolved"
    assert _create(key, **both).status_code == 201


@pytest.mark.parametrize(("of_type", "empty"), [("text", " "), ("text", ""), ("checkbox", False)])
def test_an_empty_value_does_not_resolve(admin: Person, key: Key, of_type: str, empty: Any) -> None:
    define(admin, "f", of_type, required_on_resolve=True)
    ticket = key.ticket(custom_fields={"f": empty})
    refused = key.patch(f"{TICKETS}/{ticket['id']}", {"status": "resolved"})
    assert _faults(refused) == [("/custom_fields/f", "required")]


def test_closing_and_other_changes_need_no_value(admin: Person, key: Key) -> None:
    ticket = key.ticket(status="resolved")
    define(admin, "size", "number", required_on_resolve=True)
    at = f"{TICKETS}/{ticket['id']}"
    assert key.patch(at, {"subject": "Still resolved"}).status_code == 200
    for status in ("pending", "closed"):
        assert key.patch(at, {"status": status}).status_code == 200


def test_a_known_key_obeys_the_first_definition_in_the_next_request(
    admin: Person, key: Key
) -> None:
    assert _create(key, custom_fields={"size": "L"}).status_code == 201
    define(admin, "size", "number")
    assert _create(key, custom_fields={"size": "L"}).status_code == 422


def test_definitions_of_another_tenant_check_nothing(tenant: Tenant, key: Key) -> None:
    define(tenant.service.tenant().admin(), "size", "number", required_on_resolve=True)
    define(tenant.admin(), "other")
    assert _create(key, custom_fields={"size": "L"}, status="resolved").status_code == 201
