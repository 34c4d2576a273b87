"""What a report does that a sent message was not delivered; part of a transaction."""

from sealdesk.db.engine import Tx
from sealdesk.mail.receiving.types import Effect, Incoming
from sealdesk.mail.sending import rules
from sealdesk.mail.sending.results import actions, store
from sealdesk.mail.sending.types import OutgoingMessage

KNOWN = "it was known that the message was not delivered"
UNCONFIRMED = "the message asks to confirm a form"


async def find_message(tx: Tx, incoming: Incoming) -> OutgoingMessage | None:
    """The message that a report is about, if this tenant has sent it.

    It is found by its Message-ID alone: servers spell recipients as they like.
    """
    report = incoming.message.delivery_status
    if report is None or not report.message_id or incoming.envelope_sender:
        return None  # a report has no sender in its envelope (RFC 3464, 2)
    return await store.find_sent(tx, incoming.mailbox.tenant_id, f"<{report.message_id}>")


async def record(tx: Tx, incoming: Incoming, message: OutgoingMessage, now_us: int) -> Effect:
    """Store that a message came back, with its reply and as a note."""
    report = incoming.message.delivery_status
    reason = rules.reason_of_report(report) if report else ""
    if not message.ticket_id:
        await store.bounce(tx, message, reason, now_us)
        return Effect("ignored", UNCONFIRMED)
    note_id = await actions.bounce(tx, message, reason, now_us)
    if note_id is None:
        return Effect("ignored", KNOWN, message.ticket_id)
    return Effect("bounce", report.status if report else None, message.ticket_id, note_id)
