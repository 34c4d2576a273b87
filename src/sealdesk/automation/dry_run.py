"""A dry run of a rule: what it would have done in the last 30 days; nothing is changed.

One part reads few events, so that requests have their turns between two parts.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from sealdesk.automation import outcomes, references, rules, store
from sealdesk.automation.matching import Facts, facts_of, find_causes
from sealdesk.automation.steps import store as steps
from sealdesk.automation.steps.store import Timed
from sealdesk.automation.types import Condition, Outcome, Rule, RuleActions, Trial
from sealdesk.db.engine import Tx
from sealdesk.event_log import positions
from sealdesk.event_log.consumers import LogEvent
from sealdesk.event_log.events import is_history
from sealdesk.tickets.hours import rules as hours_rules
from sealdesk.tickets.hours import store as hours
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.ticket.store import teams
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import STATUSES

PART_EVENTS = 200
_PARTS = 10  # of a response
_MOST_OUTCOMES = 200
_MAX_DIGITS = 18
_UNCHANGED = 100  # tickets that a rule on time is tried on, the longest unchanged first


class _Tried(NamedTuple):
    """A rule, what it does together with its macro, and the hours that it compares, if it does.

    hours: of the desk. of_teams: of the teams that have their own.
    """

    rule: Rule
    actions: RuleActions
    hours: Hours | None
    of_teams: Mapping[str, Hours]


class OnTicket(NamedTuple):
    """A rule tried on one ticket. missed: the first condition that does not hold."""

    outcome: Outcome | None
    missed: Condition | None


async def try_on_ticket(tx: Tx, rule: Rule, ticket: str, now_us: int) -> OnTicket | None:
    """A rule on a ticket as it is now; None if there is no such ticket. ticket: number or id."""
    ticket_id: str | None = ticket
    if ticket.isascii() and ticket.isdigit() and len(ticket) <= _MAX_DIGITS:
        ticket_id = await ticket_store.find_id(tx, rule.tenant_id, int(ticket))
    shown = ticket_id and await _find(tx, rule.tenant_id, ticket_id)
    if not shown:
        return None
    tried = await _prepare(tx, rule)
    for condition in rule.conditions:
        alone = msgspec.structs.replace(rule, conditions=(condition,))
        if find_causes(alone, _facts(tried, shown, now_us)) is None:
            return OnTicket(None, condition)
    return OnTicket(_outcome(tried, shown, now_us), None)


async def run(
    read: Callable[[Callable[[Tx], Awaitable[Trial]]], Awaitable[Trial]],
    rule: Rule,
    after: int,
    now_us: int,
) -> Trial:
    """Try a rule on some thousand events behind a position, in turns with others.

    read: runs a part in a transaction of its own.
    """
    outcomes = list[Outcome]()
    for _ in range(_PARTS):
        trial = await read(partial(run_part, rule=rule, after=after, now_us=now_us))
        outcomes += trial.outcomes
        after = trial.reached
        if trial.is_over or len(outcomes) >= _MOST_OUTCOMES:
            break
    return trial._replace(outcomes=outcomes)


async def run_part(tx: Tx, rule: Rule, after: int, now_us: int) -> Trial:
    """Try a rule on the next events behind a position."""
    last, first = await positions.find_ends(tx, rule.tenant_id)
    tried = await _prepare(tx, rule)
    if rule.trigger == "unchanged":
        return Trial(await _try_on_unchanged(tx, tried, now_us), last, last, last)
    after = max(after, first)
    events = await store.list_events(tx, rule.tenant_id, after, PART_EVENTS)
    found = [
        await _try_on(tx, tried, each)
        for each in events
        if rules.TRIGGERS.get(each.type) == rule.trigger
        and not is_history(each.id, each.happened_at)
    ]
    reached = events[-1].position if events else last
    return Trial([each for each in found if each is not None], first, reached, last)


async def _prepare(tx: Tx, rule: Rule) -> _Tried:
    macro = await references.find_macro(tx, rule.tenant_id, rule.actions)
    actions = outcomes.with_macro(rule.actions, macro)
    if not any(each.field == "business_hours" for each in rule.conditions):
        return _Tried(rule, actions, None, {})
    listed = await teams.list_teams(tx, rule.tenant_id)
    of_teams = await hours.find_of_teams(tx, rule.tenant_id, [each.id for each in listed])
    return _Tried(rule, actions, await hours.find(tx, rule.tenant_id), of_teams)


async def _try_on(tx: Tx, tried: _Tried, event: LogEvent) -> Outcome | None:
    shown, tenant_id = msgspec.json.decode(event.object), tried.rule.tenant_id
    if not event.type.startswith("ticket."):
        # A reply does not say what its ticket was like: it is taken as it is now.
        if shown.get("is_internal") or await _is_of_rule(tx, tenant_id, shown):
            return None
        ticket = await _find(tx, tenant_id, shown["ticket_id"])
        return None if ticket is None else _outcome(tried, ticket, event.happened_at, shown)
    outcome = _outcome(tried, shown, event.happened_at)
    if outcome is None or tried.rule.trigger in rules.ANNOUNCED:
        return outcome
    if await steps.is_caused(tx, tenant_id, shown["id"], shown["version"]):
        return None
    return outcome


async def _is_of_rule(tx: Tx, tenant_id: str, reply: dict[str, Any]) -> bool:
    return await steps.is_rule(tx, tenant_id, reply["ticket_id"], reply["author"]["id"])


def _outcome(
    tried: _Tried, ticket: dict[str, Any], at: int, reply: dict[str, Any] | None = None
) -> Outcome | None:
    facts = _facts(tried, ticket, at, reply)
    return outcomes.find_outcome(tried.rule, tried.actions, ticket, at, facts)


def _facts(
    tried: _Tried, ticket: dict[str, Any], at: int, reply: dict[str, Any] | None = None
) -> Facts:
    own = tried.of_teams.get(ticket.get("team_id") or "", tried.hours)
    is_open = None if own is None else hours_rules.is_open(own, at)
    return facts_of(ticket, reply=reply, is_open=is_open)


async def _try_on_unchanged(tx: Tx, tried: _Tried, now_us: int) -> list[Outcome]:
    rule = tried.rule
    until = now_us - rule.hours * rules.HOUR_US
    found = await steps.list_unchanged(tx, Timed(rule, 0, ""), STATUSES, until, _UNCHANGED)
    tickets = [(at, await _find(tx, rule.tenant_id, ticket_id)) for at, ticket_id in found]
    # As now, when the rule would run.
    done = [(at, _outcome(tried, each, now_us)) for at, each in tickets if each is not None]
    return [each._replace(at=at) for at, each in done if each is not None]


async def _find(tx: Tx, tenant_id: str, ticket_id: str) -> dict[str, Any] | None:
    view = await ticket_store.find_view(tx, tenant_id, ticket_id)
    return None if view is None else dict(msgspec.json.decode(view.json))
