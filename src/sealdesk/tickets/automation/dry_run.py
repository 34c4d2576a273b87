"""A dry run of a rule: what it would have done in the last 30 days; nothing is changed.

One part reads few events, so that requests have their turns between two parts.
"""

from typing import Any

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.event_log.events import is_history
from sealdesk.tickets.automation import rules, store
from sealdesk.tickets.automation.steps import store as steps
from sealdesk.tickets.automation.steps.store import Timed
from sealdesk.tickets.automation.types import Outcome, Rule, Trial
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.types import STATUSES

PART_EVENTS = 200
_UNCHANGED = 100  # tickets that a rule on time is tried on, the longest unchanged first


async def run_part(tx: Tx, rule: Rule, after: int, now_us: int) -> Trial:
    """Try a rule on the next events behind a position."""
    first, last = await store.find_feed(tx, rule.tenant_id)
    if rule.trigger == "unchanged":
        return Trial(await _try_on_unchanged(tx, rule, now_us), last, last, last)
    after = max(after, first)
    events = await store.list_events(tx, rule.tenant_id, after, PART_EVENTS)
    found = [
        await _try_on(tx, rule, each)
        for each in events
        if rules.TRIGGERS.get(each.type) == rule.trigger
        and not is_history(each.id, each.happened_at)
    ]
    reached = events[-1].position if events else last
    return Trial([each for each in found if each is not None], first, reached, last)


async def _try_on(tx: Tx, rule: Rule, event: LogEvent) -> Outcome | None:
    shown = msgspec.json.decode(event.object)
    if not event.type.startswith("ticket."):
        # A reply does not say what its ticket was like: it is taken as it is now.
        ticket = None if shown.get("is_internal") else await _find(tx, rule, shown["ticket_id"])
        return None if ticket is None else rules.find_outcome(rule, ticket, event.happened_at)
    outcome = rules.find_outcome(rule, shown, event.happened_at)
    if outcome is None or rule.trigger == "breached":
        return outcome
    if await steps.is_caused(tx, rule.tenant_id, shown["id"], shown["version"]):
        return None
    return outcome


async def _try_on_unchanged(tx: Tx, rule: Rule, now_us: int) -> list[Outcome]:
    until = now_us - rule.hours * rules.HOUR_US
    found = await steps.list_unchanged(tx, Timed(rule, 0, ""), STATUSES, until, _UNCHANGED)
    tickets = [(at, await _find(tx, rule, ticket_id)) for at, ticket_id in found]
    outcomes = [rules.find_outcome(rule, each, at) for at, each in tickets if each is not None]
    return [each for each in outcomes if each is not None]


async def _find(tx: Tx, rule: Rule, ticket_id: str) -> dict[str, Any] | None:
    view = await ticket_store.find_view(tx, rule.tenant_id, ticket_id)
    return None if view is None else dict(msgspec.json.decode(view.json))
