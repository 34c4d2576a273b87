"""Whether the people, teams, macros and fields that a rule names are there."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.automation import possible
from sealdesk.automation.rules import CUSTOM
from sealdesk.automation.types import Condition, PauseReason, Rule, RuleActions
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, gettext_noop
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields import rules as field_rules
from sealdesk.tickets.custom_fields.rules import Values
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.hours import store as hours
from sealdesk.tickets.macros import store as macros
from sealdesk.tickets.macros.types import Macro
from sealdesk.tickets.ticket.store import assignees, teams

_FAULTS: dict[PauseReason, tuple[str, str]] = {
    "team_missing": ("unknown_team", gettext_noop("There is no such team.")),
    "person_missing": ("unknown_user", gettext_noop("There is no such active user.")),
    "macro_missing": ("unknown_macro", gettext_noop("There is no such macro.")),
    "field_missing": ("unknown_field", gettext_noop("There is no such custom field.")),
}
_NO_HOURS = gettext_noop("The desk has no business hours yet. Set them first.")
_PARTS = frozenset("0123456789.+-eE")  # of numbers and dates
_NO_USER = gettext_noop("There is no such user.")


class Gone(NamedTuple):
    """What a rule names and is not there. pointer: where it names it."""

    pointer: str
    reason: PauseReason


async def find_macro(tx: Tx, tenant_id: str, actions: RuleActions) -> Macro | None:
    """The macro of a rule; None if it has none, or the macro is gone."""
    return None if actions.macro_id is None else await macros.find(tx, tenant_id, actions.macro_id)


async def list_gone(tx: Tx, tenant_id: str, actions: RuleActions) -> list[Gone]:
    """What of the actions is not there."""
    gone = list[Gone]()
    if actions.team_id is not None and not await teams.is_team(tx, tenant_id, actions.team_id):
        gone.append(Gone("/actions/team_id", "team_missing"))
    if actions.assignee_id is not None and not await assignees.is_assignable(
        tx, tenant_id, actions.assignee_id
    ):
        gone.append(Gone("/actions/assignee_id", "person_missing"))
    if actions.macro_id is not None and await macros.find(tx, tenant_id, actions.macro_id) is None:
        gone.append(Gone("/actions/macro_id", "macro_missing"))
    for place, each in enumerate(actions.notify or ()):
        is_person = await assignees.is_assignable(tx, tenant_id, each)
        if not is_person and not await teams.is_team(tx, tenant_id, each):
            gone.append(Gone(f"/actions/notify/{place}", "person_missing"))
    if actions.custom_fields:
        keys = {each.key for each in await custom_fields.list_active(tx, tenant_id)}
        gone += [
            Gone(f"/actions/custom_fields/{key}", "field_missing")
            for key in actions.custom_fields
            if key not in keys
        ]
    return gone


async def list_recipients(tx: Tx, tenant_id: str, actions: RuleActions) -> list[str]:
    """The ids of the people whom a rule notifies, those of teams among them."""
    user_ids = dict[str, None]()
    for each in actions.notify or ():
        members = await teams.list_member_ids(tx, tenant_id, each)
        is_person = not members and not await teams.is_team(tx, tenant_id, each)
        user_ids |= dict.fromkeys([each] if is_person else members)
    return [*user_ids]


async def find_faults(tx: Tx, rule: Rule) -> list[Fault]:
    """What a rule names in vain, for who saves it."""
    gone = await list_gone(tx, rule.tenant_id, rule.actions)
    faults = [Fault(each.pointer, *_FAULTS[each.reason]) for each in gone]
    fields = await custom_fields.list_active(tx, rule.tenant_id)
    values = Values({}, rule.actions.custom_fields or {}, is_resolved=False)
    faults += [
        each._replace(pointer=f"/actions{each.pointer}")
        for each in field_rules.find_faults(fields, values)
    ]
    choices = {f"{CUSTOM}{each.key}": _choices_of(each) for each in fields if _choices_of(each)}
    defined = [f"{CUSTOM}{each.key}" for each in fields]
    faults += possible.find_faults(rule.conditions, rule.trigger, choices, defined)
    for place, condition in enumerate(rule.conditions):
        fault = _fault_of_value(condition, fields) or await _fault_of(tx, rule.tenant_id, condition)
        faults += [fault._replace(pointer=f"/conditions/{place}")] if fault else []
    return faults


def _choices_of(field: Field) -> tuple[str, ...]:
    """The values of a custom field that has few; none for the others."""
    values = ("true", "false") if field.type == "checkbox" else tuple(field.choices)
    return ("", *values) if values else ()


def _fault_of_value(condition: Condition, fields: Sequence[Field]) -> Fault | None:
    """Whether a condition is about a number or a day that is none, or a part of none."""
    by_name = {f"{CUSTOM}{each.key}": each for each in fields if each.type in ("number", "date")}
    field = by_name.get(condition.field)
    if field is None:
        return None
    is_whole = condition.operator in ("is", "is_not")
    for text in filter(None, condition.values):
        if not is_whole and _PARTS.issuperset(text):
            continue
        value = {field.key: field_rules.value_of(field, text)}
        if faults := field_rules.find_faults([field], Values({}, value, is_resolved=False)):
            return faults[0]
    return None


async def _fault_of(tx: Tx, tenant_id: str, condition: Condition) -> Fault | None:
    """Whether a condition is about hours that are not there, or about nobody."""
    wanted = {*condition.values} - {""}
    if condition.field == "business_hours":
        is_known = await _has_hours(tx, tenant_id, is_open=possible.is_met(condition, "yes"))
        return None if is_known else Fault("", "no_business_hours", _NO_HOURS)
    if condition.field == "team_id":
        live = {each.id for each in await teams.list_teams(tx, tenant_id)}
        return None if live >= wanted else Fault("", *_FAULTS["team_missing"])
    if condition.field == "assignee_id":
        known = await assignees.list_names(tx, tenant_id, wanted)
        return None if known.keys() >= wanted else Fault("", "unknown_user", _NO_USER)
    return None


async def _has_hours(tx: Tx, tenant_id: str, *, is_open: bool) -> bool:
    """Whether the desk or a team has hours. is_open: those in which it is ever open."""
    team_ids = [each.id for each in await teams.list_teams(tx, tenant_id)]
    of_teams = await hours.find_of_teams(tx, tenant_id, team_ids)
    known = [await hours.find(tx, tenant_id), *of_teams.values()]
    return any(each is not None and (not is_open or any(each.week)) for each in known)
