"""Finds what an outgoing message contains."""

from collections.abc import Iterable
from typing import NamedTuple

from sealdesk import clock
from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.identity import store as users
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing.types import RAW_MESSAGE
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.composing import compose
from sealdesk.mail.sending.types import Content, File, OutgoingMessage
from sealdesk.mail.threads import links, redaction
from sealdesk.mail.threads import rules as thread_rules
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.paging import PageRequest
from sealdesk.resources.representation import email_identity, with_ascii_domain
from sealdesk.state import AppState
from sealdesk.tickets.attachments import receiving
from sealdesk.tickets.attachments import store as attachments
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.text import kept_html, quotes
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.ticket.store import replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import Reply, Ticket
from sealdesk.web.pages import i18n
from sealdesk.web.pages.i18n import gettext

# Servers commonly take messages of 25 MiB, and base64 makes files a third longer.
_MAX_FILES_BYTES = 15 * 1024 * 1024
_MAX_QUOTED_LINES = 100
_LEFT_OUT = "(Not attached, as it is too large for e-mail: {names})"


class _Found(NamedTuple):
    ticket: Ticket
    reply: Reply | None
    participant: Participant | None
    desk_name: str
    conversation: list[tuple[str | None, str]]
    files: list[Attachment]
    desk_url: str | None
    others: list[Participant]
    writer: str | None
    earlier: "_Words | None"

    @property
    def participants(self) -> list[Participant]:
        return self.others if self.participant is None else [self.participant, *self.others]

    def may_read(self, written_at: int) -> bool:
        """Whether the recipient had joined the ticket when something was written."""
        return self.participant is not None and self.participant.created_at <= written_at


class _Words(NamedTuple):
    """What a message says. author: who says it."""

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
    secrets = redaction.secrets_of(state.key_ring, found.participants)
    text = _with_signature(words.text, mailbox.signature, left_out)
    if found.earlier is not None and found.may_read(found.earlier.written_at):
        text = f"{text}\n\n{_quoted(mailbox, found.earlier)}"
    text = _with_link(state, mailbox, found, redaction.redact(text, secrets))
    (shown,) = await kept_html.render_all(state.sandbox, [(text, False)], Look())
    subject = redaction.redact(found.ticket.subject, secrets)
    if "ticket_number" in mailbox.options:
        subject = rules.numbered(subject, found.ticket.number)
    person, desk_name = found.participant, mailbox.display_name or found.desk_name
    content = Content(
        sender_name=f"{words.author} ({desk_name})" if words.author else desk_name,
        sender_address=mailbox.address,
        recipient_name=person.name if person else None,
        recipient_address=message.address,
        reply_address=thread_rules.reply_address(mailbox.address, person.token)
        if person
        else mailbox.address,
        subject=subject,
        text=text,
        html=str(shown.html),
        message_id=message.message_id,
        references=rules.references(
            found.conversation, person.token if person else "", mailbox.address
        ),
        written_at=words.written_at,
        files=files,
        is_automatic=message.kind == "acknowledgement",
        is_shared=message.kind == "shared",
        others=() if "hidden_participants" in mailbox.options else _others(found, message),
    )
    return compose(content)


def _others(found: _Found, message: OutgoingMessage) -> tuple[tuple[str, str], ...]:
    """Who else gets the reply, so that the recipient sees whom it reaches.

    An address with other letters than ASCII would need a server that knows them (RFC 6531).
    """
    if message.kind == "acknowledgement":
        return ()
    is_international = not with_ascii_domain(message.address).isascii()
    return tuple(
        (each.name or "", each.address)
        for each in found.others
        if is_international or with_ascii_domain(each.address).isascii()
    )


def _words(found: _Found, mailbox: Mailbox, message: OutgoingMessage) -> _Words | None:
    if message.kind == "acknowledgement":
        text = mailbox.acknowledgement
        return _Words(text, None, message.created_at) if text else None
    if (reply := found.reply) is None:
        return None
    if message.kind == "shared":
        return _Words(quotes.fold(reply.body)[0], found.writer, reply.created_at)
    author = reply.author.name if reply.author.type == "agent" else None
    return _Words(reply.body, author, reply.created_at)


async def _find(tx: Tx, mailbox: Mailbox, message: OutgoingMessage) -> _Found | None:
    tenant_id, ticket_id = message.tenant_id, message.ticket_id
    stored = await ticket_store.find(tx, tenant_id, ticket_id)
    reply = await replies.find(tx, tenant_id, ticket_id, message.about_id)
    if stored is None:
        return None
    people = await threads.list_recipients(tx, tenant_id, ticket_id)
    identity = email_identity(message.address)
    tenant = await users.find_tenant(tx, tenant_id)
    attached = reply.attachments if reply else ()
    # The raw message of an agent who answers by e-mail has the secret reply address of that agent.
    sent = [each for each in attached if (each.name, each.content_type) != RAW_MESSAGE]
    files = [await attachments.find(tx, tenant_id, each.id) for each in sent]
    return _Found(
        stored.ticket,
        reply,
        next((each for each in people if each.address_identity == identity), None),
        tenant.name if tenant else mailbox.address,
        await store.list_conversation(tx, message),
        [each for each in files if each is not None],
        await threads.find_desk_url(tx, tenant_id),
        [each for each in people if each.address_identity != identity],
        await _find_writer(tx, tenant_id, reply.author.id)
        if reply and message.kind == "shared"
        else None,
        await _find_earlier(tx, message, stored.ticket)
        if reply and message.kind == "reply" and "quoted_message" in mailbox.options
        else None,
    )


async def _find_earlier(tx: Tx, message: OutgoingMessage, ticket: Ticket) -> _Words:
    """The newest public message before a reply, without what that one quotes."""
    page, tenant_id = PageRequest(1, [message.about_id]), ticket.tenant_id
    found = await replies.list_replies(
        tx, tenant_id, ticket.id, page, is_internal=False, newest_first=True
    )
    for each in found[:1]:
        author, name = each.author, each.author.name
        if author.type == "customer":
            name = await _find_writer(tx, tenant_id, author.id) or name
        return _Words(quotes.fold(each.body)[0], name, each.created_at)
    writer = await _find_writer(tx, tenant_id, ticket.customer_id)
    return _Words(quotes.fold(ticket.description)[0], writer, ticket.created_at)


def _quoted(mailbox: Mailbox, earlier: _Words) -> str:
    i18n.activate(mailbox.language or i18n.ENGLISH)
    time = clock.iso(earlier.written_at)[:16].replace("T", " ")
    lines = earlier.text.splitlines()[:_MAX_QUOTED_LINES]
    above = gettext("On %(time)s UTC, %(name)s wrote:") % {"time": time, "name": earlier.author}
    return "\n".join((above, "", *(f"> {line}" for line in lines)))


async def _find_writer(tx: Tx, tenant_id: str, customer_id: str) -> str | None:
    """What others call a participant: the name, else the address without its domain."""
    customer = await customers.find(tx, tenant_id, customer_id)
    return None if customer is None else customer.name or customer.email.rpartition("@")[0]


def _fitting(files: Iterable[Attachment]) -> Iterable[Attachment]:
    """The files that one message has room for, the first ones first."""
    left = _MAX_FILES_BYTES
    for each in files:
        if each.size_bytes <= left:
            left -= each.size_bytes
            yield each


async def _read(state: AppState, attachment: Attachment) -> File:
    """Raises ServiceUnavailable with CONTENT_UNAVAILABLE."""
    body = await storage_of(state.settings).open(receiving.content_of(attachment))
    parts = []
    try:
        while part := await body.read_part():
            parts.append(part)
    finally:
        await body.close()
    content = b"".join(parts)
    if len(content) != attachment.size_bytes:
        raise ServiceUnavailable(CONTENT_UNAVAILABLE)
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
    if found.desk_url is None or found.participant is None:
        return text
    i18n.activate(mailbox.language or i18n.ENGLISH)
    link = links.link_of(state.key_ring, found.desk_url, found.participant)
    return f"{text}\n\n{gettext('Read and answer this conversation here:')}\n{link}"
