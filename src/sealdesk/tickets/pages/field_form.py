"""Forms that change single fields of a ticket: what was chosen, and what the page showed before."""

from typing import Any

from sealdesk.errors import Fault, gettext_noop, invalid
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.pages import custom_values
from sealdesk.tickets.ticket import snoozing
from sealdesk.tickets.ticket.rules import value_text
from sealdesk.tickets.ticket.types import CUSTOM, SeenChange, TicketChange
from sealdesk.web import body
from sealdesk.web.form import Form

FIELDS = ("status", "priority", "assignee_id", "team_id", "tags", "subject", "snoozed_until")
_ME = "me"
# A field that goes along with a reply is named `set_status`, and its value before `was_set_status`.
_SET, _WAS = "set_", "was_set_"
_UNKNOWN_FIELD = gettext_noop("This must be one of %(choices)s.")


def read_field(form: Form, reader_id: str, definitions: dict[str, Field]) -> SeenChange:
    """One field: its new value, and the value that the page showed. Raises ValidationFailed."""
    field = form.text("field")
    if field.startswith(CUSTOM):
        wanted = {field: custom_values.read_value(definitions, field, form.texts("value"))}
        shown = {field: custom_values.read_value(definitions, field, form.texts("was"))}
        change = TicketChange(custom_fields=_by_key(wanted))
        return SeenChange(change, undone_id=form.text("undone"), custom=_by_key(shown))
    if field not in FIELDS:
        choices = {"choices": ", ".join(FIELDS)}
        raise invalid([Fault("/field", "unknown_field", _UNKNOWN_FIELD, choices)])
    new = {field: value_of(field, form.texts("value"), reader_id)}
    seen = {field: value_of(field, form.texts("was"), reader_id)}
    change = body.convert(new, TicketChange)
    return SeenChange(change, TicketChange(**seen), form.text("undone"))


def read_unsaved(form: Form, then: dict[str, Any], definitions: dict[str, Field]) -> SeenChange:
    """The fields that were chosen and not saved before a reply was sent. Raises ValidationFailed.

    then: what else the reply changes.
    """
    names = custom_values.chosen(form, _WAS)
    custom, shown = (
        _by_key(
            {
                name: custom_values.read_value(definitions, name, form.texts(f"{prefix}{name}"))
                for name in names
            }
        )
        for prefix in (_SET, _WAS)
    )
    if custom:
        then = {**then, "custom_fields": custom}
    chosen = _chosen(form)
    new = {field: value_of(field, form.texts(f"{_SET}{field}"), "") for field in chosen}
    seen = {field: value_of(field, form.texts(f"{_WAS}{field}"), "") for field in chosen}
    change = body.convert({**new, **then}, TicketChange)
    return SeenChange(change, TicketChange(**seen), custom=shown)


def _by_key(values: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(CUSTOM): value for name, value in values.items()}


def unsaved(form: Form) -> dict[str, Any]:
    """The same fields as they were typed, for the form of a page."""
    chosen = {field: form.texts(f"{_SET}{field}") for field in _chosen(form)}
    return {
        field: value_of(field, texts, "") if field == "tags" else "".join(texts[:1])
        for field, texts in chosen.items()
    } | custom_values.typed(form, _SET, _WAS)


def _chosen(form: Form) -> list[str]:
    names = {name for name, _ in form.fields}
    # A box that is not ticked sends nothing; neither do tags of which none is left.
    sent = {field for field in FIELDS if f"{_SET}{field}" in names} | {"tags"}
    return [field for field in FIELDS if f"{_WAS}{field}" in names and field in sent]


def value_of(field: str, texts: list[str], reader_id: str) -> Any:
    """The value of a field, from the texts that a form sends for it."""
    if field == "tags":
        return [text.strip() for text in texts if text.strip()]
    text = texts[0] if texts else ""
    if field == "assignee_id":
        return (reader_id if text == _ME else text) or None
    if field == "team_id":
        return text or None
    if field == "snoozed_until":
        return snoozing.canonical(text) or None
    return text


def split_tags(text: str) -> list[str]:
    """Tags that were typed with commas between them."""
    return [tag for part in text.split(",") if (tag := part.strip())]


def texts_of(value: Any) -> list[str]:
    """What a form sends for a value."""
    if isinstance(value, list | tuple):
        return [*value]
    return [value_text(value)]
