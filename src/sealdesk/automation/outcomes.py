"""What a rule does to a ticket; no IO."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sealdesk.automation.matching import Facts, facts_of, find_causes
from sealdesk.automation.types import Outcome, Rule, RuleActions
from sealdesk.resources import merge_patch
from sealdesk.resources.identity import identity
from sealdesk.tickets.macros.types import ME, Macro
from sealdesk.tickets.ticket.rules import distinct
from sealdesk.tickets.ticket.types import CUSTOM, PRIORITIES, Priority, TicketChange

# What a rule does besides changing fields.
OTHER_ACTIONS = ("note", "reply", "notify", "send_event")


def with_macro(actions: RuleActions, macro: Macro | None) -> RuleActions:
    """What a rule does together with its macro; what the rule sets itself comes first."""
    if macro is None:
        return actions
    assignee_id = None if macro.assignee_id == ME else macro.assignee_id
    tags = distinct([*(actions.add_tags or ()), *macro.tags])
    removed = {*map(identity, actions.remove_tags or ())}
    return msgspec.structs.replace(
        actions,
        status=actions.status or macro.status,
        priority=None if actions.raise_priority else actions.priority or macro.priority,
        assignee_id=actions.assignee_id or assignee_id,
        team_id=actions.team_id or macro.team_id,
        add_tags=[each for each in tags if identity(each) not in removed] or None,
        reply=actions.reply or macro.body or None,
    )


def change_of(actions: RuleActions, priority: Priority) -> TicketChange:
    """The fields that a rule changes. priority: what the ticket has."""
    names = ("status", "priority", "assignee_id", "team_id", "add_tags", "remove_tags")
    given: dict[str, Any] = {name: getattr(actions, name) for name in (*names, "custom_fields")}
    if actions.raise_priority:
        given["priority"] = raised(priority)
    return TicketChange(**{name: value for name, value in given.items() if value})


def raised(priority: Priority) -> Priority:
    """The next higher priority; urgent stays."""
    return PRIORITIES[min(PRIORITIES.index(priority) + 1, len(PRIORITIES) - 1)]


def others_of(actions: RuleActions) -> tuple[str, ...]:
    """Which of OTHER_ACTIONS a rule does."""
    return tuple(name for name in OTHER_ACTIONS if getattr(actions, name))


def find_outcome(
    rule: Rule,
    actions: RuleActions,
    ticket: Mapping[str, Any],
    at: int,
    facts: Facts | None = None,
) -> Outcome | None:
    """What a rule does to a ticket as it is; None if nothing.

    actions: of the rule, with those of its macro. ticket: as the API shows it.
    """
    causes = find_causes(rule, facts_of(ticket) if facts is None else facts)
    if causes is None:
        return None
    changes, others = _changes(actions, ticket), others_of(actions)
    if not changes and not others:
        return None
    return Outcome(ticket["id"], ticket["number"], ticket["subject"], at, changes, others, causes)


def _changes(actions: RuleActions, ticket: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    change = change_of(actions, ticket["priority"])
    changes = dict[str, tuple[Any, Any]]()
    for name, wanted in merge_patch.given_fields(change).items():
        if name in ("status", "priority", "assignee_id", "team_id") and wanted != ticket.get(name):
            changes[name] = ticket.get(name), wanted
    removed = {*map(identity, actions.remove_tags or ())}
    tags = [each for each in ticket["tags"] if identity(each) not in removed]
    known = {*map(identity, tags)}
    tags += [each for each in actions.add_tags or () if identity(each) not in known]
    if tags != ticket["tags"]:
        changes["tags"] = ticket["tags"], tags
    old = ticket["custom_fields"]
    new = merge_patch.merge(old, actions.custom_fields or {})
    for key in merge_patch.changed_keys(old, new):
        changes[f"{CUSTOM}{key}"] = old.get(key), new.get(key)
    return changes
