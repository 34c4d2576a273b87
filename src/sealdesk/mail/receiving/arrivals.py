"""Receives a message for a mailbox: stores its bytes, parses it, and runs the transaction."""

import logging
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_CHILDREN
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing import parse
from sealdesk.mail.parsing.sandboxed import parse_in_child
from sealdesk.mail.parsing.transfer import decode
from sealdesk.mail.parsing.types import RAW_MESSAGE, ParsedMessage
from sealdesk.mail.receiving import actions, contents, raw_messages, store
from sealdesk.mail.receiving.cases import read_origin
from sealdesk.mail.receiving.types import (
    WAITING,
    Arrival,
    File,
    Incoming,
    RawMessage,
    ReceivedMessage,
    WaitingFull,
)
from sealdesk.mail.threads import rules as threads
from sealdesk.mail.threads.redaction import redact, secrets_of
from sealdesk.mail.verifying import codes
from sealdesk.sandbox.pool import Exceeded
from sealdesk.sandbox.slots import Crowded
from sealdesk.settings import Settings
from sealdesk.state import AppState
from sealdesk.tickets.attachments import rules as attachment_rules

_MAX_NAMED = 20  # of the files that are left out
# A larger one could hold the event loop for longer than others should wait.
_PARSED_IN_LOOP_BYTES = 4 * 1024
_HEAD_BYTES = 4 * 1024
# A larger one is stored only after it is clear that it may wait, if it must; of a smaller one that
# is refused, the bytes stay for a day.
_STORED_AT_ONCE_BYTES = 64 * 1024

log = logging.getLogger("sealdesk.mail")


class _Parts(NamedTuple):
    files: tuple[File, ...]
    left_out: tuple[str, ...]


async def receive(state: AppState, mailbox: Mailbox, arrival: Arrival) -> ReceivedMessage | None:
    """Process a message durably; None if it is known. Raises ServiceUnavailable, WaitingFull."""
    await state.migration_pause.end()
    try:
        message = await parse_off_loop(state, mailbox.tenant_id, arrival.raw)
        if len(arrival.raw) > _STORED_AT_ONCE_BYTES:
            await _check_room(state, mailbox, arrival, message)
        incoming = await _store(state, mailbox, arrival, message)
        now_us = state.clock.now_us()
        return await state.database.write(
            lambda tx: actions.process(tx, incoming, now_us), mailbox.tenant_id
        )
    except Exceeded:
        log.warning("a message took too long to read", extra={"mailbox": mailbox.id})
        head = parse(arrival.raw.partition(b"\r\n\r\n")[0][:_HEAD_BYTES])
        return await _hold(state, mailbox, arrival, head, actions.NOT_READ)
    except Exception as error:
        if not is_mistake(error):
            raise
        # A mistake of ours must not make a mail server try until it gives up (decision 0076).
        log.exception("a message could not be processed", extra={"mailbox": mailbox.id})
        return await _hold_mistaken(state, mailbox, arrival)


def is_mistake(error: Exception) -> bool:
    """Whether a message could not be processed because of a mistake of ours, which stays."""
    if isinstance(error, WaitingFull):
        return False
    return not isinstance(error, ServiceUnavailable) or error.is_mistake


async def _hold_mistaken(
    state: AppState, mailbox: Mailbox, arrival: Arrival
) -> ReceivedMessage | None:
    """Store a message that could not be processed, if need be without what it says."""
    try:
        message = await parse_off_loop(state, mailbox.tenant_id, arrival.raw)
        return await _hold(state, mailbox, arrival, message, actions.NOT_PROCESSED)
    except Exception as error:
        if not is_mistake(error):
            raise
        return await _hold(state, mailbox, arrival, ParsedMessage(), actions.NOT_PROCESSED)


async def _hold(
    state: AppState, mailbox: Mailbox, arrival: Arrival, message: ParsedMessage, reason: str
) -> ReceivedMessage | None:
    now_us = state.clock.now_us()
    unstored = _incoming(state, mailbox, arrival, _unstored(arrival), message, _Parts((), ()))

    async def check(tx: Tx) -> None:
        await actions.check_room(tx, unstored, await read_origin(tx, unstored), now_us)

    await state.database.read(check, mailbox.tenant_id)
    raw = await raw_messages.keep(state, mailbox.tenant_id, arrival.raw, now_us)
    incoming = msgspec.structs.replace(unstored, raw=raw)
    return await state.database.write(
        lambda tx: actions.hold(tx, incoming, reason, now_us), mailbox.tenant_id
    )


async def read_again(state: AppState, mailbox: Mailbox, message: ReceivedMessage) -> Incoming:
    """A message that waits, as it arrived. Raises ServiceUnavailable."""
    raw = await raw_messages.read(state, mailbox.tenant_id, message.raw_sha256)
    envelope = contents.read_envelope(message)
    recipients = tuple(threads.reply_address(mailbox.address, each) for each in envelope.tokens)
    sender = "" if envelope.has_empty_sender else None
    arrived_at = envelope.arrived_at or message.received_at
    return await prepare(state, mailbox, Arrival(raw, recipients, sender, arrived_at=arrived_at))


async def prepare(state: AppState, mailbox: Mailbox, arrival: Arrival) -> Incoming:
    """Parse a message, and store its bytes and files. Raises ServiceUnavailable."""
    message = await parse_off_loop(state, mailbox.tenant_id, arrival.raw)
    return await _store(state, mailbox, arrival, message)


async def _check_room(
    state: AppState, mailbox: Mailbox, arrival: Arrival, message: ParsedMessage
) -> None:
    unstored = _incoming(state, mailbox, arrival, _unstored(arrival), message, _Parts((), ()))
    now_us = state.clock.now_us()
    await state.database.read(
        lambda tx: actions.check_before_storing(tx, unstored, now_us), mailbox.tenant_id
    )


def _unstored(arrival: Arrival) -> RawMessage:
    return RawMessage("", "", len(arrival.raw))


async def _store(
    state: AppState, mailbox: Mailbox, arrival: Arrival, message: ParsedMessage
) -> Incoming:
    if codes.has_code(state.key_ring, message):  # which no desk reads, also not as the raw message
        return _incoming(state, mailbox, arrival, _unstored(arrival), message, _Parts((), ()))
    settings, now_us = state.settings, state.clock.now_us()
    raw = await raw_messages.keep(state, mailbox.tenant_id, arrival.raw, now_us)
    parts = _Parts((), ())
    has_files = bool(message.attachments) or contents.is_cut(message)
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
    # So that no API, export, webhook or search has them either; the raw message keeps them.
    secrets = secrets_of(state.key_ring)
    message = msgspec.structs.replace(
        message, subject=redact(message.subject, secrets), text=redact(message.text, secrets)
    )
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
        waiting_bytes=None if arrival.is_stand_in else state.settings.mail.waiting_bytes,
        arrived_at=arrival.arrived_at,
        has_code=codes.has_code(state.key_ring, message),
    )


async def parse_off_loop(state: AppState, tenant_id: str, raw: bytes) -> ParsedMessage:
    """Parse a message to a tenant, but for a small one in a child process.

    Raises Exceeded, and ServiceUnavailable if too many wait.
    """
    if len(raw) <= _PARSED_IN_LOOP_BYTES:
        return parse(raw)
    try:
        return await parse_in_child(state.sandbox, raw, tenant_id)
    except Crowded as error:
        raise ServiceUnavailable(TOO_MANY_CHILDREN) from error


async def _is_known(
    state: AppState, mailbox: Mailbox, message: ParsedMessage, raw: RawMessage
) -> bool:
    """Whether its files are not needed, as it was processed before."""
    key, tenant_id = contents.key_of(message, raw.digest), mailbox.tenant_id
    known = await state.database.read(
        lambda tx: store.find_by_key(tx, tenant_id, mailbox.id, key), tenant_id
    )
    return known is not None and known.raw_sha256 == raw.sha256 and known.outcome not in WAITING


async def _keep_files(
    settings: Settings, tenant_id: str, message: ParsedMessage, raw: bytes, now_us: int
) -> _Parts:
    """Store the files that may be attached, first the message itself if that is not all of it."""
    files, left_out = list[File](), list[str]()
    if contents.is_cut(message) or len(message.attachments) > attachment_rules.MAX_PER_MESSAGE:
        files.append(
            await raw_messages.keep_file(settings, tenant_id, *RAW_MESSAGE, (raw,), now_us)
        )
    for part in message.attachments:
        name = contents.file_name(part.name)
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
