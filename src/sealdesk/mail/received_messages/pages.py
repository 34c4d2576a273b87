"""Held and spam: the messages that wait, with their preview and release."""

from typing import NamedTuple

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, Gone, ServiceUnavailable, ValidationFailed
from sealdesk.mail.blocks import actions as blocks
from sealdesk.mail.blocks.types import NewMailBlock
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.received_messages import actions, labels, release_service, store
from sealdesk.mail.received_messages.types import Filter, Preview
from sealdesk.mail.receiving import contents
from sealdesk.mail.receiving.types import WAITING, Outcome, ReceivedMessage
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

PATH = "/held-messages"
ROOM = Room("mail.received_messages", labels=labels, path=PATH, object_type="received_message")
_PER_PAGE = 50


class _Page(NamedTuple):
    """A page of the list, and the addresses of the mailboxes by their ids."""

    messages: list[ReceivedMessage]
    addresses: dict[str, str]


@page
async def list_held(request: Request) -> Response:
    """The messages that wait, newest first."""
    query = forms.read_query(request)
    shown, trail = _read_outcome(query), cursor_trail.read(query)
    # Older ones are deleted: nothing can be done with them.
    since = ids.lowest(request.now_us - contents.RAW_KEPT_US)
    wanted = Filter((shown,) if shown else WAITING, None, since)
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Page:
        found = await store.list_messages(tx, tenant_id, wanted, page_request)
        ids_of = {each.mailbox_id for each in found}
        return _Page(found, await mailboxes.list_addresses(tx, tenant_id, ids_of))

    listed = await request.read(work)
    has_more = len(listed.messages) > _PER_PAGE
    return await render.page(
        request,
        "received_messages/held.html",
        messages=[release_service.to_response(each) for each in listed.messages[:_PER_PAGE]],
        addresses=listed.addresses,
        shown=shown,
        older=cursor_trail.older(trail, listed.messages[_PER_PAGE - 1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )


@page
async def show_held(request: Request, message_id: str) -> Response:
    """One message with what it says."""
    return await _show(request, message_id)


async def _show(
    request: Request, message_id: str, error: ApiError | None = None, done: str = ""
) -> Response:
    found = await request.fetch(actions.get_message, message_id)
    message = found.message
    is_kept = actions.is_kept(message, request.now_us)
    return await render.page(
        request,
        "received_messages/message.html",
        error.status if error else 200,
        message=release_service.to_response(message),
        mailbox=found.mailbox,
        preview=await _preview(request, message) if is_kept else None,
        is_kept=is_kept,
        is_waiting=message.outcome in WAITING,
        patterns=contents.block_patterns(message.from_identity),
        can_block=contents.can_block(message.from_identity),
        wrong=translate(error) if error else "",
        done=done,
    )


async def _preview(request: Request, message: ReceivedMessage) -> Preview | None:
    try:
        return await release_service.preview(request.state, message)
    except ServiceUnavailable:  # the page says so, and the rest of it is useful
        return None


@page
async def release_held(request: Request, message_id: str) -> Response:
    """Make a ticket or a reply of a message."""
    try:
        released = await release_service.release(request, message_id)
    except (Conflict, Gone, ServiceUnavailable) as error:
        return await _show(request, message_id, error)
    path = f"/tickets/{released.ticket_id}" if released.ticket_id else PATH
    return render.redirect(request, path)


@page
async def delete_held(request: Request, message_id: str) -> Response:
    """Delete a message that waits."""
    try:
        await request.act(actions.delete_held, message_id, now_us=request.now_us)
    except (Conflict, Gone) as error:
        return await _show(request, message_id, error)
    return render.redirect(request, PATH)


@page
async def add_sender(request: Request, message_id: str) -> Response:
    """Make the sender of a note a participant of its ticket."""
    try:
        added = await request.act(actions.add_sender, message_id, now_us=request.now_us)
    except (Conflict, ValidationFailed) as error:
        return await _show(request, message_id, error)
    return render.redirect(request, f"/tickets/{added.ticket_id}#reply-{added.reply_id}")


@page
async def open_ticket(request: Request, message_id: str) -> Response:
    """Open a new ticket of the message of a note."""
    try:
        opened = await release_service.open_ticket(request, message_id)
    except (Conflict, Gone, ServiceUnavailable) as error:
        return await _show(request, message_id, error)
    return render.redirect(request, f"/tickets/{opened.ticket_id}")


@page
async def block_sender(request: Request, message_id: str) -> Response:
    """Block the sender of a message, or everybody at the domain."""
    wants_domain = forms.read(request).text("what") == "domain"
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> str:
        message = (await actions.get_message(tx, tenant_id, message_id)).message
        pattern = contents.block_patterns(message.from_identity)[wants_domain]
        new = body.convert({"pattern": pattern}, NewMailBlock)
        return (await blocks.add_block(tx, request.caller, new, now_us=request.now_us)).pattern

    try:
        pattern = await request.write(work)
    except (Conflict, ValidationFailed) as error:
        return await _show(request, message_id, error)
    return await _show(request, message_id, done=pattern)


@page
async def download_held(request: Request, message_id: str) -> Response:
    """The raw message as a file."""
    return await release_service.download(request, message_id)


def _read_outcome(query: Form) -> Outcome | None:
    text = query.text("show")
    return next((each for each in WAITING if each == text), None)
