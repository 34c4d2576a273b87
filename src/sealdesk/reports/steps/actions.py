"""Counts tickets: those that events tell of, and all of a desk in a rebuild."""

from collections.abc import Collection, Sequence

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
    before = await store.read_counted(tx, tenant_id, ticket_ids)
    pairs = [*zip(ticket_ids, before, strict=True)]
    reopened = {ticket_id: old.reopened_at for ticket_id, old in pairs if old}
    known = {*reopened, *created}
    looked = [each for each in ticket_ids if each in maybe_reopened or each not in known]
    reopened |= await store.read_reopened(tx, tenant_id, looked)
    fields = await dimensions.list_fields(tx, tenant_id)
    found = await store.read_facts(tx, tenant_id, ticket_ids, reopened, fields)
    after = await _with_work(tx, tenant_id, found, before)
    changed = {
        ticket_id: (old, new)
        for (ticket_id, old), new in zip(pairs, after, strict=True)
        if old != new
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


async def _with_work(
    tx: Tx, tenant_id: str, found: Sequence[Facts | None], before: Sequence[Facts | None]
) -> list[Facts | None]:
    of_teams = await hours_store.find_of_teams(
        tx, tenant_id, [each.team_id or None for each in found if each]
    )
    of_desk = await hours_store.find(tx, tenant_id)
    return [
        new and rules.with_work(new, old, of_teams.get(new.team_id, of_desk))
        for new, old in zip(found, before, strict=True)
    ]
