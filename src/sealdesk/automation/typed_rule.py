"""What somebody types on the page of a rule, and the names that it offers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sealdesk.automation.types import PauseReason, Rule
from sealdesk.db.engine import Tx
from sealdesk.resources.identity import identity
from sealdesk.tickets.custom_fields import rules as field_rules
from sealdesk.tickets.custom_fields import store as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.macros import store as macros
from sealdesk.tickets.macros.types import MacroChoice
from sealdesk.tickets.ticket.rules import value_text
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.types import CUSTOM
from sealdesk.web.form import Form
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.request import Request

MAX_ROWS = 20
DRY_RUN = "dry-run"  # what follows when the form is saved
# What a page says in place of the values of these fields.
_CHOICES = {
    "status": {
        "open": gettext_noop("Open"),
        "pending": gettext_noop("Pending"),
        "on_hold": gettext_noop("On hold"),
        "resolved": gettext_noop("Resolved"),
        "closed": gettext_noop("Closed"),
    },
    "priority": {
        "low": gettext_noop("Low"),
        "medium": gettext_noop("Medium"),
        "high": gettext_noop("High"),
        "urgent": gettext_noop("Urgent"),
    },
    "last_reply_by": {
        "customer": gettext_noop("Customer"),
        "agent": gettext_noop("Agent"),
        "api_key": gettext_noop("API key"),
    },
    "business_hours": {"yes": gettext_noop("yes"), "no": gettext_noop("no")},
}
_NEVER_EMPTY = ("status", "priority", "business_hours")
_PEOPLE = 1000  # whose names conditions show


class Known(NamedTuple):
    """What rules can name: id → name; fields and macros. people: who is active."""

    everybody: dict[str, str]
    people: dict[str, str]
    teams: dict[str, str]
    macros: Sequence[MacroChoice]
    fields: Sequence[Field]

    def names(self) -> dict[str, str]:
        """Of people, teams, macros and custom fields."""
        labels_by_key = {f"{CUSTOM}{each.key}": each.label for each in self.fields}
        named = self.everybody | self.teams | {each.id: each.name for each in self.macros}
        return named | labels_by_key

    def typed_names(self) -> dict[str, str]:
        """Of people and teams, as a form shows them: without names that do not say who it is."""
        named = self.everybody | self.teams
        count = Counter(map(identity, named.values()))
        return {
            each: name
            for each, name in named.items()
            if count[identity(name)] == 1 and "," not in name
        }

    def said(self, field: str) -> dict[str, str]:
        """What a form says in place of the values of a condition's field: value → words."""
        if field in ("assignee_id", "team_id"):
            return self.typed_names()
        return {value: gettext(words) for value, words in _CHOICES.get(field, {}).items()}

    def find_gone(self, rule: Rule) -> PauseReason | None:
        """What a rule names that is not there any more, for which its next run would pause it."""
        actions = rule.actions
        named = {actions.assignee_id, *(actions.notify or ())}
        is_gone: dict[PauseReason, bool] = {
            "team_missing": self._lacks_team(rule),
            "person_missing": not named & self.everybody.keys() <= self.people.keys(),
            "macro_missing": actions.macro_id not in {None, *(each.id for each in self.macros)},
            "field_missing": not {each.key for each in self.fields if each.is_active}.issuperset(
                actions.custom_fields or ()
            ),
        }
        return next((reason for reason, holds in is_gone.items() if holds), None)

    def _lacks_team(self, rule: Rule) -> bool:
        wanted = {each for one in rule.conditions if one.field == "team_id" for each in one.values}
        return not {*wanted, rule.actions.team_id} - {None, ""} <= self.teams.keys()


async def list_known(tx: Tx, tenant_id: str) -> Known:
    """What the rules of a tenant can name."""
    people = (await assignees.list_assignees(tx, tenant_id, _PEOPLE))[:_PEOPLE]
    return Known(
        {each.id: each.label for each in people},
        {each.id: each.label for each in people if each.is_active},
        {each.id: each.name for each in await teams.list_teams(tx, tenant_id)},
        await macros.list_choices(tx, tenant_id),
        await custom_fields.list_fields(tx, tenant_id),
    )


async def read(request: Request) -> dict[str, Any]:
    """The fields as they were typed; names of people and teams as their ids, words as values."""
    form, known = forms.read(request), await request.fetch(list_known)
    by_name = {identity(name): each for each, name in known.typed_names().items()}
    rows = zip(form.texts("field"), form.texts("operator"), form.texts("values"), strict=False)
    conditions = []
    for field, operator, values in list(rows)[:MAX_ROWS]:
        if field:
            by_words = {identity(words): value for value, words in known.said(field).items()}
            texts = [each.strip() for each in values.split(",")]
            if field in _NEVER_EMPTY:
                texts = forms.split_list(values) or [""]
            wanted = [by_words.get(identity(each), each) for each in texts]
            conditions.append({"field": field, "operator": operator, "values": wanted})
    return {
        "name": form.text("name").strip(),
        **{name: form.text(name).strip() for name in ("trigger", "hours", "position")},
        # A rule is tried before it is switched on.
        "is_enabled": form.text("is_enabled") == "yes" and form.text("then") != DRY_RUN,
        "conditions": conditions,
        "actions": _read_actions(form, known, by_name),
    }


def _read_actions(form: Form, known: Known, by_name: Mapping[str, str]) -> dict[str, Any]:
    names = ("status", "priority", "assignee_id", "team_id", "macro_id")
    chosen: dict[str, Any] = {name: form.text(name) or None for name in names}
    tags = {name: forms.split_list(form.text(name)) or None for name in ("add_tags", "remove_tags")}
    texts = {name: form.text(name).strip() or None for name in ("note", "reply")}
    flags = {name: form.text(name) == "yes" for name in ("raise_priority", "send_event")}
    notify = [by_name.get(identity(each), each) for each in forms.split_list(form.text("notify"))]
    rows = zip(form.texts("set_key"), form.texts("set_value"), strict=False)
    values = {key: _value_of(known, key, typed) for key, typed in [*rows][:MAX_ROWS] if key}
    others = {"notify": notify or None, "custom_fields": values or None}
    return {**chosen, **tags, **texts, **flags, **others}


def _value_of(known: Known, key: str, typed: str) -> Any:
    """What somebody typed for a custom field; a text for one that is not defined."""
    for each in known.fields:
        if each.key == key:
            return field_rules.value_of(each, typed)
    return typed


def set_rows(values: dict[str, Any] | None) -> list[tuple[str, str]]:
    """(key, value as a form shows it), with a row to fill in."""
    return [*((key, value_text(value)) for key, value in (values or {}).items()), ("", "")]
