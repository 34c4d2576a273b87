"""Processing received messages; each action is one transaction's worth of work."""

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, must_exist
from sealdesk.mail.receiving import contents, effects, rules, store
from sealdesk.mail.receiving.cases import read_case, read_origin
from sealdesk.mail.receiving.errors import NOT_HELD
from sealdesk.mail.receiving.types import (
    WAITING,
    Effect,
    Incoming,
    Origin,
    ReceivedMessage,
    WaitingFull,
)
from sealdesk.mail.sending.queueing import acknowledge

NOT_PROCESSED = "could not be processed"
NOT_READ = "could not be read in time"
RELEASED = "released by a person"
PROCESSED_LATER = "processed later"


async def process(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """Store a message and its effect; None if it is known. Raises WaitingFull."""
    origin = await read_origin(tx, incoming)
    claimed = await claim(tx, incoming, origin, now_us)
    if claimed is None:
        return None
    case = await read_case(tx, incoming, origin, now_us)
    decision = rules.decide(case)
    if isinstance(decision, Effect) and decision.outcome in WAITING:
        await check_room(tx, incoming, origin, now_us)
    effect = await effects.apply(tx, case, decision, now_us)
    if effect.ticket_id and rules.may_be_answered(case, effect):
        mailbox, identity = incoming.mailbox, case.origin.answers_to.identity
        await acknowledge(tx, mailbox, effect.ticket_id, identity, now_us)
    return await finish(tx, claimed, effect)


async def hold(tx: Tx, incoming: Incoming, reason: str, now_us: int) -> ReceivedMessage | None:
    """Store a message that could not be processed, so that a person sees it; None if known.

    Raises WaitingFull.
    """
    origin = await read_origin(tx, incoming)
    claimed = await claim(tx, incoming, origin, now_us)
    if claimed is None:
        return None
    await check_room(tx, incoming, origin, now_us)
    return await finish(tx, claimed, Effect("held", reason, reason_code="not_processed"))


async def check_before_storing(tx: Tx, incoming: Incoming, now_us: int) -> None:
    """Raises WaitingFull for a message that would wait without room, before its bytes are kept."""
    origin = await read_origin(tx, incoming)
    decision = rules.decide(await read_case(tx, incoming, origin, now_us))
    if isinstance(decision, Effect) and decision.outcome in WAITING:
        await check_room(tx, incoming, origin, now_us)


async def check_room(tx: Tx, incoming: Incoming, origin: Origin, now_us: int) -> None:
    """Raises WaitingFull if the message may not wait for a person too."""
    if incoming.waiting_bytes is None:
        return
    tenant_id, since_us = incoming.mailbox.tenant_id, now_us - contents.RAW_KEPT_US
    of_tenant = await store.sum_waiting(tx, tenant_id, since_us, rules.MAX_WAITING)
    of_sender = await store.sum_waiting_of(
        tx, tenant_id, origin.author.identity, since_us, rules.MAX_WAITING_OF_SENDER
    )
    size_bytes, limit = incoming.raw.size_bytes, incoming.waiting_bytes
    if not rules.has_room(size_bytes, limit, of_tenant=of_tenant, of_sender=of_sender):
        raise WaitingFull


async def release(tx: Tx, incoming: Incoming, message_id: str, now_us: int) -> ReceivedMessage:
    """Give a message that waits its effect, as a person has decided.

    Raises NotFound, and Conflict if it does not wait. The reason of its effect is never None, so
    it gets no automatic answer.
    """
    stored = await _get_waiting(tx, incoming, message_id)
    case = await read_case(tx, incoming, await read_origin(tx, incoming), now_us)
    effect = await effects.apply(tx, case, rules.decide_release(case), now_us)
    return await finish(tx, stored, effect._replace(reason=effect.reason or RELEASED))


async def process_again(
    tx: Tx, incoming: Incoming, message_id: str, now_us: int
) -> ReceivedMessage:
    """Give a message its effect that could not be processed before, as if it had just arrived.

    Raises as `release` does. It gets no automatic answer either, which would come too late.
    """
    stored = await _get_waiting(tx, incoming, message_id)
    case = await read_case(tx, incoming, await read_origin(tx, incoming), now_us)
    effect = await effects.apply(tx, case, rules.decide(case), now_us)
    return await finish(tx, stored, effect._replace(reason=effect.reason or PROCESSED_LATER))


async def _get_waiting(tx: Tx, incoming: Incoming, message_id: str) -> ReceivedMessage:
    stored = must_exist(await store.find(tx, incoming.mailbox.tenant_id, message_id))
    if stored.outcome not in WAITING:
        raise Conflict(NOT_HELD)
    return stored


async def claim(tx: Tx, incoming: Incoming, origin: Origin, now_us: int) -> ReceivedMessage | None:
    """The row of a message, which no other transaction can have; None if there is one."""
    new = contents.new_row(incoming, origin.author, ids.mint(now_us), now_us)
    if await store.add(tx, new):
        return new
    known = await store.find_by_key(tx, new.tenant_id, new.mailbox_id, new.message_key)
    if known is None or contents.is_same(known, new):
        return None
    # Another message with the same Message-ID, as broken programs send them, is not lost.
    other = contents.with_own_key(new, incoming.message.content_hash)
    return other if await store.add(tx, other) else None


async def finish(tx: Tx, claimed: ReceivedMessage, effect: Effect) -> ReceivedMessage:
    """Store the effect of a message; the message with it."""
    await store.finish(tx, claimed, effect)
    return contents.with_effect(claimed, effect)
