"""Whether the conditions of an automation rule can hold; no IO."""

from collections.abc import Collection, Mapping, Sequence
from typing import get_args

import msgspec

from sealdesk.automation.rules import CUSTOM, FIELDS, forms_of, wanted_of
from sealdesk.automation.types import Condition, Trigger
from sealdesk.errors import Fault, gettext_noop
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket.types import (
    MAX_TAG_LENGTH,
    PRIORITIES,
    STATUSES,
    AuthorType,
    FirstStatus,
    Source,
)

Choices = Mapping[str, Collection[str]]
_RATINGS = ("1", "2", "3", "4", "5")
_CHOICES: Choices = {
    "status": STATUSES,
    "priority": PRIORITIES,
    "source": get_args(Source),
    "rating": ("", *_RATINGS),
    "last_reply_by": ("", *get_args(AuthorType)),
    "business_hours": ("yes", "no"),
}
_COMES_LATER = ("rating", "rating_comment", "last_reply_by")
# What events leave of them.
_LEFT: Mapping[Trigger, Choices] = {
    "created": {"status": get_args(FirstStatus), **dict.fromkeys(_COMES_LATER, ("",))},
    "rated": {"rating": _RATINGS},
    "replied": {"last_reply_by": get_args(AuthorType)},
}
_NEVER_EMPTY = ("subject", "customer_email")
_ONE = frozenset(FIELDS) - {"tag"}  # the fields that have one value; a ticket has several tags
_WRITING: tuple[Trigger, ...] = ("created", "replied")
_NO_FIELD = gettext_noop("There is no such field.")
_NO_ADDRESS = gettext_noop("This is no e-mail address. Choose “contains” for a part of one.")
_NO_CHOICE = gettext_noop("This must be one of %(choices)s.")
_NEVER = gettext_noop("This can never hold together with the other conditions.")
_NOTHING_WRITTEN = gettext_noop("Only for new tickets and replies is there a message.")
_NOT_YET = gettext_noop("A new ticket has none yet.")


def find_faults(
    conditions: Sequence[Condition],
    trigger: Trigger,
    choices: Choices,
    defined: Collection[str] = (),
) -> list[Fault]:
    """Conditions that can never hold. choices: the values of custom fields that have few. defined:
    the custom fields that have one value."""
    if trigger == "created":
        conditions = [*map(_of_new_ticket, conditions)]
    known = {**_CHOICES, **choices}
    left = {**known, **_LEFT.get(trigger, {})}
    faults = []
    for place, each in enumerate(conditions):
        fault = _unknown(each, known.get(each.field))
        fault = fault or _never(each, conditions, trigger, left, _ONE.union(defined))
        faults += [fault._replace(pointer=f"/conditions/{place}")] if fault else []
    return faults


def _of_new_ticket(condition: Condition) -> Condition:
    """The message of a new ticket is its description."""
    field = "description" if condition.field == "message" else condition.field
    return msgspec.structs.replace(condition, field=field)


def _unknown(condition: Condition, choices: Collection[str] | None) -> Fault | None:
    field, is_whole = condition.field, condition.operator in ("is", "is_not")
    if field not in FIELDS and not (field.startswith(CUSTOM) and len(field) > len(CUSTOM)):
        return Fault("", "unknown_field", _NO_FIELD)
    wanted = forms_of(field, condition.values)
    if choices is not None and is_whole and not {*map(identity, choices)} >= wanted:
        return Fault("", "unknown_value", _NO_CHOICE, {"choices": ", ".join(filter(None, choices))})
    is_address = field == "customer_email" and is_whole
    if is_address and not all(each and "@" in each[1:-1] for each in condition.values):
        return Fault("", "invalid_value", _NO_ADDRESS)
    return None


def _never(
    condition: Condition,
    conditions: Sequence[Condition],
    trigger: Trigger,
    left: Choices,
    one: Collection[str],
) -> Fault | None:
    field, choices = condition.field, left.get(condition.field)
    if field == "message" and trigger not in _WRITING:
        return Fault("", "never_holds", _NOTHING_WRITTEN)
    if field == "rating_comment" and not is_met(condition, "") and _is_unrated(conditions):
        return Fault("", "never_holds", _NEVER)
    if _can_hold([each for each in conditions if each.field == field], choices, one):
        return None
    if trigger == "created" and field in _COMES_LATER:
        return Fault("", "never_holds", _NOT_YET)
    if choices is not None and not _can_hold([condition], choices, one):
        return Fault("", "never_holds", _NO_CHOICE, {"choices": ", ".join(filter(None, choices))})
    return Fault("", "never_holds", _NEVER)


def _is_unrated(conditions: Sequence[Condition]) -> bool:
    """Whether they leave only tickets without a rating, which have no comment either."""
    of_rating = [each for each in conditions if each.field == "rating"]
    return bool(of_rating) and not _can_hold(of_rating, _RATINGS, ())


def _can_hold(
    conditions: Sequence[Condition], choices: Collection[str] | None, one: Collection[str]
) -> bool:
    """Whether a value meets all conditions of one field. one: the fields that have one value."""
    if choices is not None:
        values = map(identity, choices)
        return any(all(is_met(each, value) for each in conditions) for value in values)
    is_empty = all(is_met(each, "") for each in conditions)
    if is_empty and conditions[0].field not in _NEVER_EMPTY:
        return True
    return all(_leaves_some(each, conditions, one) for each in conditions)


def is_met(condition: Condition, value: str) -> bool:
    """Whether a value meets a condition."""
    wanted = wanted_of(condition)
    if condition.operator in ("is", "is_not"):
        return (value in wanted) == (condition.operator == "is")
    return any(part in value for part in wanted) == (condition.operator == "contains")


def _leaves_some(
    condition: Condition, conditions: Sequence[Condition], one: Collection[str]
) -> bool:
    """Whether the others leave one of the values, or of their parts, that a condition wants."""
    others = [each for each in conditions if each is not condition]
    if condition.field == "tag":
        short = [each for each in condition.values if len(each.strip()) <= MAX_TAG_LENGTH]
        condition = msgspec.structs.replace(condition, values=short)
    wanted = wanted_of(condition)
    if condition.operator == "is":
        is_one = condition.field in one
        met = [each for each in others if is_one or each.operator in ("is_not", "lacks")]
        return any(all(is_met(each, value) for each in met) for value in wanted - {""})
    if condition.operator == "contains":
        lacking = [each for each in others if each.operator == "lacks"]
        return any(all(is_met(each, part) for each in lacking) for part in wanted)
    return condition.operator == "is_not" or "" not in wanted
