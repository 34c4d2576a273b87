"""What a participant sees of a ticket, and what they write; part of a transaction."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.caller import Actor, by_mail
from sealdesk.crypto.sealing import KeyRing
from sealdesk.customers import actions as customers
from sealdesk.customers import store as customer_store
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form import rules as form_rules
from sealdesk.mail.contact_form import store as forms
from sealdesk.mail.contact_form.types import ContactForm
from sealdesk.mail.customer_page import rules
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.receiving.attaching import attachment_of
from sealdesk.mail.receiving.types import File
from sealdesk.mail.threads import links, redaction
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.redaction import Secrets
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.store import replies
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import NewReply, Reply

_REPLIES = 50  # on one page
_MAX_BYTES = 128 * 1024  # of their texts


class Access(NamedTuple):
    """What a link gives access to.

    token: of the link. address: of the mailbox that writes to the participant. own_id: of the
    participant as a customer, "" if they are none yet. secrets: what no text may show.
    """

    form: ContactForm
    token: str
    desk_name: str
    address: str
    stored: TicketAndCustomer
    participant: Participant
    own_id: str
    secrets: Secrets

    def may_read(self, written_at: int) -> bool:
        """Whether the participant may read what was written then."""
        return rules.may_read(
            is_customer=self.own_id == self.stored.ticket.customer_id,
            joined_at=self.participant.created_at,
            written_at=written_at,
        )

    @property
    def is_ended(self) -> bool:
        """A merged ticket has ended too: the other one may be somebody else's."""
        ticket = self.stored.ticket
        return ticket.status == "closed" or ticket.merged_into_id is not None


class Conversation(NamedTuple):
    """The newest replies in reading order."""

    replies: list[Reply]
    has_earlier: bool


async def find_form(tx: Tx, path_name: str) -> ContactForm:
    """The desk in the path. Raises NotFound if its tickets have no pages."""
    form = None if form_rules.faults_of_name(path_name) else await forms.find_form(tx, path_name)
    if form is None or not form.has_ticket_pages:
        raise NotFound
    return form


async def get_access(tx: Tx, form: ContactForm, token: str, key_ring: KeyRing) -> Access:
    """Raises NotFound."""
    tenant_id = form.tenant_id
    opened = links.open_token(key_ring, tenant_id, token)
    stored = await tickets.get_ticket(tx, tenant_id, opened.ticket_id)
    listed = await threads.list_participants(tx, tenant_id, opened.ticket_id)
    participant = links.find_participant(opened, listed)
    mailbox = await mailboxes.find(tx, tenant_id, participant.mailbox_id)
    tenant = await identity.find_tenant(tx, tenant_id)
    own = await customer_store.find_by_email(tx, tenant_id, participant.address)
    return Access(
        form,
        token,
        tenant.name if tenant else "",
        mailbox.address if mailbox else "",
        stored,
        participant,
        own.id if own else "",
        redaction.secrets_of(key_ring, listed),
    )


async def load_conversation(tx: Tx, access: Access, before: str) -> Conversation:
    """The public replies that the participant may read, the newest or those before one."""
    tenant_id, ticket_id = access.form.tenant_id, access.stored.ticket.id
    page = PageRequest(_REPLIES, [before] if before else None, _MAX_BYTES)
    listed = await replies.list_replies(
        tx, tenant_id, ticket_id, page, is_internal=False, newest_first=True
    )
    shown = take_page(listed, page, lambda reply: len(reply.body.encode()))
    seen = [each for each in reversed(shown) if access.may_read(each.created_at)]
    return Conversation(seen, len(listed) > len(shown) and len(seen) == len(shown))


async def get_file(tx: Tx, access: Access, attachment_id: str) -> Attachment:
    """A file that the participant's page shows. Raises NotFound."""
    tenant_id, ticket = access.form.tenant_id, access.stored.ticket
    found = await attachments.get_attachment(tx, tenant_id, attachment_id)
    if found.ticket_id != ticket.id or not rules.is_shown(found.name, found.content_type):
        raise NotFound
    written_at = ticket.created_at
    if found.reply_id is not None:
        reply = await replies.find(tx, tenant_id, ticket.id, found.reply_id)
        if reply is None or reply.is_internal:
            raise NotFound
        written_at = reply.created_at
    if not access.may_read(written_at):
        raise NotFound
    return found


async def add_reply(
    tx: Tx, access: Access, body: str, files: Sequence[File], *, quota_bytes: int, now_us: int
) -> None:
    """A public reply by the participant, as one that came by e-mail. Raises Conflict."""
    tenant_id, ticket_id = access.form.tenant_id, access.stored.ticket.id
    actor = await _actor(tx, access, now_us)
    if not files and await _is_sent_again(tx, access, body, actor):
        return
    added = [attachment_of(tenant_id, each, actor, now_us) for each in files]
    for each in added:
        await attachments.add(tx, each, quota_bytes=quota_bytes)
    new = NewReply(body=body, attachment_ids=[each.id for each in added])
    await tickets.reply(tx, by_mail(tenant_id, actor), ticket_id, new, now_us=now_us)


async def _actor(tx: Tx, access: Access, now_us: int) -> Actor:
    tenant_id, participant = access.form.tenant_id, access.participant
    new = NewCustomer(participant.address, participant.name)
    customer = await customers.find_or_add(tx, tenant_id, new, now_us=now_us)
    return Actor("customer", customer.id, customer.name or "")


async def _is_sent_again(tx: Tx, access: Access, body: str, actor: Actor) -> bool:
    """Whether the newest reply is the same, as after a form was sent twice."""
    newest = await replies.list_replies(
        tx,
        access.form.tenant_id,
        access.stored.ticket.id,
        PageRequest(1, None),
        is_internal=False,
        newest_first=True,
    )
    return bool(newest) and ticket_rules.is_same_reply(newest[0], NewReply(body=body), actor.id)
