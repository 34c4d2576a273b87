"""One step of the automation rules of a tenant: those of one ticket, in one transaction."""

from collections.abc import Sequence

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ServiceUnavailable
from sealdesk.event_log.events import Changes
from sealdesk.records import test_tenants
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import rules as ticket_rules
from sealdesk.tickets.automation import rules
from sealdesk.tickets.automation.steps import store
from sealdesk.tickets.automation.steps.store import Effect, Timed
from sealdesk.tickets.automation.types import Cause, Rule
from sealdesk.tickets.store import history, teams
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.tickets import TicketAndCustomer
from sealdesk.tickets.types import STATUSES, NewReply, TicketChange

_STEP_TICKETS = 50  # that a rule on time looks at


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
        running = await store.list_running(tx, tenant_id)
        wanted = [
            each
            for each in running
            if each.trigger == task.caused_by and each.enabled_at <= task.created_at
        ]
        await _run_rules(tx, tenant_id, task.ticket_id, wanted, tenant_us)
        await store.delete_task(tx, tenant_id, task)
        return 1
    timed = await store.find_timed(tx, tenant_id, now_us)
    return 0 if timed is None else await _look_at_unchanged(tx, timed, now_us, tenant_us)


async def _look_at_unchanged(tx: Tx, timed: Timed, now_us: int, tenant_us: int) -> int:
    """Run a rule on the next ticket that is unchanged for as long as it says."""
    until = tenant_us - timed.rule.hours * rules.HOUR_US
    found = await store.list_unchanged(tx, timed, STATUSES, until, _STEP_TICKETS)
    for updated_at, ticket_id in found:
        timed = timed._replace(reached_at=updated_at, reached_id=ticket_id)
        if await _run_rules(tx, timed.rule.tenant_id, ticket_id, [timed.rule], tenant_us):
            break
    await store.store_reached(tx, timed, 0 if found else now_us)
    return 1


async def _run_rules(
    tx: Tx, tenant_id: str, ticket_id: str, wanted: Sequence[Rule], now_us: int
) -> int:
    """Run rules on a ticket in their order, each on what the ones before have left; how many."""
    count = 0
    for rule in wanted:
        view = await ticket_store.find_view(tx, tenant_id, ticket_id)
        if view is None:
            return count
        causes = rules.find_causes(rule, rules.facts_of(msgspec.json.decode(view.json)))
        if causes is not None:
            stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
            count += await _run(tx, rule, stored, causes, now_us)
    return count


async def _run(
    tx: Tx, rule: Rule, stored: TicketAndCustomer, causes: list[Cause], now_us: int
) -> bool:
    """Whether the rule changed the ticket."""
    ticket, effects = stored.ticket, await _list_effects(tx, rule, stored)
    if ticket.merged_into_id is not None or _has_run(rule, ticket.version, effects):
        return False
    team_id = rule.actions.team_id
    if team_id is not None and not await teams.is_team(tx, rule.tenant_id, team_id):
        await store.pause(tx, rule, "team_missing", now_us)
        return False
    caller = Caller(rule.tenant_id, Actor("system", rule.id, rule.name), frozenset(), "")
    caller = msgspec.structs.replace(caller, is_worker=True)
    change = rules.change_of(rule.actions)
    try:
        update = ticket_rules.apply_change(ticket, change, now_us)
        if not update.changes and rule.actions.note is None:
            return False
        recent = [each for each in effects if each.created_at > now_us - rules.HOUR_US]
        if len(recent) >= rules.MAX_EFFECTS_PER_HOUR:
            await store.pause(tx, rule, "too_many_effects", now_us)
            because = {"rule_paused": (None, rules.MAX_EFFECTS_PER_HOUR)}
            await history.add(tx, ticket, caller.actor, because, now_us)
            return False
        in_history = {"rule": (None, [[*each] for each in causes]), **update.changes}
        await _act(tx, rule, caller, stored, change, in_history, now_us)
    except ServiceUnavailable:
        raise
    except ApiError:
        pass  # as of a field that must be filled; what was written before it is an effect
    after = await tickets.get_ticket(tx, rule.tenant_id, ticket.id)
    if after.ticket.version == ticket.version:
        return False
    effect = Effect(rule.id, ticket.version, after.ticket.version, now_us)
    await store.add_effect(tx, rule.tenant_id, ticket.id, effect)
    return True


async def _act(
    tx: Tx,
    rule: Rule,
    caller: Caller,
    stored: TicketAndCustomer,
    change: TicketChange,
    in_history: Changes,
    now_us: int,
) -> None:
    """Change the ticket and write the note, before a change that closes it, as after that it takes
    none."""

    async def write_note() -> None:
        if rule.actions.note is not None:
            note = NewReply(rule.actions.note, is_internal=True)
            await tickets.reply(tx, caller, stored.ticket.id, note, now_us=now_us)

    if change.status == "closed":
        await write_note()
        stored = await tickets.get_ticket(tx, rule.tenant_id, stored.ticket.id)
    await tickets.apply_change(tx, caller, stored, change, now_us, in_history=in_history)
    if change.status != "closed":
        await write_note()


async def _list_effects(tx: Tx, rule: Rule, stored: TicketAndCustomer) -> list[Effect]:
    return await store.list_effects(tx, rule.tenant_id, stored.ticket.id)


def _has_run(rule: Rule, version: int, effects: Sequence[Effect]) -> bool:
    """Whether a rule on time has acted, and only rules have changed the ticket since then."""
    if rule.trigger != "unchanged":
        return False
    for each in effects:
        if each.last_version != version:
            return False
        if each.rule_id == rule.id:
            return True
        version = each.first_version
    return False
