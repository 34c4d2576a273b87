"""Counts tickets: those that events tell of, and all of a desk in a rebuild."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.reports import dimensions, rules
from sealdesk.reports.steps import store
from sealdesk.reports.types import Facts, Rebuild
from sealdesk.tickets.hours import store as hours_store

STEP_TICKETS = 100
_STEP_ROWS = 500  # that are deleted


async def count(
    tx: Tx,
    tenant_id: str,
    ticket_ids: Sequence[str],
    maybe_reopened: Collection[str],
    created: Collection[str] = (),
) -> None:
    """Count tickets as they are now, in place of what was counted of them before.

    So to count a ticket again changes nothing. The caller has the lock. created: of which an
    event tells that; if they were reopened, another one does.
    """
    fields = await dimensions.list_fields(tx, tenant_id)
    found = await store.read_facts(tx, tenant_id, ticket_ids, fields)
    looked = [
        ticket_id
        for ticket_id, (before, _) in found.items()
        if ticket_id in maybe_reopened or (before is None and ticket_id not in created)
    ]
    reopened = await store.read_reopened(tx, tenant_id, looked)
    after = await _completed(tx, tenant_id, found, reopened)
    changed = {
        ticket_id: (before, after[ticket_id])
        for ticket_id, (before, _) in found.items()
        if before != after[ticket_id]
    }
    await store.save_counted(tx, tenant_id, {each: new for each, (_, new) in changed.items()})
    await store.change_sums(tx, tenant_id, rules.differences(changed.values()))


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Take the next step of a rebuild; how many tickets or rows, 0 at the end."""
    await tx.set_tenant(tenant_id)
    await store.lock(tx, tenant_id)
    rebuild = await store.find_rebuild(tx, tenant_id)
    if rebuild is None:
        return 0
    if rebuild.is_clearing:
        deleted = await store.clear(tx, tenant_id, _STEP_ROWS)
        reached = Rebuild(is_clearing=deleted > 0, ticket_id="")
        await store.store_step(tx, tenant_id, reached, now_us)
        return max(1, deleted)
    ticket_ids = await store.list_tickets_after(tx, tenant_id, rebuild.ticket_id, STEP_TICKETS)
    await count(tx, tenant_id, ticket_ids, ticket_ids)
    if len(ticket_ids) < STEP_TICKETS:
        await store.store_step(tx, tenant_id, None, now_us)
    else:
        await store.store_step(tx, tenant_id, rebuild._replace(ticket_id=ticket_ids[-1]), now_us)
    return len(ticket_ids)


async def _completed(
    tx: Tx,
    tenant_id: str,
    found: Mapping[str, tuple[Facts | None, Facts | None]],
    reopened: Mapping[str, tuple[int, ...]],
) -> dict[str, Facts | None]:
    """What is to be counted, with when each was reopened, and with business hours."""
    team_ids = [after.team_id or None for _, after in found.values() if after]
    of_teams = await hours_store.find_of_teams(tx, tenant_id, team_ids)
    of_desk = await hours_store.find(tx, tenant_id)

    def complete(ticket_id: str, before: Facts | None, after: Facts | None) -> Facts | None:
        if after is None:
            return None
        if ticket_id in reopened:
            after = msgspec.structs.replace(after, reopened_at=reopened[ticket_id])
        return rules.with_work(after, before, of_teams.get(after.team_id, of_desk))

    return {ticket_id: complete(ticket_id, *pair) for ticket_id, pair in found.items()}
