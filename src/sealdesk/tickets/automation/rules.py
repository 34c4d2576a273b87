"""Which automation rules hold for a ticket, and whether they ever can; no IO."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch, representation
from sealdesk.resources.identity import identity
from sealdesk.tickets.automation.types import (
    Cause,
    Condition,
    NewRule,
    Outcome,
    Rule,
    RuleActions,
    RuleChange,
    RuleResponse,
    ShownActions,
    Trigger,
)
from sealdesk.tickets.types import PRIORITIES, STATUSES, TicketChange

MAX_RULES = 1000
# Of all rules on one ticket within an hour; what is beyond is a loop through another system.
MAX_EFFECTS_PER_HOUR = 20
HOUR_US = 3600 * 1_000_000
CHANGED = ("name", "position", "trigger", "hours", "conditions", "actions", "is_enabled")
# A further event of tickets is a line here.
TRIGGERS: Mapping[str, Trigger] = {
    "ticket.created": "created",
    "ticket.updated": "changed",
    "reply.created": "replied",
    "reply.bounced": "bounced",
    "ticket.sla_breached": "breached",
}
FIELDS = (
    *("status", "priority", "source", "tag", "subject", "description"),
    *("customer_email", "team_id", "assignee_id"),
)
CUSTOM = "custom_fields."
_CHOICES = {
    "status": STATUSES,
    "priority": PRIORITIES,
    "source": ("api", "dashboard", "email"),
}
_NO_FIELD = gettext_noop("There is no such field.")
_NO_CHOICE = gettext_noop("This is never the value of this field.")
_NEVER = gettext_noop("This can never hold together with the other conditions.")
_NO_ACTION = gettext_noop("Choose at least one thing that the rule does.")
_HOURS_UNUSED = gettext_noop("Only a rule about unchanged tickets has hours.")
_NO_HOURS = gettext_noop("Give the number of hours.")

# Offered on the page until the desk has a rule of this name.
READY_MADE = (
    NewRule(
        name=gettext_noop("Close what is resolved"),
        trigger="unchanged",
        hours=96,
        conditions=[Condition("status", "is", ["resolved"])],
        actions=RuleActions(status="closed"),
        is_enabled=True,
    ),
    NewRule(
        name=gettext_noop("Follow up on pending tickets"),
        trigger="unchanged",
        hours=72,
        conditions=[Condition("status", "is", ["pending"])],
        actions=RuleActions(status="open", add_tags=["follow-up"]),
        is_enabled=True,
    ),
    NewRule(
        name=gettext_noop("Remind of open tickets"),
        trigger="unchanged",
        hours=48,
        conditions=[Condition("status", "is", ["open"])],
        actions=RuleActions(note=gettext_noop("Nothing has happened here for two days.")),
        is_enabled=True,
    ),
)

_respond = representation.response_builder(RuleResponse)


def to_response(rule: Rule) -> RuleResponse:
    """A rule as the API shows it."""
    actions = ShownActions(**msgspec.structs.asdict(rule.actions))
    return msgspec.structs.replace(_respond(rule), actions=actions)


Facts = Mapping[str, frozenset[str]]


def find_faults(rule: Rule) -> list[Fault]:
    """What is wrong with a rule by itself."""
    faults = [] if rule.actions != RuleActions() else [Fault("/actions", "empty", _NO_ACTION)]
    if rule.trigger == "unchanged" and not rule.hours:
        faults.append(Fault("/hours", "required", _NO_HOURS))
    if rule.trigger != "unchanged" and rule.hours:
        faults.append(Fault("/hours", "not_needed", _HOURS_UNUSED))
    for place, condition in enumerate(rule.conditions):
        fault = _fault_of(condition)
        if fault is None and _never_holds(condition, rule.conditions):
            fault = "never_holds", _NEVER
        if fault:
            faults.append(Fault(f"/conditions/{place}", *fault))
    return faults


def _fault_of(condition: Condition) -> tuple[str, str] | None:
    field, values = condition.field, condition.values
    if field not in FIELDS and not (field.startswith(CUSTOM) and len(field) > len(CUSTOM)):
        return "unknown_field", _NO_FIELD
    if field in _CHOICES and not {*values} <= {*_CHOICES[field]}:
        return "unknown_value", _NO_CHOICE
    return None


def _never_holds(condition: Condition, conditions: Sequence[Condition]) -> bool:
    """Whether the others leave none of its values. A ticket has several tags."""
    if condition.operator not in ("is", "contains"):
        return False
    left = _wanted(condition)
    for other in conditions:
        wanted = _wanted(other)
        if other.field != condition.field or other is condition:
            continue
        if other.operator == "is_not" and condition.operator == "is":
            left -= wanted
        elif other.operator == "lacks":
            left = frozenset(each for each in left if not any(part in each for part in wanted))
        elif other.operator == condition.operator == "is" and not _is_list(condition.field):
            left &= wanted
    return not left


def _is_list(field: str) -> bool:
    return field == "tag" or field.startswith(CUSTOM)


def _wanted(condition: Condition) -> frozenset[str]:
    return frozenset(map(identity, condition.values))


def facts_of(ticket: Mapping[str, Any]) -> Facts:
    """The values of a ticket's fields that conditions compare. ticket: as the API shows it."""
    facts = {
        name: frozenset({identity(ticket.get(name) or "")})
        for name in FIELDS
        if name not in ("tag", "customer_email")
    }
    facts["tag"] = frozenset(map(identity, ticket["tags"]))
    facts["customer_email"] = frozenset({identity(ticket["customer"]["email"])})
    return facts | {f"{CUSTOM}{key}": _texts(each) for key, each in ticket["custom_fields"].items()}


def _texts(value: Any) -> frozenset[str]:
    values = value if isinstance(value, list) else [value]
    return frozenset(identity(_text(each)) for each in values)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


_NOTHING = frozenset({""})


def find_causes(rule: Rule, facts: Facts) -> list[Cause] | None:
    """For which values the conditions hold; None if one does not."""
    causes = []
    for each in rule.conditions:
        found = facts.get(each.field, _NOTHING)
        values = [value for value in each.values if _is_found(value, each, found)]
        if bool(values) != (each.operator in ("is", "contains")):
            return None
        causes.append(Cause(each.field, each.operator, (values or each.values)[0]))
    return causes


def _is_found(value: str, condition: Condition, found: frozenset[str]) -> bool:
    wanted = identity(value)
    if condition.operator in ("is", "is_not"):
        return wanted in (found or _NOTHING)
    return any(wanted in each for each in found)


class _Prepared(NamedTuple):
    """A rule whose values are prepared for comparison.

    tests: (field, whether the whole value is compared, the values, whether one must be found).
    """

    rule: Rule
    tests: tuple[tuple[str, bool, frozenset[str], bool], ...]


def _prepare(rule: Rule) -> _Prepared:
    return _Prepared(
        rule,
        tuple(
            (
                each.field,
                each.operator in ("is", "is_not"),
                _wanted(each),
                each.operator in ("is", "contains"),
            )
            for each in rule.conditions
        ),
    )


def _holds(prepared: _Prepared, facts: Facts) -> bool:
    for field, is_whole, wanted, must_be_found in prepared.tests:
        found = facts.get(field) or _NOTHING
        is_found = not wanted.isdisjoint(found) if is_whole else _has_part(wanted, found)
        if is_found != must_be_found:
            return False
    return True


def _has_part(wanted: frozenset[str], found: frozenset[str]) -> bool:
    for part in wanted:  # not any(): 1,000 rules are compared with each event
        for text in found:
            if part in text:
                return True
    return False


class RuleIndex:
    """The rules of a tenant by trigger and by one value that a ticket must have.

    So an event costs what the rules cost that may hold for it, not what all of them cost.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_value: dict[tuple[Trigger, str, str], list[_Prepared]] = {}
        self._others: dict[Trigger, list[_Prepared]] = {}
        for rule in rules:
            keyed = next((each for each in rule.conditions if each.operator == "is"), None)
            if keyed is None:
                self._others.setdefault(rule.trigger, []).append(_prepare(rule))
                continue
            for value in _wanted(keyed):
                self._by_value.setdefault((rule.trigger, keyed.field, value), []).append(
                    _prepare(rule)
                )
        self._fields = {(trigger, field) for trigger, field, _ in self._by_value}
        self.triggers = frozenset({trigger for trigger, _ in self._fields} | {*self._others})

    def may_act(self, trigger: Trigger, facts: Facts, event_us: int) -> bool:
        """Whether a rule holds for a ticket as it is."""
        return any(
            each.rule.enabled_at <= event_us and _holds(each, facts)
            for each in self._candidates(trigger, facts)
        )

    def _candidates(self, trigger: Trigger, facts: Facts) -> Iterable[_Prepared]:
        yield from self._others.get(trigger, ())
        for of, field in self._fields:
            if of == trigger:
                for value in facts.get(field) or _NOTHING:
                    yield from self._by_value.get((trigger, field, value), ())


def change_of(actions: RuleActions) -> TicketChange:
    """What a rule changes, without its note."""
    given = msgspec.structs.asdict(actions)
    del given["note"]
    return TicketChange(**{name: value for name, value in given.items() if value})


def find_outcome(rule: Rule, ticket: Mapping[str, Any], at: int) -> Outcome | None:
    """What a rule does to a ticket as it is; None if nothing. ticket: as the API shows it."""
    causes = find_causes(rule, facts_of(ticket))
    if causes is None:
        return None
    actions, changes = rule.actions, dict[str, tuple[Any, Any]]()
    for name in ("status", "priority", "team_id"):
        wanted, current = getattr(actions, name), ticket.get(name)
        if wanted is not None and wanted != current:
            changes[name] = current, wanted
    removed = {*map(identity, actions.remove_tags or ())}
    tags = [each for each in ticket["tags"] if identity(each) not in removed]
    known = {*map(identity, tags)}
    tags += [each for each in actions.add_tags or () if identity(each) not in known]
    if tags != ticket["tags"]:
        changes["tags"] = ticket["tags"], tags
    if not changes and actions.note is None:
        return None
    return Outcome(ticket["id"], ticket["number"], ticket["subject"], at, changes, causes)


def changed(rule: Rule, change: RuleChange, now_us: int) -> Rule:
    """The rule after a change; the same object if nothing differs. A change ends a pause."""
    wanted = {name: getattr(change, name) for name in merge_patch.given_fields(change)}
    if "conditions" in wanted:
        wanted["conditions"] = tuple(wanted["conditions"])
    is_resumed = rule.paused_because is not None and change.is_enabled is True
    after = msgspec.structs.replace(rule, **wanted)
    if after == rule and not is_resumed:
        return rule
    enabled_at = now_us if after.is_enabled and not rule.is_enabled else rule.enabled_at
    return msgspec.structs.replace(
        after,
        paused_because=None,
        enabled_at=now_us if is_resumed else enabled_at,
        version=rule.version + 1,
        updated_at=now_us,
    )


def differences(before: Rule, after: Rule) -> Changes:
    """The changed fields for the audit log: field → (old, new), without the note's text."""
    return {
        name: (msgspec.to_builtins(old), msgspec.to_builtins(new))
        for name, (old, new) in merge_patch.differences(before, after, CHANGED).items()
    }


def order(rule: Rule) -> tuple[int, str]:
    """The order in which rules run."""
    return rule.position, rule.id
