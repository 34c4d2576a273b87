"""Renaming a tag: a user begins it, the worker carries it out (`steps`)."""

from typing import Literal

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.records import audit
from sealdesk.tickets.tags import rules, store
from sealdesk.tickets.tags.types import Renaming

Outcome = Literal["begun", "busy", "exists", "unknown"]


async def begin_renaming(
    tx: Tx, caller: Caller, renaming: Renaming, *, is_merge: bool, now_us: int
) -> Outcome:
    """Begin to give a tag another name.

    is_merge: the new name may be that of another tag, with which this one becomes one.
    """
    await tx.lock("tag renamings", caller.tenant_id)
    tag, new_tag = renaming.tag, renaming.new_tag
    unfinished = await store.list_unfinished(tx, caller.tenant_id, rules.MAX_UNFINISHED)
    if rules.is_busy(unfinished, tag, new_tag):
        return "busy"
    if not await store.count_tickets(tx, caller.tenant_id, tag, 1):
        return "unknown"
    is_other = not rules.is_same(tag, new_tag)
    is_used = is_other and await store.count_tickets(tx, caller.tenant_id, new_tag, 1) > 0
    if is_used and not is_merge:
        return "exists"
    await store.add(tx, renaming)
    action = "tag.merged" if is_used else "tag.renamed"
    details = {"name": tag, "new_name": new_tag, "tickets": renaming.total}
    await audit.record(tx, caller, action, renaming.id, details, now_us)
    return "begun"


def new_renaming(caller: Caller, tag: str, new_tag: str, total: int, now_us: int) -> Renaming:
    """total: of the tickets that have the tag."""
    return Renaming(
        tenant_id=caller.tenant_id,
        id=ids.mint(now_us),
        tag=tag,
        new_tag=new_tag,
        actor_id=caller.actor.id,
        actor_name=caller.actor.name,
        ticket_id=None,
        view_id="",
        total=total,
        changed_count=0,
        created_at=now_us,
        stepped_at=now_us,
    )
