"""The custom fields of a ticket on its page: what is shown of each, and what a form changes."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sealdesk.errors import Fault, ValidationFailed, gettext_noop, invalid
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields import rules as field_rules
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.ticket.rules import value_text
from sealdesk.tickets.ticket.types import CUSTOM, YES
from sealdesk.web.form import Form
from sealdesk.web.pages.i18n import translate
from sealdesk.web.request import Request

_MAX_LINE = 80  # a longer text gets several lines to write in
_MAX_CHOICES = 300  # of filters by custom fields, in a page
_BOX = (YES, "no")
_GONE = gettext_noop("This custom field is no longer there.")


class ShownField(NamedTuple):
    """A defined field of a ticket. name: in forms. text: its value as a form sends it.

    kind: how it is edited: "select", "checkbox", "date", "lines" or "line".
    """

    definition: Field
    name: str
    text: str
    kind: str


class CustomValues(NamedTuple):
    """The custom fields of a ticket. others: values that no form can change, by label or key."""

    fields: Sequence[ShownField] = ()
    others: Sequence[tuple[str, Any]] = ()


class FieldChoice(NamedTuple):
    """A filter by a custom field. value: its key and the value, as addresses name it."""

    value: str
    text: str


def show_values(definitions: Iterable[Field], values: dict[str, Any]) -> CustomValues:
    """The defined fields in their order, and what else the ticket has."""
    active = [field for field in definitions if field.is_active]
    editable = [field for field in active if field_rules.is_editable(field, values.get(field.key))]
    labels = {field.key: field.label for field in active}
    known = {field.key for field in editable}
    others = [(labels.get(key, key), value) for key, value in values.items() if key not in known]
    return CustomValues([_shown(field, values.get(field.key)) for field in editable], others)


def _shown(field: Field, value: Any) -> ShownField:
    text = value_text(value)
    kind = {"choice": "select", "checkbox": "checkbox", "date": "date"}.get(field.type, "line")
    is_right = field_rules.is_right(field, value)
    if "\n" in text or "\r" in text or len(text) > _MAX_LINE:
        kind = "lines"
    elif kind == "date" and not is_right:
        kind = "line"  # a date input would show nothing
    return ShownField(field, f"{CUSTOM}{field.key}", text, kind)


def labels_of(definitions: Iterable[Field]) -> dict[str, str]:
    """The labels by the names that fields have in forms and in the history."""
    return {name: field.label for name, field in by_name(definitions).items()}


async def load_definitions(request: Request, form: Form) -> dict[str, Field]:
    """The fields by their names in forms; nothing is read for a form without any."""
    is_needed = any(CUSTOM in name for name, _ in form.fields)
    if not is_needed and not form.text("field").startswith(CUSTOM):
        return {}
    fields = await request.fetch(custom_fields.list_active)
    return by_name(fields)


def by_name(fields: Iterable[Field]) -> dict[str, Field]:
    """Definitions by the names of their fields in forms."""
    return {f"{CUSTOM}{field.key}": field for field in fields}


def read_value(definitions: dict[str, Field], name: str, texts: Sequence[str]) -> Any:
    """The value of a field from what a form sends. Raises ValidationFailed without definition."""
    if name not in definitions:
        raise invalid([Fault("/field", "unknown_field", _GONE)])
    return field_rules.value_of(definitions[name], texts[0] if texts else "")


def chosen(form: Form, was: str) -> list[str]:
    """The names of the fields of which a form has the value before. was: the prefix of these."""
    prefix = f"{was}{CUSTOM}"
    return [name.removeprefix(was) for name, _ in form.fields if name.startswith(prefix)]


def read_changed(form: Form, definitions: dict[str, Field]) -> dict[str, Any]:
    """The values by key that the form of all fields changes. Raises ValidationFailed."""
    changed = {}
    for name in chosen(form, "was_"):
        value = read_value(definitions, name, form.texts(name))
        before = read_value(definitions, name, form.texts(f"was_{name}"))
        if value_text(value) != value_text(before):
            changed[name.removeprefix(CUSTOM)] = value
    return changed


def typed(form: Form, prefix: str, was: str) -> dict[str, str]:
    """What was typed, for the form of a page."""
    return {name: form.text(f"{prefix}{name}") for name in chosen(form, was)}


def field_choices(fields: Iterable[Field], chosen: str) -> list[tuple[str, list[FieldChoice]]]:
    """The labels of choices and boxes, with what a list can be filtered for.

    chosen: the present filter, which is among them.
    """
    groups = []
    left = _MAX_CHOICES
    for field in fields:
        texts = (
            field.choices if field.type == "choice" else _BOX if field.type == "checkbox" else ()
        )
        choices = [FieldChoice(f"{field.key}:{text}", text) for text in texts[:left]]
        left -= len(choices)
        if choices:
            groups.append((field.label, choices))
    if chosen and not any(chosen == each.value for _, choices in groups for each in choices):
        key, _, text = chosen.partition(":")
        groups.append((key, [FieldChoice(chosen, text)]))
    return groups


def faults_by_name(error: ValidationFailed) -> dict[str, str]:
    """The faults of custom fields by their names in forms."""
    pointers = [(fault.pointer.split("/"), fault) for fault in error.faults]
    return {
        f"{CUSTOM}{parts[2]}": translate(fault)
        for parts, fault in pointers
        if len(parts) == 3 and parts[1] == "custom_fields"
    }
