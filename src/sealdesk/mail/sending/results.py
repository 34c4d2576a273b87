"""The results of sending: with messages and their replies, as events and as notes."""

import msgspec

from sealdesk import ids
from sealdesk.caller import Actor, Caller, by_mail
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.event_log.events import EventType
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.types import Outcome, OutgoingMessage, Result, State
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store import replies
from sealdesk.tickets.ticket.types import NewReply

BATCH = 50  # results that are stored at once
_EVENTS: dict[State, EventType] = {
    "sent": "reply.delivered",
    "bounced": "reply.bounced",
    "failed": "reply.bounced",
}


async def store_results(tx: Tx, results: list[Result], now_us: int) -> None:
    """Store the results of attempts, with what follows from them."""
    # In the same order in each process, as replies are locked.
    for result in sorted(results, key=lambda each: each.message.about_id):
        await _store(tx, result, now_us)


async def _store(tx: Tx, result: Result, now_us: int) -> None:
    message, outcome, due_at = result.message, result.outcome, None
    if outcome.state == "queued":
        due_at = rules.due_again_at(message, now_us, is_attempt=result.is_attempt)
        outcome = outcome if due_at else Outcome("failed", outcome.reason)
    is_stored = await store.finish(
        tx,
        message,
        result.leases,
        outcome,
        attempt_count=message.attempt_count + result.is_attempt,
        due_at=due_at,
        now_us=now_us,
    )
    if not is_stored:
        return
    await update_reply(tx, message, now_us)
    if outcome.state in ("bounced", "failed") and result.gets_note and message.ticket_id:
        text = rules.not_delivered(message.address, outcome.reason or "")
        await _add_note(tx, message, text, now_us, is_worker=True)


async def bounce(tx: Tx, message: OutgoingMessage, reason: str, now_us: int) -> str | None:
    """Store that a message came back; the id of the note about it, None if it was known."""
    if not await store.bounce(tx, message, reason, now_us):
        return None
    await update_reply(tx, message, now_us)
    text = rules.not_delivered(message.address, reason)
    return await _add_note(tx, message, text, now_us) if message.ticket_id else ""


async def complain(tx: Tx, message: OutgoingMessage, now_us: int) -> str:
    """Store that the recipient calls a message spam; the id of the note about it."""
    return await _add_note(tx, message, rules.complained(message.address), now_us)


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
        document = documents.reply_json(reply)
        kind = _EVENTS[worst.state]
        await events.record(tx, message.tenant_id, kind, document, events.NO_CHANGES, now_us)


def system_caller(tenant_id: str) -> Caller:
    return by_mail(tenant_id, Actor("system", ids.NONE, "Sealdesk"))


async def _add_note(
    tx: Tx, message: OutgoingMessage, text: str, now_us: int, *, is_worker: bool = False
) -> str:
    stored = await checks.get_ongoing_ticket(tx, message.tenant_id, message.ticket_id)
    new = NewReply(body=text, is_internal=True)
    caller = msgspec.structs.replace(system_caller(message.tenant_id), is_worker=is_worker)
    note = await tickets.reply(
        tx,
        caller,
        stored.ticket.id,
        new,
        now_us=now_us,
        about_author_id=await _find_author_id(tx, message),
    )
    return note.id


async def _find_author_id(tx: Tx, message: OutgoingMessage) -> str:
    """The user who has written the reply in a message, "" if that was no user."""
    reply = await replies.find(tx, message.tenant_id, message.ticket_id, message.about_id)
    is_of_user = reply is not None and reply.author.type == "agent"
    return reply.author.id if reply and is_of_user and reply.author.id != ids.NONE else ""
