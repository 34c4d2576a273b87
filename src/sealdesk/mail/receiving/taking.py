"""Takes a message for a mailbox: stores its bytes, parses it, and runs the transaction."""

import asyncio
import logging
from typing import NamedTuple

import msgspec

from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing import parse
from sealdesk.mail.parsing.transfer import decode
from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.receiving import actions, raw_messages, rules, store
from sealdesk.mail.receiving.types import WAITING, File, Incoming, RawMessage, ReceivedMessage
from sealdesk.mail.threads import rules as threads
from sealdesk.settings import Settings
from sealdesk.state import AppState
from sealdesk.tickets.attachments import rules as attachment_rules

_RAW_NAME, _RAW_TYPE = "message.eml", "message/rfc822"
_MAX_NAMED = 20  # of the files that are left out
# A larger one takes longer to parse than other connections should wait.
_PARSED_IN_LOOP_BYTES = 64 * 1024

log = logging.getLogger("sealdesk.mail")


class Arrival(NamedTuple):
    """A message as it arrived. recipients, envelope_sender: see Incoming."""

    raw: bytes
    recipients: tuple[str, ...] = ()
    envelope_sender: str | None = None


class _Parts(NamedTuple):
    files: tuple[File, ...]
    left_out: tuple[str, ...]


async def take(state: AppState, mailbox: Mailbox, arrival: Arrival) -> ReceivedMessage | None:
    """Take a message durably; None if it was taken before. Raises ServiceUnavailable."""
    try:
        incoming = await prepare(state, mailbox, arrival)
        now_us = state.clock.now_us()
        return await state.database.write(
            lambda tx: actions.take(tx, incoming, now_us), mailbox.tenant_id
        )
    except Exception as error:
        if not is_mistake(error):
            raise
        # A mistake of ours must not make a mail server try until it gives up (decision 0076).
        log.exception("a message could not be processed", extra={"mailbox": mailbox.id})
        return await _hold(state, mailbox, arrival)


def is_mistake(error: Exception) -> bool:
    """Whether taking a message has failed because of a mistake of ours, so that it fails again."""
    return not isinstance(error, ServiceUnavailable) or error.is_mistake


async def _hold(state: AppState, mailbox: Mailbox, arrival: Arrival) -> ReceivedMessage | None:
    """Store a message that could not be processed, if need be without what it says."""
    now_us = state.clock.now_us()
    raw = await raw_messages.keep(state, mailbox.tenant_id, arrival.raw, now_us)
    incoming = _incoming(state, mailbox, arrival, raw, ParsedMessage(), _Parts((), ()))
    try:
        parsed = await parse_off_loop(arrival.raw)
        return await _hold_now(
            state, msgspec.structs.replace(incoming, message=parsed), now_us
        )  # fmt: skip
    except Exception as error:
        if not is_mistake(error):
            raise
        return await _hold_now(state, incoming, now_us)


async def _hold_now(state: AppState, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    return await state.database.write(
        lambda tx: actions.hold(tx, incoming, now_us), incoming.mailbox.tenant_id
    )


async def read_again(state: AppState, mailbox: Mailbox, message: ReceivedMessage) -> Incoming:
    """A message that waits, as it arrived. Raises ServiceUnavailable."""
    raw = await raw_messages.read(state, mailbox.tenant_id, message.raw_sha256)
    envelope = rules.read_envelope(message)
    recipients = tuple(threads.reply_address(mailbox.address, each) for each in envelope.tokens)
    sender = "" if envelope.has_empty_sender else None
    return await prepare(state, mailbox, Arrival(raw, recipients, sender))


async def prepare(state: AppState, mailbox: Mailbox, arrival: Arrival) -> Incoming:
    """Store the bytes of a message and of its files, and parse it. Raises ServiceUnavailable."""
    settings, now_us = state.settings, state.clock.now_us()
    raw = await raw_messages.keep(state, mailbox.tenant_id, arrival.raw, now_us)
    message = await parse_off_loop(arrival.raw)
    parts = _Parts((), ())
    has_files = bool(message.attachments) or rules.is_cut(message)
    if has_files and not await _is_known(state, mailbox, message, raw):
        parts = await _keep_files(settings, mailbox.tenant_id, message, arrival.raw, now_us)
    return _incoming(state, mailbox, arrival, raw, message, parts)


def _incoming(
    state: AppState,
    mailbox: Mailbox,
    arrival: Arrival,
    raw: RawMessage,
    message: ParsedMessage,
    parts: _Parts,
) -> Incoming:
    return Incoming(
        mailbox=mailbox,
        message=message,
        raw=raw,
        recipients=arrival.recipients,
        envelope_sender=arrival.envelope_sender,
        files=parts.files,
        left_out=parts.left_out,
        quota_bytes=state.settings.attachment_quota_bytes,
        authserv_ids=state.settings.mail.authserv_ids,
    )


async def parse_off_loop(raw: bytes) -> ParsedMessage:
    """Parse a message; a large one in a thread."""
    if len(raw) <= _PARSED_IN_LOOP_BYTES:
        return parse(raw)
    return await asyncio.to_thread(parse, raw)


async def _is_known(
    state: AppState, mailbox: Mailbox, message: ParsedMessage, raw: RawMessage
) -> bool:
    """Whether its files are not needed, as it was taken before."""
    key, tenant_id = rules.key_of(message, raw.digest), mailbox.tenant_id
    known = await state.database.read(
        lambda tx: store.find_by_key(tx, tenant_id, mailbox.id, key), tenant_id
    )
    return known is not None and known.raw_sha256 == raw.sha256 and known.outcome not in WAITING


async def _keep_files(
    settings: Settings, tenant_id: str, message: ParsedMessage, raw: bytes, now_us: int
) -> _Parts:
    """Store the files that may be attached, first the message itself if its text is not all."""
    files, left_out = list[File](), list[str]()
    if rules.is_cut(message):
        files.append(
            await raw_messages.keep_file(settings, tenant_id, _RAW_NAME, _RAW_TYPE, (raw,), now_us)
        )
    for part in message.attachments:
        name = rules.file_name(part.name)
        is_allowed = attachment_rules.is_allowed(name, settings.attachment_types)
        fits = 0 < part.size_bytes <= settings.attachment_max_bytes
        if not (is_allowed and fits and len(files) < attachment_rules.MAX_PER_MESSAGE):
            left_out.append(name)
            continue
        files.append(
            await raw_messages.keep_file(
                settings, tenant_id, name, part.content_type, decode(part.encoded, set()), now_us
            )
        )
    return _Parts(tuple(files), tuple(left_out[:_MAX_NAMED]))
