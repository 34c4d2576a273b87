"""Finds what an outgoing message contains."""

from collections.abc import Iterable
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form import store as contact_form
from sealdesk.mail.contact_form import ticket_links
from sealdesk.mail.contact_form.types import ContactForm
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending import store
from sealdesk.mail.sending.composing import compose
from sealdesk.mail.sending.types import Content, File, OutgoingMessage
from sealdesk.mail.threads import rules as thread_rules
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.representation import email_identity
from sealdesk.state import AppState
from sealdesk.tickets.attachments import receiving
from sealdesk.tickets.attachments import store as attachments
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.store import replies
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.text import markdown
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.types import Reply, Ticket
from sealdesk.web.pages import i18n
from sealdesk.web.pages.i18n import gettext

# Servers commonly take messages of 25 MiB, and base64 makes files a third longer.
_MAX_FILES_BYTES = 15 * 1024 * 1024
_LEFT_OUT = "(Not attached, as it is too large for e-mail: {names})"


class _Found(NamedTuple):
    ticket: Ticket
    reply: Reply | None
    participant: Participant | None
    desk_name: str
    last_received: str | None
    files: list[Attachment]
    form: ContactForm | None


class _Words(NamedTuple):
    """What a message says. author: the agent who says it."""

    text: str
    author: str | None
    written_at: int


async def find(state: AppState, mailbox: Mailbox, message: OutgoingMessage) -> bytes | None:
    """The message as SMTP sends it; None if there is nothing to say any more."""
    found = await state.database.read(lambda tx: _find(tx, mailbox, message))
    words = None if found is None else _words(found, mailbox, message)
    if found is None or words is None:
        return None
    fitting = list(_fitting(found.files))
    files = [await _read(state, each) for each in fitting]
    left_out = [each.name for each in found.files if each not in fitting]
    text = _with_signature(words.text, mailbox.signature, left_out)
    text = _with_link(state, mailbox, found, text)
    html = (await markdown.render_all([text], Look()))[0]
    person, desk_name = found.participant, mailbox.display_name or found.desk_name
    content = Content(
        sender_name=f"{words.author} ({desk_name})" if words.author else desk_name,
        sender_address=mailbox.address,
        recipient_name=person.name if person else None,
        recipient_address=message.address,
        reply_address=thread_rules.reply_address(mailbox.address, person.token)
        if person
        else mailbox.address,
        subject=found.ticket.subject,
        text=text,
        html=str(html),
        message_id=message.message_id,
        answered_id=_message_id(found.last_received),
        written_at=words.written_at,
        files=files,
        is_automatic=message.kind == "acknowledgement",
    )
    return compose(content)


def _words(found: _Found, mailbox: Mailbox, message: OutgoingMessage) -> _Words | None:
    if message.kind == "acknowledgement":
        text = mailbox.acknowledgement
        return _Words(text, None, message.created_at) if text else None
    if (reply := found.reply) is None:
        return None
    author = reply.author.name if reply.author.type == "agent" else None
    return _Words(reply.body, author, reply.created_at)


async def _find(tx: Tx, mailbox: Mailbox, message: OutgoingMessage) -> _Found | None:
    tenant_id, ticket_id = message.tenant_id, message.ticket_id
    stored = await ticket_store.find(tx, tenant_id, ticket_id)
    reply = await replies.find(tx, tenant_id, ticket_id, message.about_id)
    if stored is None:
        return None
    tenant = await identity.find_tenant(tx, tenant_id)
    attached = reply.attachments if reply else ()
    files = [await attachments.find(tx, tenant_id, each.id) for each in attached]
    return _Found(
        stored.ticket,
        reply,
        await threads.find_participant(tx, tenant_id, ticket_id, email_identity(message.address)),
        tenant.name if tenant else mailbox.address,
        await store.find_last_received(tx, tenant_id, ticket_id),
        [each for each in files if each is not None],
        await contact_form.find_form_of(tx, tenant_id),
    )


def _fitting(files: Iterable[Attachment]) -> Iterable[Attachment]:
    """The first files that one message has room for."""
    left = _MAX_FILES_BYTES
    for each in files:
        left -= each.size_bytes
        if left < 0:
            return
        yield each


async def _read(state: AppState, attachment: Attachment) -> File:
    body = await storage_of(state.settings).open(receiving.content_of(attachment))
    parts = []
    try:
        while part := await body.read_part():
            parts.append(part)
    finally:
        await body.close()
    content = b"".join(parts)
    if len(content) != attachment.size_bytes:
        raise ServiceUnavailable
    return File(attachment.name, attachment.content_type, content)


def _with_signature(body: str, signature: str, left_out: list[str]) -> str:
    parts = [body]
    if left_out:
        parts.append(_LEFT_OUT.format(names=", ".join(left_out)))
    if signature:
        parts.append(f"-- \n{signature}")
    return "\n\n".join(parts)


def _with_link(state: AppState, mailbox: Mailbox, found: _Found, text: str) -> str:
    """With a link to the page of the ticket, if the desk has such pages."""
    text = ticket_links.without_links(text)
    form, participant = found.form, found.participant
    if form is None or participant is None or not form.has_ticket_pages:
        return text
    i18n.activate(mailbox.language or i18n.ENGLISH)
    link = ticket_links.link_of(state.key_ring, form, participant)
    return f"{text}\n\n{gettext('Read and answer this conversation here:')}\n{link}"


def _message_id(key: str | None) -> str | None:
    """A Message-ID from the key of a received message, which may be a hash."""
    if key is None or "@" not in key or not key.isprintable() or " " in key:
        return None
    return f"<{key.strip('<>')}>"
