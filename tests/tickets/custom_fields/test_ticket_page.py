"""Custom fields on the page of a ticket: shown, saved one by one, required, and in the history."""

from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.support.client import Key, Person
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor
from tests.support.service import Tenant
from tests.tickets.custom_fields.factories import FIELDS, define

API = "/api/v1/external"
Fields = list[tuple[str, str]]


def _page(key: Key, **fields: Any) -> str:
    return f"/tickets/{key.ticket(**fields)['id']}"


def _now(key: Key, at: str) -> dict[str, Any]:
    return dict(key.get(f"{API}{at}").json()["data"])


def _values(key: Key, at: str) -> dict[str, Any]:
    return dict(_now(key, at)["custom_fields"])


def _save(visitor: Visitor, at: str, fields: Fields) -> Page:
    token = visitor.get(at).form("/log-out").value("form_token")
    return visitor.post(f"{at}/fields", [("form_token", token), *fields], accept="*/*")


def _field(name: str, was: str, value: str) -> Fields:
    return [("field", f"custom-{name}"), ("was", was), ("value", value)]


def _undo(page: Page) -> Fields:
    (sent,) = [value for _, name, value in page.attributes if name == "data-save"]
    return parse_qsl(sent, keep_blank_values=True)


def test_defined_fields_are_shown_in_their_order_and_others_to_read(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "carrier", "choice", label="Carrier")
    define(admin, "fragile", "checkbox", label="Handle with care", position=1)
    hidden = define(admin, "old", label="Old label")
    admin.patch(f"{FIELDS}/{hidden['id']}", {"is_active": False})
    at = _page(key, custom_fields={"carrier": "UPS", "fragile": True, "old": "x1", "odd": {"a": 7}})
    page = visitor.get(at)
    form = page.form(at)
    assert (form.value("custom-carrier"), form.value("custom-fragile")) == ("UPS", "yes")
    assert page.text.index("Handle with care") < page.text.index("Carrier")
    assert "Old label" not in page.text
    rest = page.text.partition("Further values")[2]
    assert "x1" in rest and '{"a": 7}' in rest


@pytest.mark.parametrize(
    ("of_type", "was", "value", "stored"),
    [
        ("text", "", "A\nB", "A\nB"),
        ("number", "", "-12.50", -12.5),
        ("number", "", " 7 ", 7),
        ("choice", "", "DHL", "DHL"),
        ("date", "", "2026-11-30", "2026-11-30"),
        ("checkbox", "", "yes", True),
    ],
)
def test_each_type_is_saved_shown_and_undone(
    visitor: Visitor, admin: Person, key: Key,
    of_type: str, was: str, value: str, stored: Any,
) -> None:  # fmt: skip
    define(admin, "f", of_type, label="The field")
    at = _page(key, custom_fields={"other": 1})
    saved = _save(visitor, at, _field("f", was, value))
    assert (saved.status, _values(key, at)) == (200, {"other": 1, "f": stored})
    assert "Saved" in saved.text and "The field" in saved.text
    page = visitor.get(at)
    assert page.form(at).value("was_custom-f") == page.form(at).value("custom-f")
    undone = _save(visitor, at, _undo(saved))
    assert "Undone" in undone.text
    assert not _values(key, at).get("f")
    assert _values(key, at)["other"] == 1


@pytest.mark.parametrize(
    ("of_type", "value", "message"),
    [
        ("number", "12,5", "is a number"),
        ("number", "NaN", "is a number"),
        ("number", "1" * 400, "is a number"),
        ("choice", "FedEx", "must be one of: DHL, UPS"),
        ("date", "30.11.2026", "is a date"),
    ],
)
def test_a_wrong_value_is_refused_beside_its_field(
    visitor: Visitor, admin: Person, key: Key, of_type: str, value: str, message: str
) -> None:
    define(admin, "f", of_type, label="The field")
    at = _page(key)
    page = _save(visitor, at, _field("f", "", value))
    assert (page.status, message in page.text, "The field" in page.text) == (422, True, True)
    assert _values(key, at) == {}


def test_a_conflict_concerns_one_custom_field_only(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "a", "number")
    define(admin, "b")
    at = _page(key, custom_fields={"a": 1.5})
    key.patch(f"{API}{at}", {"custom_fields": {"b": "meanwhile"}})
    assert _save(visitor, at, _field("a", "1.50", "2")).status == 200
    key.patch(f"{API}{at}", {"custom_fields": {"a": 3}})
    refused = _save(visitor, at, _field("a", "2", "4"))
    assert (refused.status, _values(key, at)["a"]) == (412, 3)
    assert "Save mine" in refused.text


def test_an_undo_overwrites_no_later_change_and_minds_no_other_field(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "a")
    define(admin, "b")
    at = _page(key)
    first = _undo(_save(visitor, at, _field("a", "", "x")))
    second = _undo(_save(visitor, at, _field("b", "", "y")))
    assert _save(visitor, at, first).status == 200
    for value in ("z", "y"):
        key.patch(f"{API}{at}", {"custom_fields": {"b": value}})
    assert _save(visitor, at, second).status == 412
    assert _values(key, at) == {"b": "y"}


def test_a_field_that_is_gone_is_named(visitor: Visitor, admin: Person, key: Key) -> None:
    at = _page(key)
    page = _save(visitor, at, _field("never", "", "x"))
    assert (page.status, "no longer there" in page.text) == (422, True)


def test_the_form_without_scripts_changes_what_was_changed(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "size", "number")
    define(admin, "legacy", "date")
    define(admin, "fragile", "checkbox")
    before = {"legacy": "yesterday", "fragile": True, "odd": [1]}
    at = _page(key)
    for field in admin.get(FIELDS).json()["data"]:
        admin.patch(f"{FIELDS}/{field['id']}", {"is_active": False})
    key.patch(f"{API}{at}", {"custom_fields": {**before, "size": 5}})
    for field in admin.get(FIELDS).json()["data"]:
        admin.patch(f"{FIELDS}/{field['id']}", {"is_active": True})
    form = visitor.get(at).form(at)
    assert form.value("custom-legacy") == "yesterday"
    changed: dict[str, str | list[str]] = {"custom-size": "6", "custom-fragile": []}
    visitor.submit(form, **changed)
    assert _values(key, at) == {**before, "size": 6, "fragile": False}
    form = visitor.get(at).form(at)
    page = visitor.submit(form, **{"custom-size": "six"})
    assert (page.status, page.form(at).value("custom-size")) == (422, "six")
    assert "is a number" in page.text


def test_a_stale_form_keeps_what_was_typed_and_shows_the_rest_anew(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "a")
    define(admin, "b")
    at = _page(key, custom_fields={"a": "old", "b": "old"})
    form = visitor.get(at).form(at)
    key.patch(f"{API}{at}", {"custom_fields": {"a": "new", "b": "new"}})
    page = visitor.submit(form, **{"custom-a": "mine"})
    shown = page.form(at)
    assert (page.status, shown.value("custom-a")) == (412, "mine")
    assert shown.value("custom-b") == "new"


def test_what_was_not_saved_goes_along_with_a_reply(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "size", "number", label="Size", required_on_resolve=True)
    at = _page(key)
    form = visitor.get(at).form(f"{at}/reply")
    refused = visitor.submit(form, body="Done", then="resolve")
    assert (refused.status, _now(key, at)["reply_count"]) == (422, 0)
    assert "“Size” is needed before the ticket can be resolved." in refused.text
    unsaved = {"was_set_custom-size": "", "set_custom-size": "x"}
    refused = visitor.submit(form, body="Done", then="resolve", **unsaved)
    assert refused.form(at).value("custom-size") == "x"
    unsaved["set_custom-size"] = "12"
    visitor.submit(form, body="Done", then="resolve", **unsaved)
    ticket = _now(key, at)
    assert (ticket["status"], ticket["custom_fields"]) == ("resolved", {"size": 12})
    key.patch(f"{API}{at}", {"custom_fields": {"size": 13}, "status": "open"})
    stale = visitor.submit(visitor.get(at).form(f"{at}/reply"), body="More",
                           **{"was_set_custom-size": "12", "set_custom-size": "14"})  # fmt: skip
    assert (stale.status, _values(key, at)) == (412, {"size": 13})


def test_resolving_by_page_and_bulk_names_the_missing_field(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "size", "number", label="Size in cm", required_on_resolve=True)
    at = _page(key)
    missing = "“Size in cm” is needed before the ticket can be resolved."
    by_field = _save(visitor, at, [("field", "status"), ("was", "open"), ("value", "resolved")])
    assert (by_field.status, missing in by_field.text) == (422, True)
    by_form = visitor.submit(visitor.get(at).form(at), status="resolved")
    assert (by_form.status, missing in by_form.text) == (422, True)
    chosen = visitor.get("/tickets").form("/tickets/bulk")
    preview = visitor.submit(chosen, ticket=at.rpartition("/")[2], status="resolved")
    done = visitor.submit(preview.form("/tickets/bulk"))
    assert missing in done.text
    assert _now(key, at)["status"] == "open"


def test_the_history_names_fields_by_their_labels(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    define(admin, "size", "number", label="Size in cm")
    define(admin, "fragile", "checkbox", label="Fragile")
    at = _page(key, custom_fields={"size": 1, "note": "n" * 5000})
    key.patch(f"{API}{at}", {"custom_fields": {"size": 2, "fragile": True, "odd": "x"}})
    for path in (at, f"{at}/history"):
        text = visitor.get(path).text
        assert "Size in cm : 1 → 2" in text
        assert "Fragile : none → yes" in text
        assert "odd : none → x" in text
        assert "note :" not in text


def test_hostile_texts_are_shown_as_text(visitor: Visitor, admin: Person, key: Key) -> None:
    texts = [text for text in HOSTILE_TEXTS if "\ufffe" not in text]
    define(admin, "f", "choice", label=texts[0], choices=texts)
    define(admin, "free", label=texts[1])
    for text in texts:
        at = _page(key, custom_fields={"f": text, "free": text, text: text})
        key.patch(f"{API}{at}", {"custom_fields": {"f": texts[2], "free": texts[3], text: "x"}})
        page = visitor.get(at)
        assert_page_is_secure(page)
        assert page.form(at).value("custom-free") == texts[3]


def test_fields_of_another_tenant_are_not_shown(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    define(tenant.service.tenant().admin(), "size", label="Secret label")
    at = _page(key, custom_fields={"size": "x"})
    assert "Secret label" not in visitor.get(at).text
    assert _save(visitor, at, _field("size", "x", "y")).status == 422
