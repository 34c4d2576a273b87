"""What administrators do with blocked senders; each action is the work of one transaction."""

from sealdesk import clock
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound
from sealdesk.mail.blocks import store
from sealdesk.mail.blocks.errors import TOO_MANY_BLOCKS
from sealdesk.mail.blocks.types import Block, MailBlockResponse, NewMailBlock, normalise
from sealdesk.records import audit
from sealdesk.resources.paging import PageRequest

MAX_BLOCKS = 1000  # of a tenant


async def add_block(tx: Tx, caller: Caller, new: NewMailBlock, *, now_us: int) -> Block:
    """The block; the one that is there already stays. Raises Conflict above MAX_BLOCKS."""
    await tx.lock("mail blocks", caller.tenant_id)
    pattern = normalise(new.pattern)
    known = await store.find(tx, caller.tenant_id, pattern)
    if known is not None:
        return known
    page = PageRequest(MAX_BLOCKS - 1, None)
    if len(await store.list_blocks(tx, caller.tenant_id, page)) >= MAX_BLOCKS:
        raise Conflict(TOO_MANY_BLOCKS, limit=MAX_BLOCKS)
    block = Block(caller.tenant_id, pattern, caller.actor.id, caller.actor.name, now_us)
    await store.add(tx, block)
    await _record_audit(tx, caller, "mail_block.created", pattern, now_us)
    return block


async def remove_block(tx: Tx, caller: Caller, pattern: str, *, now_us: int) -> None:
    """Raises NotFound, also the second time."""
    try:
        stored = normalise(pattern)
    except ValueError:
        raise NotFound from None
    if not await store.delete(tx, caller.tenant_id, stored):
        raise NotFound
    await _record_audit(tx, caller, "mail_block.deleted", stored, now_us)


def to_response(block: Block) -> MailBlockResponse:
    return MailBlockResponse(block.pattern, block.actor_name, clock.iso(block.created_at))


async def _record_audit(tx: Tx, caller: Caller, action: str, pattern: str, now_us: int) -> None:
    await audit.record(tx, caller, action, None, {"pattern": pattern}, now_us)
