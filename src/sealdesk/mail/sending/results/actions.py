"""Stores what became of messages; the work is part of a transaction."""

import msgspec

from sealdesk import ids
from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.event_log.events import EventType
from sealdesk.mail.sending import rules
from sealdesk.mail.sending.results import store
from sealdesk.mail.sending.types import OutgoingMessage, State
from sealdesk.mail.threads.merged import find_ticket
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import rules as ticket_rules
from sealdesk.tickets.new_replies import NewReply
from sealdesk.tickets.store import replies

_EVENTS: dict[State, EventType] = {
    "sent": "reply.delivered",
    "bounced": "reply.bounced",
    "failed": "reply.bounced",
}


async def bounce(tx: Tx, message: OutgoingMessage, reason: str, now_us: int) -> str | None:
    """Store that a message came back; the id of the note about it, None if it was known."""
    if not await store.bounce(tx, message, reason, now_us):
        return None
    await update_reply(tx, message, now_us)
    return await add_note(tx, message, reason, now_us) if message.ticket_id else ""


async def update_reply(tx: Tx, message: OutgoingMessage, now_us: int) -> None:
    """Store the state of a message with its reply, and record the event of a final one."""
    if message.kind != "reply":
        return
    # Another message of the same reply would compute its state without this one.
    await tx.lock(f"delivery {message.about_id}", message.tenant_id)
    worst = rules.worst(await store.list_outcomes(tx, message))
    if not await store.set_delivery(tx, message, worst, now_us) or worst.state == "queued":
        return
    reply = await replies.find(tx, message.tenant_id, message.ticket_id, message.about_id)
    if reply is not None:
        document = ticket_rules.reply_json(reply)
        kind = _EVENTS[worst.state]
        await events.record(tx, message.tenant_id, kind, document, events.NO_CHANGES, now_us)


async def add_note(
    tx: Tx, message: OutgoingMessage, reason: str, now_us: int, *, is_worker: bool = False
) -> str:
    """Write into the ticket of a message that it was not delivered; the id of the note."""
    stored = await find_ticket(tx, message.tenant_id, message.ticket_id)
    new = NewReply(body=rules.not_delivered(message.address, reason), is_internal=True)
    actor = Actor("system", ids.NONE, "Sealdesk")
    caller = Caller(message.tenant_id, actor, frozenset(), "", has_custom_fields=False)
    if is_worker:
        caller = msgspec.structs.replace(caller, is_worker=True)
    return (await tickets.reply(tx, caller, stored.ticket.id, new, now_us=now_us)).id
