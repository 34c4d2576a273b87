"""Releases messages, downloads and previews them: what reads their bytes from the storage."""

from collections.abc import Awaitable, Callable

from sealdesk import clock
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.mail.parsing.types import Address, ParsedMessage
from sealdesk.mail.received_messages import actions
from sealdesk.mail.received_messages.types import (
    Preview,
    ReceivedMessageResponse,
    StoredMessage,
)
from sealdesk.mail.receiving import raw_messages, rules, taking
from sealdesk.mail.receiving.types import Incoming, ReceivedMessage
from sealdesk.rate_limits.byte_budget import Holding
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
    holding = Holding(request.state.received, request.caller.tenant_id)
    if not holding.try_add(2 * found.message.size_bytes):
        raise ServiceUnavailable(TOO_MANY_BYTES)
    try:
        incoming = await _read_again(request.state, found)

        async def work(tx: Tx) -> ReceivedMessage:
            return await act(tx, incoming)

        return await request.write(work)
    finally:
        holding.release()


async def release_now(state: AppState, caller: Caller, message_id: str) -> ReceivedMessage:
    """Release a message for a command. Raises ApiError."""
    tenant_id, now_us = caller.tenant_id, state.clock.now_us()
    found = await state.database.read(
        lambda tx: actions.get_waiting(tx, tenant_id, message_id, now_us), tenant_id
    )
    incoming = await _read_again(state, found)
    return await state.database.write(
        lambda tx: actions.release(tx, caller, incoming, message_id, now_us=now_us), tenant_id
    )


async def _read_again(state: AppState, found: StoredMessage) -> Incoming:
    return await taking.read_again(state, found.mailbox, found.message)


async def download(request: Request) -> Response:
    """The raw message as a file. Raises NotFound, Gone, ServiceUnavailable."""
    (message_id,) = request.params
    tenant_id = request.caller.tenant_id
    found = await request.read(
        lambda tx: actions.get_kept(tx, tenant_id, message_id, request.now_us)
    )
    file = await raw_messages.open_file(request.state, found.message)
    return Response(200, b"", [*_HEADERS], _RAW_TYPE, file=file)


async def preview(state: AppState, message: ReceivedMessage) -> Preview:
    """What a kept message says. Raises ServiceUnavailable."""
    raw = await raw_messages.read_start(state, message, _PREVIEW_BYTES)
    parsed = await taking.parse_off_loop(raw)
    text = rules.clean(parsed.text)
    is_cut = len(text) > MAX_PREVIEW or len(raw) < message.size_bytes or parsed.is_truncated
    names = tuple(rules.file_name(each.name) for each in parsed.attachments[:_MAX_FILES])
    return Preview(_sender(parsed), _people(parsed.to), text[:MAX_PREVIEW], is_cut, names)


def to_response(message: ReceivedMessage) -> ReceivedMessageResponse:
    return ReceivedMessageResponse(
        id=message.id,
        mailbox_id=message.mailbox_id,
        from_address=message.from_identity,
        subject=message.subject,
        outcome=message.outcome,
        reason=message.reason,
        size_bytes=message.size_bytes,
        ticket_id=message.ticket_id,
        reply_id=message.reply_id,
        received_at=clock.iso(message.received_at),
        raw_until=clock.iso_or_none(message.raw_until),
    )


def _sender(parsed: ParsedMessage) -> str:
    return _people((parsed.sender,)) if parsed.sender else ""


def _people(addresses: tuple[Address, ...]) -> str:
    shown = (f"{each.name} <{each.address}>" if each.name else each.address for each in addresses)
    return rules.clean(", ".join(shown))
