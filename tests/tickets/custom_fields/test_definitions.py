"""Definitions of custom fields through the API: what they may be, their order, and their limits."""

from typing import Any

from sealdesk.tickets.custom_fields.types import MAX_ACTIVE, MAX_FIELDS
from tests.support.client import Person
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.service import Service, Tenant
from tests.tickets.custom_fields.factories import FIELDS, define


def _keys(admin: Person) -> list[str]:
    return [field["key"] for field in admin.get(FIELDS).json()["data"]]


def _fault(answer: Any) -> tuple[str, str]:
    assert answer.status_code == 422, answer.text
    (fault,) = answer.json()["errors"]
    return fault["pointer"], fault["code"]


def test_a_field_is_defined_and_shown(admin: Person) -> None:
    field = define(admin, "carrier", "choice", label="Carrier", required_on_resolve=True)
    assert (field["choices"], field["position"], field["is_active"]) == (["DHL", "UPS"], 1, True)
    assert admin.get(f"{FIELDS}/{field['id']}").json()["data"] == field
    assert admin.get(FIELDS).json()["data"] == [field]


@for_each(
    ("body", "fault"),
    [
        ({"key": "1st"}, ("/key", "invalid_value")),
        ({"key": "a" * 65}, ("/key", "invalid_value")),
        ({"key": "größe"}, ("/key", "invalid_value")),
        ({"key": "a/b"}, ("/key", "invalid_value")),
        ({"label": " "}, ("/label", "too_short")),
        ({"label": "a" * 101}, ("/label", "too_long")),
        ({"type": "color"}, ("/type", "invalid_value")),
        ({"type": "choice"}, ("/choices", "too_few")),
        ({"choices": ["a"]}, ("/choices", "not_allowed")),
        ({"type": "choice", "choices": ["a", "b", "a"]}, ("/choices/2", "repeated")),
        ({"type": "choice", "choices": ["a" * 101]}, ("/choices/0", "too_long")),
        ({"type": "choice", "choices": list("ab") * 51}, ("/choices", "too_many")),
        ({"position": 0}, ("/position", "out_of_range")),
    ],
)
def test_a_wrong_definition_is_refused_with_its_fault(
    admin: Person, body: dict[str, Any], fault: tuple[str, str]
) -> None:
    new = {"key": "size", "label": "Size", "type": "text", **body}
    assert _fault(admin.post(FIELDS, new)) == fault
    assert _keys(admin) == []


def test_a_key_is_taken_regardless_of_its_case(admin: Person) -> None:
    define(admin, "Carrier")
    new = {"key": "carrier", "label": "Other", "type": "text"}
    assert _fault(admin.post(FIELDS, new)) == ("/key", "taken")


def test_the_label_of_another_field_is_refused_and_the_own_one_spelled_otherwise(
    admin: Person,
) -> None:
    cafe, other = define(admin, "cafe", label="Caf\u00e9"), define(admin, "other")
    answer = admin.patch(f"{FIELDS}/{other['id']}", {"label": " CAF\u00c9 "})
    assert _fault(answer) == ("/label", "taken")
    own = admin.patch(f"{FIELDS}/{cafe['id']}", {"label": "CAF\u00c9"})
    assert own.json()["data"]["label"] == "CAF\u00c9"


def test_hostile_labels_and_choices_stay_as_they_are(admin: Person) -> None:
    for place, text in enumerate(HOSTILE_TEXTS):
        field = define(admin, f"f{place}", "choice", label=text, choices=[text])
        assert (field["label"], field["choices"]) == (text, [text])


def test_fields_are_ordered_by_position(admin: Person) -> None:
    for key in ("a", "b", "c"):
        define(admin, key)
    define(admin, "first", position=1)
    assert _keys(admin) == ["first", "a", "b", "c"]
    last = admin.get(FIELDS).json()["data"][-1]
    moved = admin.patch(f"{FIELDS}/{last['id']}", {"position": 2}).json()["data"]
    assert (moved["position"], _keys(admin)) == (2, ["first", "c", "a", "b"])
    far = admin.patch(f"{FIELDS}/{last['id']}", {"position": 200}).json()["data"]
    assert (far["position"], _keys(admin)) == (4, ["first", "a", "b", "c"])


def test_the_list_is_read_page_by_page(admin: Person) -> None:
    for key in ("a", "b", "c"):
        define(admin, key)
    first = admin.get(f"{FIELDS}?per_page=2").json()
    cursor = first["meta"]["next_cursor"]
    second = admin.get(f"{FIELDS}?per_page=2&cursor={cursor}").json()
    rows = [*first["data"], *second["data"]]
    assert [row["key"] for row in rows] == ["a", "b", "c"]
    assert second["meta"]["has_more"] is False


def test_a_change_keeps_the_key_and_the_type(admin: Person) -> None:
    field = define(admin, "carrier", "choice")
    for other in ({"key": "other"}, {"type": "text"}):
        assert admin.patch(f"{FIELDS}/{field['id']}", other).status_code == 422
    change = {"key": "carrier", "type": "choice", "label": "By", "choices": ["UPS"]}
    changed = admin.patch(f"{FIELDS}/{field['id']}", change).json()["data"]
    assert (changed["key"], changed["type"]) == ("carrier", "choice")
    assert (changed["label"], changed["choices"]) == ("By", ["UPS"])
    refused = admin.patch(f"{FIELDS}/{field['id']}", {"choices": []})
    assert _fault(refused) == ("/choices", "too_few")


def test_definitions_are_audited_with_what_changed(admin: Person, tenant: Tenant) -> None:
    field = define(admin, "size", label="Size")
    at = f"{FIELDS}/{field['id']}"
    admin.patch(at, {"label": "Dimensions"})
    admin.patch(at, {"label": "Dimensions"})  # nothing changes
    rows = tenant.service.rows(
        "SELECT action, object_id, details FROM audit WHERE tenant_id = :tenant"
        " AND action LIKE 'custom_field.%' ORDER BY id LIMIT 9",
        tenant=tenant.id,
    )
    assert [row[0] for row in rows] == ["custom_field.created", "custom_field.updated"]
    assert {row[1] for row in rows} == {field["id"]}
    assert '"label":["Size","Dimensions"]' in rows[1][2]


def test_deleting_a_field_leaves_its_values_as_those_of_a_free_key(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    key, tickets = tenant.key(), "/api/v1/external/tickets"
    first, field = define(admin, "size"), define(admin, "carrier", "choice")
    last = define(admin, "colour")
    ticket = key.ticket(custom_fields={"carrier": "DHL"})
    theirs = service.tenant("Other").admin()
    assert theirs.delete(f"{FIELDS}/{field['id']}").status_code == 404
    gone = admin.delete(f"{FIELDS}/{field['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert admin.delete(f"{FIELDS}/{field['id']}").status_code == 404
    left = admin.get(FIELDS).json()["data"]
    assert [(each["id"], each["position"]) for each in left] == [(first["id"], 1), (last["id"], 2)]
    at = f"{tickets}/{ticket['id']}"
    assert key.get(at).json()["data"]["custom_fields"] == {"carrier": "DHL"}
    changed = key.patch(at, {"custom_fields": {"carrier": 5}})
    assert (changed.status_code, changed.json()["data"]["custom_fields"]) == (200, {"carrier": 5})
    define(admin, "carrier", "number")


def test_a_tenant_has_a_limit_of_active_fields(admin: Person) -> None:
    fields = [define(admin, f"f{number}") for number in range(MAX_ACTIVE)]
    new = {"key": "more", "label": "More", "type": "text"}
    refused = admin.post(FIELDS, new)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_custom_fields")
    inactive = admin.post(FIELDS, {"key": "i", "label": "I", "type": "text", "is_active": False})
    assert (inactive.status_code, inactive.json()["data"]["is_active"]) == (201, False)
    admin.patch(f"{FIELDS}/{fields[0]['id']}", {"is_active": False})
    assert admin.post(FIELDS, new).status_code == 201
    again = admin.patch(f"{FIELDS}/{fields[0]['id']}", {"is_active": True})
    assert (again.status_code, again.json()["limit"]) == (409, MAX_ACTIVE)


def test_a_tenant_has_a_limit_of_all_fields(admin: Person, tenant: Tenant) -> None:
    field = define(admin, "f")
    admin.patch(f"{FIELDS}/{field['id']}", {"is_active": False})
    columns = "label, type, choices, required_on_resolve, place, is_active, created_at, updated_at"
    copy = (
        f"INSERT INTO field_definitions (tenant_id, id, key, {columns})"
        f" SELECT tenant_id, :id, :key, {columns} FROM field_definitions"
        " WHERE tenant_id = :tenant_id AND id = :of"
    )
    copies = [
        {"id": f"copy-{n}", "key": f"f{n}", "tenant_id": tenant.id, "of": field["id"]}
        for n in range(MAX_FIELDS - 1)
    ]
    tenant.service.write(lambda tx: tx.execute_many(copy, copies))
    refused = admin.post(FIELDS, {"key": "more", "label": "More", "type": "text"})
    assert (refused.status_code, refused.json()["limit"]) == (409, MAX_FIELDS)
