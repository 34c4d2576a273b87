"""What people do with received messages; each action is part of a transaction."""

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Gone, must_exist
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.received_messages.types import StoredMessage
from sealdesk.mail.receiving import actions as receiving
from sealdesk.mail.receiving import contents, effects, store, texts
from sealdesk.mail.receiving.cases import read_case, read_origin
from sealdesk.mail.receiving.errors import (
    CANNOT_ADD,
    MESSAGE_EXPIRED,
    NOT_HELD,
    NOT_UNDECIDED,
)
from sealdesk.mail.receiving.types import WAITING, Effect, Incoming, ReceivedMessage
from sealdesk.mail.threads import actions as threads
from sealdesk.mail.threads.types import MAX_PARTICIPANTS, NewParticipant
from sealdesk.records import audit
from sealdesk.tickets import checks

DELETED = "deleted by a person"


async def get_message(tx: Tx, tenant_id: str, message_id: str) -> StoredMessage:
    """Raises NotFound."""
    message = must_exist(await store.find(tx, tenant_id, message_id))
    mailbox = must_exist(await mailboxes.find_ever(tx, tenant_id, message.mailbox_id))
    return StoredMessage(message, mailbox)


async def get_kept(tx: Tx, tenant_id: str, message_id: str, now_us: int) -> StoredMessage:
    """A message whose raw message is kept. Raises NotFound, Gone."""
    found = await get_message(tx, tenant_id, message_id)
    if not is_kept(found.message, now_us):
        raise Gone(MESSAGE_EXPIRED)
    return found


async def get_waiting(tx: Tx, tenant_id: str, message_id: str, now_us: int) -> StoredMessage:
    """A message that can be released. Raises NotFound, Conflict, Gone."""
    found = await get_message(tx, tenant_id, message_id)
    if found.message.outcome not in WAITING:
        raise Conflict(NOT_HELD)
    if not is_kept(found.message, now_us):
        raise Gone(MESSAGE_EXPIRED)
    return found


async def release(
    tx: Tx, caller: Caller, incoming: Incoming, message_id: str, *, now_us: int
) -> ReceivedMessage:
    """Give a message that waits its effect. Raises NotFound, Conflict, also the second time."""
    before = (await get_waiting(tx, caller.tenant_id, message_id, now_us)).message
    released = await receiving.release(tx, incoming, message_id, now_us)
    details = {"was": before.outcome, "ticket_id": released.ticket_id}
    await audit.record(tx, caller, "received_message.released", message_id, details, now_us)
    return released


async def delete_held(tx: Tx, caller: Caller, message_id: str, *, now_us: int) -> None:
    """Delete the raw message of one that waits, which can be neither read nor released then.

    Raises NotFound, Conflict, Gone.
    """
    message = (await get_waiting(tx, caller.tenant_id, message_id, now_us)).message
    await receiving.finish(tx, message, Effect("ignored", DELETED))
    # Its bytes belong to nothing from now on, and are deleted with the next such files.
    await store.forget_raw(tx, [message])
    details = {"was": message.outcome}
    await audit.record(tx, caller, "received_message.deleted", message_id, details, now_us)


async def get_undecided(tx: Tx, tenant_id: str, message_id: str) -> StoredMessage:
    """A note of somebody who is no participant, about which nobody has decided.

    Raises NotFound, Conflict.
    """
    found = await get_message(tx, tenant_id, message_id)
    if found.message.reason_code != "stranger":
        raise Conflict(NOT_UNDECIDED)
    return found


async def add_sender(tx: Tx, caller: Caller, message_id: str, *, now_us: int) -> ReceivedMessage:
    """Make the sender of a note a participant of its ticket; the note stays one.

    Raises NotFound, Conflict, ValidationFailed.
    """
    tenant_id = caller.tenant_id
    message = (await get_undecided(tx, tenant_id, message_id)).message
    ticket_id = (await checks.get_ongoing_ticket(tx, tenant_id, message.ticket_id or "")).ticket.id
    known = await threads.get_participants(tx, tenant_id, ticket_id)
    wanted = [NewParticipant(each.address, each.name) for each in known]
    if message.from_identity not in {each.address_identity for each in known}:
        if len(known) >= MAX_PARTICIPANTS or not contents.can_block(message.from_identity):
            raise Conflict(CANNOT_ADD, limit=MAX_PARTICIPANTS)
        wanted.append(NewParticipant(message.from_identity))
    await threads.set_participants(tx, caller, ticket_id, wanted, now_us=now_us)
    effect = Effect(
        "note", effects.ADDED, message.ticket_id, message.reply_id, reason_code="stranger_added"
    )
    return await receiving.finish(tx, message, effect)


async def open_ticket(
    tx: Tx, caller: Caller, incoming: Incoming, message_id: str, *, now_us: int
) -> ReceivedMessage:
    """Open a new ticket of a note's message; the note stays, and another one names the ticket.

    Raises NotFound, Conflict.
    """
    message = (await get_undecided(tx, caller.tenant_id, message_id)).message
    opened = await effects.open_ticket(
        tx, await read_case(tx, incoming, await read_origin(tx, incoming), now_us), now_us
    )
    stored = await checks.get_ongoing_ticket(tx, caller.tenant_id, opened.ticket_id or "")
    text = texts.moved(stored.ticket.number)
    await effects.add_note(tx, caller.tenant_id, message.ticket_id or "", text, now_us)
    effect = opened._replace(reason=effects.MOVED, reason_code="stranger_moved")
    return await receiving.finish(tx, message, effect)


def is_kept(message: ReceivedMessage, now_us: int) -> bool:
    """Whether the raw message can be read."""
    return message.raw_until is not None and message.raw_until > now_us
