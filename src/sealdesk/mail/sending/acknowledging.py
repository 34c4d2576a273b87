"""Queues the acknowledgement of a new ticket; the work is part of a transaction."""

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending import rules
from sealdesk.mail.sending.results import store
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads import store as threads


async def acknowledge(
    tx: Tx, mailbox: Mailbox, ticket_id: str, address_identity: str, now_us: int
) -> bool:
    """Answer the person whose message has opened a ticket; whether that is done.

    Not if the mailbox has no text for it, if they are no participant, as a mailbox of the desk is
    none, and if they had one a short time ago: a robot that does not say that it is one would
    answer each.
    """
    if not mailbox.acknowledgement or not mailbox.sends:
        return False
    tenant_id = mailbox.tenant_id
    person = await threads.find_participant(tx, tenant_id, ticket_id, address_identity)
    since_us = now_us - rules.ACKNOWLEDGED_DAY_US
    sent = await store.list_acknowledged(tx, tenant_id, address_identity, since_us)
    if person is None or not rules.may_acknowledge(sent, now_us):
        return False
    message = OutgoingMessage(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        mailbox_id=mailbox.id,
        ticket_id=ticket_id,
        about_id=ticket_id,
        kind="acknowledgement",
        address=person.address,
        message_id=rules.message_id(ticket_id, person.token, mailbox.address),
        state="queued",
        reason=None,
        attempt_count=0,
        created_at=now_us,
        due_at=now_us,
        leased_until=None,
        finished_at=None,
    )
    await store.add(tx, message)
    await threads.remember_message(tx, tenant_id, message.message_id, ticket_id)
    return True
