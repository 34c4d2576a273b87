"""One step of the automation rules of a tenant: those of one ticket, in one transaction."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.automation import matching, rules
from sealdesk.automation import store as automation_store
from sealdesk.automation.steps import running, store
from sealdesk.automation.steps.store import Task, Timed
from sealdesk.automation.types import Rule
from sealdesk.db.engine import Tx
from sealdesk.records import test_tenants
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.hours import rules as hours_rules
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import STATUSES

_STEP_TICKETS = 50  # that a rule on time looks at
_PRUNED = {"body": "", "author": {"type": None}}  # a reply whose event is gone
_GIVEN_UP_AFTER_US = 24 * rules.HOUR_US


class Moment(NamedTuple):
    """When rules run, when that happened for which they run, and the reply as events show it."""

    now_us: int
    happened_us: int
    reply: Mapping[str, Any] | None


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Run the rules of the next ticket; 0 when there is none.

    What they change and that the ticket had its turn are committed together, so each effect
    happens once, whenever a process ends.
    """
    await tx.set_tenant(tenant_id)
    if not await tx.try_lock("automation", tenant_id):
        return 0
    tenant_us = now_us + await test_tenants.find_offset_us(tx, tenant_id)
    task = await store.find_task(tx, tenant_id, now_us)
    if task is not None:
        wanted = [
            each
            for each in await store.list_running(tx, tenant_id)
            if task.caused_by in (each.trigger, each.id) and each.enabled_at <= task.created_at
        ]
        reply = await _find_reply(tx, tenant_id, task, wanted)
        at = Moment(tenant_us, task.created_at, reply)
        await _run_rules(tx, tenant_id, task.ticket_id, wanted, at)
        await store.delete_task(tx, tenant_id, task)
        return 1
    timed = await store.find_timed(tx, tenant_id, now_us)
    return 0 if timed is None else await _look_at_unchanged(tx, timed, now_us, tenant_us)


async def _look_at_unchanged(tx: Tx, timed: Timed, now_us: int, tenant_us: int) -> int:
    """Run a rule on the next ticket that is unchanged for as long as it says."""
    found = await _list_unchanged(tx, timed, tenant_us)
    for updated_at, ticket_id in found:
        timed = timed._replace(reached_at=updated_at, reached_id=ticket_id)
        at = Moment(tenant_us, tenant_us, None)
        if await _run_rules(tx, timed.rule.tenant_id, ticket_id, [timed.rule], at):
            break
    await store.store_reached(tx, timed, 0 if found else now_us)
    return 1


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Let the other tickets have their turn before one on which rules fail.

    Those at which a rule on time would look are noted one by one. One that fails for a day is given
    up, and its history says so.
    """
    tenant_us = now_us + await test_tenants.find_offset_us(tx, tenant_id)
    task = await store.find_task(tx, tenant_id, now_us)
    if task is not None:
        rule = await automation_store.find(tx, tenant_id, task.caused_by)
        if rule is None or tenant_us < task.created_at + _GIVEN_UP_AFTER_US:
            await store.postpone_task(tx, tenant_id, task, now_us)
            return
        await running.give_up(tx, rule, task.ticket_id, tenant_us)
        await store.delete_task(tx, tenant_id, task)
    elif timed := await store.find_timed(tx, tenant_id, now_us):
        for updated_at, ticket_id in await _list_unchanged(tx, timed, tenant_us):
            timed = timed._replace(reached_at=updated_at, reached_id=ticket_id)
            noted = Task(ids.mint(now_us), ticket_id, timed.rule.id, tenant_us)
            await store.add_task(tx, tenant_id, noted, now_us)
        await store.store_reached(tx, timed, now_us)


async def _list_unchanged(tx: Tx, timed: Timed, tenant_us: int) -> list[tuple[int, str]]:
    until = tenant_us - timed.rule.hours * rules.HOUR_US
    return await store.list_unchanged(tx, timed, STATUSES, until, _STEP_TICKETS)


async def _find_reply(
    tx: Tx, tenant_id: str, task: Task, wanted: Sequence[Rule]
) -> Mapping[str, Any] | None:
    """The reply for which rules run; None if no rule compares it."""
    is_compared = any(each.field in rules.OF_REPLY for rule in wanted for each in rule.conditions)
    if task.caused_by != "replied" or not is_compared:
        return None
    found = await store.find_object(tx, tenant_id, task.id)
    return _PRUNED if found is None else dict(msgspec.json.decode(found))


async def _run_rules(
    tx: Tx, tenant_id: str, ticket_id: str, wanted: Sequence[Rule], at: Moment
) -> int:
    """Run rules on a ticket in their order, each on what the ones before have left; how many."""
    count, is_open = 0, await _find_is_open(tx, tenant_id, ticket_id, wanted, at)
    for rule in wanted:
        view = await ticket_store.find_view(tx, tenant_id, ticket_id)
        if view is None:
            return count
        shown = msgspec.json.decode(view.json)
        facts = matching.facts_of(shown, reply=at.reply, is_open=is_open)
        causes = matching.find_causes(rule, facts)
        if causes is not None:
            stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
            count += await running.run(tx, rule, stored, causes, at.now_us)
    return count


async def _find_is_open(
    tx: Tx, tenant_id: str, ticket_id: str, wanted: Sequence[Rule], at: Moment
) -> bool | None:
    """Whether it happened within business hours; None if there are none, or no rule asks.

    They are those of the team that the ticket has before its rules run.
    """
    if not any(each.field == "business_hours" for rule in wanted for each in rule.conditions):
        return None
    stored = await ticket_store.find(tx, tenant_id, ticket_id)
    team_id = None if stored is None else stored.ticket.team_id
    hours = await hours_store.find_for(tx, tenant_id, team_id)
    return None if hours is None else hours_rules.is_open(hours, at.happened_us)
