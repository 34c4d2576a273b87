"""One step of a renaming: some tickets, or some views, in one transaction."""

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.tags import rules
from sealdesk.tickets.tags.steps import store
from sealdesk.tickets.tags.types import Renaming
from sealdesk.tickets.ticket.types import TicketChange

STEP_TICKETS = 50  # 20 ms of SQLite's writer (2026-11-22)
_STEP_VIEWS = 200


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Continue the desk's renaming that had no step for the longest time; 0 when there is none.

    What it has changed and how far it is are committed together, so a step that is interrupted
    runs again as a whole.
    """
    await tx.set_tenant(tenant_id)
    renaming = await store.claim_renaming(tx, tenant_id)
    if renaming is None:
        return 0
    changed_ids = await _change_tickets(tx, renaming, now_us)
    count = renaming.changed_count + len(changed_ids)
    after = msgspec.structs.replace(renaming, changed_count=count, stepped_at=now_us)
    if changed_ids and rules.is_same(renaming.tag, renaming.new_tag):
        after = msgspec.structs.replace(after, ticket_id=changed_ids[-1])
    if not changed_ids:
        await _change_macros(tx, renaming)
        after = await _change_views(tx, after, now_us)
    await store.store_step(tx, after)
    return 1


async def _change_tickets(tx: Tx, renaming: Renaming, now_us: int) -> list[str]:
    """Give the next tickets the new name, as a change by the user; their ids."""
    tag, new_tag, tenant_id = renaming.tag, renaming.new_tag, renaming.tenant_id
    actor = Actor("user", renaming.actor_id, renaming.actor_name)
    caller = Caller(tenant_id, actor, frozenset(), "")
    ticket_ids = await store.list_ticket_ids(tx, renaming, STEP_TICKETS)
    for ticket_id in ticket_ids:
        stored = await actions.get_ticket(tx, tenant_id, ticket_id)
        change = TicketChange(tags=rules.renamed(stored.ticket.tags, tag, new_tag))
        await actions.apply_change(tx, caller, stored, change, now_us)
    return ticket_ids


async def _change_macros(tx: Tx, renaming: Renaming) -> None:
    """Give the macros that add the tag the new name."""
    for macro_id, tags in await store.list_macro_tags(tx, renaming.tenant_id):
        changed = rules.renamed(tags, renaming.tag, renaming.new_tag)
        if [*tags] != [*changed]:
            await store.store_macro_tags(tx, renaming.tenant_id, macro_id, tags, changed)


async def _change_views(tx: Tx, renaming: Renaming, now_us: int) -> Renaming:
    """Give the next views the new name; the renaming is finished behind the last one."""
    tenant_id = renaming.tenant_id
    views = await store.list_queries(tx, tenant_id, renaming.view_id, _STEP_VIEWS)
    for view_id, query in views:
        changed = rules.renamed_query(query, renaming.tag, renaming.new_tag)
        if changed != query and not await store.store_query(tx, tenant_id, view_id, query, changed):
            return renaming  # somebody has saved it meanwhile: the next step reads it again
    if len(views) == _STEP_VIEWS:
        return msgspec.structs.replace(renaming, view_id=views[-1][0])
    return msgspec.structs.replace(renaming, finished_at=now_us)
