"""Asks for ratings by e-mail: queues one message for each solved ticket, and composes it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from markupsafe import Markup, escape

from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.event_log.consumers import LogEvent
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.ratings import actions, links, rules, store
from sealdesk.mail.ratings.actions import LinkedTicket
from sealdesk.mail.ratings.rules import Solved
from sealdesk.mail.ratings.types import MARKS, AskSettings
from sealdesk.mail.sending import rules as sending_rules
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.composing import compose as compose_content
from sealdesk.mail.sending.types import Content, OutgoingMessage, SendingMailbox
from sealdesk.mail.threads import rules as thread_rules
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.redaction import redact
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.addresses import is_read
from sealdesk.resources.representation import email_identity
from sealdesk.state import AppState
from sealdesk.tickets.ticket.types import ENDED
from sealdesk.web.pages import i18n
from sealdesk.web.pages.i18n import gettext

RATING = "rating"  # the kind of its outgoing message
_HOUR_US = 3600 * 1_000_000
_decode_solved = msgspec.json.Decoder(Solved).decode
_decode_changes = msgspec.json.Decoder(dict[str, tuple[str, str]]).decode


class _Found(NamedTuple):
    linked: LinkedTicket
    settings: AskSettings
    person: Participant
    conversation: list[tuple[str | None, str]]


async def list_questions(
    tx: Tx, events: Sequence[LogEvent], sending_mailboxes: Mapping[str, SendingMailbox], now_us: int
) -> list[OutgoingMessage]:
    """The messages for tickets that were solved, of desks that ask. events: of changed statuses."""
    found: list[OutgoingMessage] = []
    for tenant_id in dict.fromkeys(each.tenant_id for each in events):
        settings = await store.find_settings(tx, tenant_id)
        if settings is None or not settings.is_on:
            continue
        for event in (each for each in events if each.tenant_id == tenant_id):
            message = await _find_question(tx, event, settings, sending_mailboxes, now_us)
            if message is not None and message.about_id not in {each.about_id for each in found}:
                found.append(message)
    return found


async def _find_question(
    tx: Tx,
    event: LogEvent,
    settings: AskSettings,
    sending_mailboxes: Mapping[str, SendingMailbox],
    now_us: int,
) -> OutgoingMessage | None:
    tenant_id = event.tenant_id
    row = await store.find_change(tx, tenant_id, event.id)
    if row is None:
        return None
    ticket = _decode_solved(row["object"])
    if not rules.may_ask(ticket, *_decode_changes(row["changes"])["status"]):
        return None
    about_id = rules.question_id(ticket.id)
    if await store.was_asked(tx, tenant_id, about_id):
        return None
    identity = email_identity(ticket.customer.email)
    people = await threads.list_recipients(tx, tenant_id, ticket.id)
    person = next((each for each in people if each.address_identity == identity), None)
    mailbox = sending_mailboxes.get(person.mailbox_id) if person else None
    if person is None or mailbox is None or not is_read(person.address):
        return None
    if await sending.has_complained(tx, tenant_id, identity):
        return None
    return OutgoingMessage.queued(
        mailbox,
        ticket_id=ticket.id,
        about_id=about_id,
        kind=RATING,
        address=person.address,
        message_id=sending_rules.message_id(about_id, person.token, mailbox.address),
        now_us=now_us + settings.delay_hours * _HOUR_US,
    )


async def compose(state: AppState, mailbox: Mailbox, message: OutgoingMessage) -> bytes | None:
    """The message as SMTP sends it; None if there is nothing to ask any more."""
    now_us = state.clock.now_us()
    opened = links.opened_until(message.tenant_id, message.ticket_id, now_us)
    found = await state.database.read(lambda tx: _find(tx, state, message, now_us))
    if found is None:
        return None
    i18n.activate(mailbox.language or i18n.ENGLISH)
    base_url = f"{found.settings.base_url}{links.PATH}"
    link = f"{base_url}/{links.token_of(state.key_ring, opened)}"
    linked, person = found.linked, found.person
    desk_name = mailbox.display_name or linked.desk_name
    question = gettext("How satisfied are you with our help? Please tell us on this page:")
    paragraphs = [question, link, *([f"-- \n{mailbox.signature}"] if mailbox.signature else [])]
    content = Content(
        sender_name=desk_name,
        sender_address=mailbox.address,
        recipient_name=person.name,
        recipient_address=message.address,
        reply_address=thread_rules.reply_address(mailbox.address, person.token),
        subject=redact(linked.stored.ticket.subject, linked.secrets),
        text="\n\n".join(paragraphs),
        html=_html(link, mailbox.signature),
        message_id=message.message_id,
        references=sending_rules.references(found.conversation, person.token, mailbox.address),
        written_at=message.created_at,
        files=[],
        is_automatic=True,
    )
    return compose_content(content)


async def _find(tx: Tx, state: AppState, message: OutgoingMessage, now_us: int) -> _Found | None:
    tenant_id, ticket_id = message.tenant_id, message.ticket_id
    opened = links.opened_until(tenant_id, ticket_id, now_us)
    try:
        linked = await actions.get_linked_ticket(tx, opened, state.key_ring, now_us)
    except NotFound:
        return None
    settings = await store.find_settings(tx, tenant_id)
    identity = email_identity(message.address)
    person = await threads.find_participant(tx, tenant_id, ticket_id, identity)
    is_solved = linked.stored.ticket.status in ENDED
    if settings is None or not settings.is_on or not is_solved:
        return None
    if linked.state != "open" or person is None:
        return None
    # Its own id tells what was written before it.
    before = msgspec.structs.replace(message, about_id=message.id)
    return _Found(linked, settings, person, await sending.list_conversation(tx, before))


def _html(link: str, signature: str) -> str:
    """The question with a link for each mark, which chooses it on the page."""
    marks = Markup(" &nbsp; ").join(
        Markup('<a href="{}?rating={}">{}</a>').format(link, mark, mark) for mark in reversed(MARKS)
    )
    scale = gettext("1 is very dissatisfied, 5 is very satisfied.")
    parts = [escape(gettext("How satisfied are you with our help?")), marks, escape(scale)]
    parts += [escape(signature).replace("\n", Markup("<br>"))] if signature else []
    return "".join(f"<p>{each}</p>\n" for each in parts)
