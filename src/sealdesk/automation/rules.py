"""What is wrong with automation rules, and how they are changed; no IO."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

import msgspec

from sealdesk.automation.types import (
    Condition,
    DryRun,
    Outcome,
    Rule,
    RuleActions,
    RuleChange,
    RuleResponse,
    ShownActions,
    Trial,
    TriedTicket,
    Trigger,
)
from sealdesk.clock import iso
from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch, representation
from sealdesk.resources.identity import identity
from sealdesk.resources.representation import email_identity

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
    "ticket.rated": "rated",
    "ticket.sla_warning": "warned",
    "ticket.sla_breached": "breached",
}
# They change nothing, so the ticket has the version of what happened before.
ANNOUNCED: tuple[Trigger, ...] = ("warned", "breached")
FIELDS = (
    *("status", "priority", "source", "tag", "subject", "description", "message", "last_reply_by"),
    *("customer_email", "customer_name", "team_id", "assignee_id", "external_id"),
    *("rating", "rating_comment", "business_hours"),
)
OF_REPLY = ("message", "last_reply_by")  # what a reply says of itself
LATER = ("business_hours",)  # known only when the rules of a ticket run
CUSTOM = "custom_fields."
_NOTHING: tuple[object, ...] = (None, False, [], {})  # of an action
_CONFLICTING = gettext_noop("This contradicts another thing that the rule does.")
_NO_ACTION = gettext_noop("Choose at least one thing that the rule does.")
_HOURS_UNUSED = gettext_noop("Only a rule about unchanged tickets has hours.")
_NO_HOURS = gettext_noop("Give the number of hours.")

_respond = representation.response_builder(RuleResponse)


def to_response(rule: Rule) -> RuleResponse:
    """A rule as the API shows it."""
    actions = ShownActions(**msgspec.structs.asdict(rule.actions))
    return msgspec.structs.replace(_respond(rule), actions=actions)


def to_dry_run(trial: Trial) -> DryRun:
    """A part of a dry run as the API shows it."""
    tickets = [to_tried_ticket(each) for each in trial.outcomes]
    return DryRun(tickets, None if trial.is_over else trial.reached)


def to_tried_ticket(outcome: Outcome) -> TriedTicket:
    """What a rule would have done to a ticket, as the API shows it."""
    return TriedTicket(
        outcome.ticket_id,
        outcome.number,
        outcome.subject,
        iso(outcome.at),
        outcome.changes,
        outcome.others,
        tuple(Condition(each.field, each.operator, [each.value]) for each in outcome.causes),
    )


def find_faults(rule: Rule) -> list[Fault]:
    """What is wrong with a rule by itself, apart from its conditions."""
    faults = _action_faults(rule.actions)
    if rule.trigger == "unchanged" and not rule.hours:
        faults.append(Fault("/hours", "required", _NO_HOURS))
    if rule.trigger != "unchanged" and rule.hours:
        faults.append(Fault("/hours", "not_needed", _HOURS_UNUSED))
    return faults


def _action_faults(actions: RuleActions) -> list[Fault]:
    if all(each in _NOTHING for each in msgspec.structs.astuple(actions)):
        return [Fault("/actions", "empty", _NO_ACTION)]
    faults = []
    if actions.raise_priority and actions.priority is not None:
        faults.append(Fault("/actions/raise_priority", "conflicting_fields", _CONFLICTING))
    added = {*map(identity, actions.add_tags or ())}
    if not added.isdisjoint(map(identity, actions.remove_tags or ())):
        faults.append(Fault("/actions/remove_tags", "conflicting_fields", _CONFLICTING))
    return faults


def wanted_of(condition: Condition) -> frozenset[str]:
    """The values of a condition, as they are compared; those of custom fields also as numbers."""
    forms = forms_of(condition.field, condition.values)
    if not condition.field.startswith(CUSTOM):
        return forms
    return forms | {form for each in condition.values if (form := number_form(each))}


def number_form(text: str) -> str:
    """One form for a number however it is written, and like no text; "" for what is none."""
    try:
        return f"\0{(Decimal(text.strip()) + 0).normalize()}\0"
    except ArithmeticError:
        return ""


def forms_of(field: str, values: Iterable[str]) -> frozenset[str]:
    """The values of a field, as they are compared: addresses also as mail servers know them."""
    forms = frozenset(map(identity, values))
    return forms | {*map(email_identity, values)} if field == "customer_email" else forms


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
