"""Taking received messages; each action is one transaction's worth of work."""

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound
from sealdesk.mail.receiving import bounces, effects, rules, store
from sealdesk.mail.receiving.errors import NOT_HELD
from sealdesk.mail.receiving.types import (
    WAITING,
    Effect,
    Incoming,
    ReceivedMessage,
    Thread,
)
from sealdesk.mail.sending import acknowledging
from sealdesk.mail.threads import store as threads

NOT_PROCESSED = "could not be processed"
RELEASED = "released by a person"
RETAKEN = "processed later"


async def take(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """Store a message and its effect; None if it was taken before."""
    claimed = await claim(tx, incoming, now_us)
    if claimed is None:
        return None
    effect = await _find_reason_to_wait(tx, incoming, now_us)
    effect = effect or await _apply(tx, incoming, now_us)
    if effect.ticket_id and rules.may_be_answered(incoming, effect):
        identity = rules.sender_of(incoming.message).identity
        mailbox = incoming.mailbox
        await acknowledging.acknowledge(tx, mailbox, effect.ticket_id, identity, now_us)
    return await finish(tx, claimed, effect)


async def hold(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """Store a message that could not be processed, so that a person sees it; None if known."""
    claimed = await claim(tx, incoming, now_us)
    return None if claimed is None else await finish(tx, claimed, Effect("held", NOT_PROCESSED))


async def release(tx: Tx, incoming: Incoming, message_id: str, now_us: int) -> ReceivedMessage:
    """Give a message that waits its effect, as a person has decided.

    Raises NotFound, and Conflict if it does not wait. The reason of its effect is never None, so
    it gets no automatic answer.
    """
    stored = await _get_waiting(tx, incoming, message_id)
    effect = await _apply(tx, incoming, now_us)
    return await finish(tx, stored, effect._replace(reason=effect.reason or RELEASED))


async def retake(tx: Tx, incoming: Incoming, message_id: str, now_us: int) -> ReceivedMessage:
    """Give a message its effect that could not be processed before, as if it had just arrived.

    Raises as `release` does. It gets no automatic answer either, which would come too late.
    """
    stored = await _get_waiting(tx, incoming, message_id)
    found = await _find_reason_to_wait(tx, incoming, now_us)
    effect = found or await _apply(tx, incoming, now_us)
    return await finish(tx, stored, effect._replace(reason=effect.reason or RETAKEN))


async def _get_waiting(tx: Tx, incoming: Incoming, message_id: str) -> ReceivedMessage:
    stored = await store.find(tx, incoming.mailbox.tenant_id, message_id)
    if stored is None:
        raise NotFound
    if stored.outcome not in WAITING:
        raise Conflict(NOT_HELD)
    return stored


async def claim(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """The row of a message, which no other transaction can have; None if there is one."""
    new = rules.new_row(incoming, ids.mint(now_us), now_us)
    if await store.add(tx, new):
        return new
    known = await store.find_by_key(tx, new.tenant_id, new.mailbox_id, new.message_key)
    if known is None or rules.is_same(known, new):
        return None
    # Another message with the same Message-ID, as broken programs send them, is not lost.
    other = rules.with_own_key(new, incoming.raw.digest)
    return other if await store.add(tx, other) else None


async def finish(tx: Tx, claimed: ReceivedMessage, effect: Effect) -> ReceivedMessage:
    """Store the effect of a message; the message with it."""
    await store.finish(tx, claimed, effect)
    return rules.with_effect(claimed, effect)


async def _find_reason_to_wait(tx: Tx, incoming: Incoming, now_us: int) -> Effect | None:
    """The effect of a message that has no other before a person decides."""
    message, tenant_id = incoming.message, incoming.mailbox.tenant_id
    identity = rules.sender_of(message).identity
    if pattern := await store.find_block(tx, tenant_id, rules.block_patterns(identity)):
        return Effect("blocked", pattern)
    if message.is_spam:
        return Effect("spam", "marked by the mail server")
    thread, report = await find_thread(tx, incoming), message.delivery_status
    if report is not None and report.action != "failed":
        return Effect("ignored", f"a report that a message was {report.action}")
    if report is not None:
        is_known = await bounces.find_message(tx, incoming)
        return None if is_known else Effect("held", "a report about an unknown message")
    joined_id = await _find_joined(tx, incoming, thread)
    if joined_id is None:
        return await _check_new_ticket(tx, incoming, identity, now_us)
    return await _check_reply(tx, incoming, joined_id, identity, now_us)


async def _check_new_ticket(
    tx: Tx, incoming: Incoming, identity: str, now_us: int
) -> Effect | None:
    is_automatic = rules.automatic_reason(incoming) is not None
    own = rules.mailbox_identity(identity)
    if own == incoming.mailbox.address_identity and not is_automatic:
        return Effect("held", "sent by the mailbox itself")
    if is_automatic and await store.find_mailboxes(tx, [own]):
        return Effect("ignored", "an automatic message of a mailbox")
    since_us, limit = now_us - rules.LIMITED_US, rules.MAX_NEW_TICKETS
    tenant_id = incoming.mailbox.tenant_id
    if await store.count_new_tickets(tx, tenant_id, identity, since_us, limit) >= limit:
        return Effect("held", f"more than {limit} new tickets in 10 minutes")
    return None


async def _check_reply(
    tx: Tx, incoming: Incoming, ticket_id: str, identity: str, now_us: int
) -> Effect | None:
    tenant_id, since_us = incoming.mailbox.tenant_id, now_us - rules.LIMITED_US
    limit = rules.MAX_REPLIES
    if await store.count_replies(tx, tenant_id, identity, since_us, limit) >= limit:
        return Effect("held", f"more than {limit} replies of one sender in 10 minutes")
    limit = rules.MAX_REPLIES_OF_TICKET
    if await store.count_replies_to(tx, tenant_id, ticket_id, since_us, limit) >= limit:
        return Effect("held", f"more than {limit} replies to one ticket in 10 minutes")
    return None


async def _find_joined(tx: Tx, incoming: Incoming, thread: Thread | None) -> str | None:
    """The id of the ticket that a message is added to; None if it opens one."""
    if thread is None:
        return None
    ticket = (await effects.find_ticket(tx, incoming.mailbox.tenant_id, thread.ticket_id)).ticket
    return None if ticket.status == "closed" and not _stays_note(incoming, thread) else ticket.id


def _stays_note(incoming: Incoming, thread: Thread) -> bool:
    """Whether a message to a closed ticket is an automatic answer of a participant."""
    return thread.sender is not None and rules.automatic_reason(incoming) is not None


async def _apply(tx: Tx, incoming: Incoming, now_us: int) -> Effect:
    if sent := await bounces.find_message(tx, incoming):
        return await bounces.record(tx, incoming, sent, now_us)
    thread = await find_thread(tx, incoming)
    if thread is None:
        return await effects.open_ticket(tx, incoming, now_us)
    tenant_id = incoming.mailbox.tenant_id
    stored = await effects.find_ticket(tx, tenant_id, thread.ticket_id)
    thread = Thread(stored.ticket.id, thread.sender)
    is_closed = stored.ticket.status == "closed"
    if thread.sender is None and is_closed:
        return await effects.open_ticket(tx, incoming, now_us)
    if thread.sender is None:
        return await effects.add_strangers_note(tx, incoming, thread, now_us)
    if is_closed and not _stays_note(incoming, thread):
        return await effects.follow_up(tx, incoming, stored, now_us)
    is_internal = rules.automatic_reason(incoming) is not None
    return await effects.add_reply(tx, incoming, thread, now_us, is_internal=is_internal)


async def find_thread(tx: Tx, incoming: Incoming) -> Thread | None:
    """By a token among the recipients, then by the Message-IDs that it answers; this tenant's."""
    tenant_id = incoming.mailbox.tenant_id
    identity = rules.sender_of(incoming.message).identity
    for token in rules.tokens_of(incoming):
        if found := await threads.find_by_token(tx, tenant_id, token):
            sender = await threads.find_participant(tx, tenant_id, found.ticket_id, identity)
            return Thread(found.ticket_id, sender)
    references = rules.references_of(incoming.message)
    ticket_id = await threads.find_ticket_id(tx, tenant_id, references)
    if ticket_id is None:
        return None
    sender = await threads.find_participant(tx, tenant_id, ticket_id, identity)
    return Thread(ticket_id, sender)
