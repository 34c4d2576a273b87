"""Repairs the texts of tickets and replies from raw messages, after a correction of the parser."""

import logging
import re

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.receiving import (
    actions,
    arrivals,
    authentication,
    authors,
    contents,
    raw_messages,
    rules,
    store,
    texts,
)
from sealdesk.mail.receiving.types import ReceivedMessage
from sealdesk.mail.sending import results
from sealdesk.resources.paging import PageRequest
from sealdesk.state import AppState
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.text.forwards import read_forward
from sealdesk.tickets.ticket.store import history, replies
from sealdesk.tickets.ticket.types import TicketChange

log = logging.getLogger("sealdesk.mail")

_MAX_CHANGES = 1000
_STEP = 100
_LEFT_OUT = re.compile(rf"\n\n\[{texts.LEFT_OUT}: [^\]\n]*\]\Z")


async def repair(state: AppState, message: ReceivedMessage) -> bool:
    """Parse a message again, and store its text if it is another one; whether it was.

    A message that could not be processed is processed now. What a user has changed since stays. A
    mistake of ours with one message is logged. Raises ServiceUnavailable if the message is missing.
    """
    try:
        return await _repair(state, message)
    except Exception as error:
        if not arrivals.is_mistake(error):
            raise
        log.exception("a message could not be processed", extra={"mailbox": message.mailbox_id})
        return False


async def _repair(state: AppState, message: ReceivedMessage) -> bool:
    if message.reason_code == "not_processed":
        return await _process_now(state, message)
    if message.ticket_id is None or message.outcome not in ("ticket", "reply", "note"):
        return False
    raw = await raw_messages.read(state, message.tenant_id, message.raw_sha256)
    parsed = await arrivals.parse_off_loop(state, message.tenant_id, raw)
    now_us = state.clock.now_us()
    if message.reason_code == "forwarded":
        if (forward := read_forward(parsed.subject, parsed.text)) is None:
            return False
        parsed = rules.as_forwarded(parsed, forward)
    before = _before(message, parsed, state.settings.mail.authserv_ids)

    async def work(tx: Tx) -> bool:
        if message.reply_id is None:
            return await _repair_ticket(tx, message, before, parsed, now_us)
        return await _repair_reply(tx, message, before, parsed, now_us)

    return await state.database.write(work, message.tenant_id)


async def _process_now(state: AppState, message: ReceivedMessage) -> bool:
    tenant_id, now_us = message.tenant_id, state.clock.now_us()
    mailbox = await state.database.read(
        lambda tx: mailboxes.find_ever(tx, tenant_id, message.mailbox_id), tenant_id
    )
    if mailbox is None:
        return False
    incoming = await arrivals.read_again(state, mailbox, message)
    await state.database.write(
        lambda tx: actions.process_again(tx, incoming, message.id, now_us), tenant_id
    )
    return True


def _before(message: ReceivedMessage, parsed: ParsedMessage, ids: frozenset[str]) -> str:
    """What stands before the text of some messages."""
    if message.reason_code == "by_desk":
        return texts.by_desk(authors.author(parsed, ()))
    if message.reason_code not in ("stranger", "stranger_added"):
        return ""
    has_failed = authentication.has_failed(parsed, ids)
    return texts.stranger(authors.author(parsed, ()), has_failed_dmarc=has_failed)


async def _repair_ticket(
    tx: Tx, message: ReceivedMessage, before: str, parsed: ParsedMessage, now_us: int
) -> bool:
    tenant_id, ticket_id = message.tenant_id, message.ticket_id or ""
    ticket = (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket
    text = contents.text_of(parsed, before, _after(ticket.description))
    if text == ticket.description:
        return False
    page = PageRequest(_MAX_CHANGES, None)
    changes = await history.list_changes(tx, tenant_id, ticket_id, page)
    if any("description" in entry.changes for entry in changes if entry.actor.kind != "system"):
        return False
    caller = results.system_caller(tenant_id)
    change = TicketChange(description=text)
    await tickets.change_ticket(tx, caller, ticket_id, change, if_match=None, now_us=now_us)
    return True


async def _repair_reply(
    tx: Tx, message: ReceivedMessage, before: str, parsed: ParsedMessage, now_us: int
) -> bool:
    tenant_id, ticket_id = message.tenant_id, message.ticket_id or ""
    stored = await replies.find(tx, tenant_id, ticket_id, message.reply_id or "")
    if stored is None:  # it was moved to another ticket
        return False
    text = contents.text_of(parsed, before, _after(stored.body))
    if text == stored.body:
        return False
    await store.replace_text(tx, stored, text)
    # So that the index is written anew. There is no event of changed replies.
    view = await tickets.get_view(tx, tenant_id, ticket_id)
    await events.record(tx, tenant_id, "ticket.updated", view.json, events.NO_CHANGES, now_us)
    return True


def _after(text: str) -> str:
    """The files that were not attached, which stay as they were."""
    found = _LEFT_OUT.search(text)
    return found[0] if found else ""


async def list_kept(state: AppState, tenant_id: str, after: str) -> list[ReceivedMessage]:
    """The next messages of a tenant whose raw message is kept. after: an id."""
    return await state.database.read(
        lambda tx: store.list_kept(tx, tenant_id, after, _STEP), tenant_id
    )
