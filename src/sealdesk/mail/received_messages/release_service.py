"""Releases messages, downloads and previews them: what reads their bytes from the storage."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ApiError, Conflict, ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.mail.parsing.types import Address, ParsedMessage
from sealdesk.mail.received_messages import actions
from sealdesk.mail.received_messages.types import (
    Preview,
    ReceivedMessageResponse,
    StoredMessage,
)
from sealdesk.mail.receiving import arrivals, contents, raw_messages
from sealdesk.mail.receiving.errors import NOT_PROCESSED
from sealdesk.mail.receiving.types import Incoming, ReceivedMessage
from sealdesk.mail.threads.redaction import redact, secrets_of
from sealdesk.rate_limits.byte_budget import Holding
from sealdesk.resources.representation import response_builder
from sealdesk.state import AppState
from sealdesk.web.request import Header, Request, Response

MAX_PREVIEW = 20_000  # characters of a text
_MAX_FILES = 20
# Enough for the text of nearly every message; a longer one is not read to its end.
_PREVIEW_BYTES = 1024 * 1024
_RAW_TYPE = b"application/octet-stream"
# Nothing in the file is run, and browsers save it.
_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-disposition", b'attachment; filename="message.eml"'),
)
_respond = response_builder(ReceivedMessageResponse, "from_address")

log = logging.getLogger("sealdesk.mail")


async def release(request: Request, message_id: str) -> ReceivedMessage:
    """Release a message for the caller of a request. Raises ApiError."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def act(tx: Tx, incoming: Incoming) -> ReceivedMessage:
        return await actions.release(tx, request.caller, incoming, message_id, now_us=now_us)

    return await _act_on(
        request, lambda tx: actions.get_waiting(tx, tenant_id, message_id, now_us), act
    )


async def open_ticket(request: Request, message_id: str) -> ReceivedMessage:
    """Open a ticket of the message of somebody who is no participant. Raises ApiError."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def find(tx: Tx) -> StoredMessage:
        await actions.get_undecided(tx, tenant_id, message_id)
        return await actions.get_kept(tx, tenant_id, message_id, now_us)

    async def act(tx: Tx, incoming: Incoming) -> ReceivedMessage:
        return await actions.open_ticket(tx, request.caller, incoming, message_id, now_us=now_us)

    return await _act_on(request, find, act)


async def _act_on(
    request: Request,
    find: Work[StoredMessage],
    act: Callable[[Tx, Incoming], Awaitable[ReceivedMessage]],
) -> ReceivedMessage:
    found = await request.read(find)
    # The raw message, and what is parsed of it, are in memory at the same time.
    holding = Holding(request.state.limits.received, request.caller.tenant_id)
    if not holding.try_add(2 * found.message.size_bytes):
        raise ServiceUnavailable(TOO_MANY_BYTES)
    try:
        with _mistakes_refused(found):
            incoming = await _read_again(request.state, found)

            async def work(tx: Tx) -> ReceivedMessage:
                return await act(tx, incoming)

            return await request.write(work)
    finally:
        holding.release()


@contextmanager
def _mistakes_refused(found: StoredMessage) -> Iterator[None]:
    """Raises Conflict for a mistake of ours with a message: it waits until an update."""
    try:
        yield
    except Exception as error:
        is_refusal = isinstance(error, ApiError) and not isinstance(error, ServiceUnavailable)
        if is_refusal or not arrivals.is_mistake(error):
            raise
        log.exception("a message could not be processed", extra={"mailbox": found.mailbox.id})
        raise Conflict(NOT_PROCESSED) from error


async def release_now(state: AppState, caller: Caller, message_id: str) -> ReceivedMessage:
    """Release a message for a command. Raises ApiError."""
    tenant_id, now_us = caller.tenant_id, state.clock.now_us()
    found = await state.database.read(
        lambda tx: actions.get_waiting(tx, tenant_id, message_id, now_us), tenant_id
    )
    with _mistakes_refused(found):
        incoming = await _read_again(state, found)
        return await state.database.write(
            lambda tx: actions.release(tx, caller, incoming, message_id, now_us=now_us), tenant_id
        )


async def _read_again(state: AppState, found: StoredMessage) -> Incoming:
    return await arrivals.read_again(state, found.mailbox, found.message)


async def download(request: Request, message_id: str) -> Response:
    """The raw message as a file. Raises NotFound, Gone, ServiceUnavailable."""
    found = await request.fetch(actions.get_kept, message_id, request.now_us)
    file = await raw_messages.open_file(request.state, found.message)
    return Response(200, b"", [*_HEADERS], _RAW_TYPE, file=file)


async def preview(state: AppState, message: ReceivedMessage) -> Preview | None:
    """What a kept message says; None if it cannot be read. Raises ServiceUnavailable."""
    raw = await raw_messages.read_start(state, message, _PREVIEW_BYTES)
    try:
        parsed = await arrivals.parse_off_loop(state, message.tenant_id, raw)
    except Exception:  # a mistake of ours: the page can still offer the message as a file
        log.exception("a message cannot be parsed", extra={"mailbox": message.mailbox_id})
        return None
    secrets = secrets_of(state.key_ring)
    text = redact(contents.clean(parsed.text), secrets)
    is_cut = len(text) > MAX_PREVIEW or len(raw) < message.size_bytes or parsed.is_truncated
    names = tuple(contents.file_name(each.name) for each in parsed.attachments[:_MAX_FILES])
    return Preview(
        _sender(parsed), redact(_people(parsed.to), secrets), text[:MAX_PREVIEW], is_cut, names
    )


def to_response(message: ReceivedMessage) -> ReceivedMessageResponse:
    return _respond(message, from_address=message.from_identity)


def _sender(parsed: ParsedMessage) -> str:
    return _people((parsed.sender,)) if parsed.sender else ""


def _people(addresses: tuple[Address, ...]) -> str:
    shown = (f"{each.name} <{each.address}>" if each.name else each.address for each in addresses)
    return contents.clean(", ".join(shown))
