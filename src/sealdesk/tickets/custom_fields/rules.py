"""Which values a custom field may have, and how pages show and read them; no IO."""

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from sealdesk.errors import Fault, gettext_noop
from sealdesk.resources.identity import is_visible
from sealdesk.resources.merge_patch import given_fields, is_same
from sealdesk.resources.representation import response_builder
from sealdesk.tickets.custom_fields.types import Field, FieldChange, FieldResponse
from sealdesk.tickets.ticket.types import YES

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,12})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MAX_TEXT_SHOWN = 100  # of the choices that a message names
_NO_TEXT = gettext_noop("“%(label)s” is a text.")
_NO_NUMBER = gettext_noop("“%(label)s” is a number. Write it as in 12.5.")
_NO_CHOICE = gettext_noop("“%(label)s” must be one of: %(choices)s.")
_NO_DATE = gettext_noop("“%(label)s” is a date. Write it as in 2026-11-30.")
_NO_CHECKBOX = gettext_noop("“%(label)s” is true or false.")
_MISSING = gettext_noop("“%(label)s” is needed before the ticket can be resolved.")
_NEEDS_CHOICES = gettext_noop("Name at least one choice.")
_HAS_NO_CHOICES = gettext_noop("Only a field of the type choice has choices.")

_respond = response_builder(FieldResponse, "position")


class Values(NamedTuple):
    """The custom fields of a ticket before and after a change. is_resolved: by the change."""

    before: dict[str, Any]
    after: dict[str, Any]
    is_resolved: bool


def find_faults(fields: Iterable[Field], values: Values) -> list[Fault]:
    """What is wrong with the values that a change writes, and what a resolved ticket lacks.

    A value that stays as it is is not checked: it may be older than its definition.
    """
    faults = []
    for field in fields:
        value = values.after.get(field.key)
        fault = None
        # In objects: of single values, 1 and true are equal in Python.
        if not is_same({"": value}, {"": values.before.get(field.key)}):
            fault = _fault_of(field, value)
        if fault is None and values.is_resolved and field.required_on_resolve and not _has(value):
            fault = Fault(_pointer(field), "required", _MISSING, {"label": field.label})
        if fault is not None:
            faults.append(fault)
    return faults


def _has(value: Any) -> bool:
    """Whether a required field has a value; a box must be ticked."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value is not False


def _pointer(field: Field) -> str:
    return f"/custom_fields/{field.key}"


def _fault_of(field: Field, value: Any) -> Fault | None:
    if value is None:
        return None
    values: dict[str, Any] = {"label": field.label}
    match field.type:
        case "text":
            is_right, message = isinstance(value, str), _NO_TEXT
        case "number":
            is_right, message = _is_number(value), _NO_NUMBER
        case "choice":
            is_right, message = value in field.choices, _NO_CHOICE
            values["choices"] = _shorten(", ".join(field.choices))
        case "date":
            is_right, message = _is_date(value), _NO_DATE
        case "checkbox":
            is_right, message = isinstance(value, bool), _NO_CHECKBOX
    code = "invalid_value" if isinstance(value, str) else "invalid_type"
    return None if is_right else Fault(_pointer(field), code, message, values)


def is_right(field: Field, value: Any) -> bool:
    """Whether a value is one that the field takes now."""
    return _fault_of(field, value) is None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_date(value: Any) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_SHOWN else f"{text[: _MAX_TEXT_SHOWN - 1]}…"


def value_of(field: Field, text: str) -> Any:
    """The value that somebody typed or chose; None for none. A text that is none stays as it is."""
    if field.type == "checkbox":
        return text == YES
    if field.type == "text":
        return text if is_visible(text) else None
    typed = text.strip()
    if field.type == "number" and _NUMBER.fullmatch(typed):
        return msgspec.json.decode(typed)
    return typed or None


def is_editable(field: Field, value: Any) -> bool:
    """Whether a form can show the value and send it back unchanged."""
    if value is None or isinstance(value, bool):
        return value is None or field.type == "checkbox"
    return field.type != "checkbox" and isinstance(value, str | int | float)


def choice_faults(field: Field) -> list[Fault]:
    """What is wrong with the choices of a definition."""
    if field.type == "choice" and not field.choices:
        return [Fault("/choices", "too_few", _NEEDS_CHOICES)]
    if field.type != "choice" and field.choices:
        return [Fault("/choices", "not_allowed", _HAS_NO_CHOICES)]
    return []


def changed(field: Field, change: FieldChange, now_us: int) -> Field:
    """The definition after a change, apart from its place; the same one if nothing differs."""
    given = given_fields(change)
    given.pop("position", None)
    if change.choices is not UNSET:
        given["choices"] = tuple(change.choices)
    after = msgspec.structs.replace(field, **given)
    return field if after == field else msgspec.structs.replace(after, updated_at=now_us)


def moved(fields: Sequence[Field], field_id: str, position: int) -> list[str]:
    """The ids of all definitions in their order, with one of them at a position."""
    others = [each.id for each in fields if each.id != field_id]
    others.insert(position - 1, field_id)
    return others


def to_response(field: Field) -> FieldResponse:
    """A definition as the API shows it."""
    return _respond(field, position=field.place + 1)
