"""The API of received messages, for all users of a tenant."""

from typing import get_args

import msgspec

from sealdesk.mail.received_messages import actions, examples, release_service, store
from sealdesk.mail.received_messages.release_service import to_response
from sealdesk.mail.received_messages.types import Filter
from sealdesk.mail.receiving.errors import (
    CANNOT_ADD,
    MESSAGE_EXPIRED,
    NOT_HELD,
    NOT_PROCESSED,
    NOT_UNDECIDED,
)
from sealdesk.mail.receiving.types import Outcome, ReceivedMessage
from sealdesk.mail.threads.errors import NO_MAILBOX
from sealdesk.web import envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, page, read_list
from sealdesk.web.request import Request, Response

_TAG = "Mailboxes"
_FILTERS = (
    query.any_of("outcome", get_args(Outcome), "What was made of the message."),
    query.identifier("mailbox_id", "The mailbox that it came to."),
)


@operation(
    "List received messages",
    tag=_TAG,
    gives=examples.HELD,
    is_list=True,
    params=(*_FILTERS, *PAGING),
)
async def list_messages(request: Request) -> Response:
    """Newest first. Those with `outcome=held,spam,blocked` wait for a person."""
    list_request = read_list(request, _FILTERS)
    values = list_request.values
    wanted = Filter(tuple(values.get("outcome", ())), values.get("mailbox_id"))
    found = await request.fetch(store.list_messages, wanted, list_request.page)
    return page(request, list_request, found, show=_encode)


@operation("Get a received message", tag=_TAG, gives=examples.HELD)
async def get_message(request: Request, message_id: str) -> Response:
    """What was made of one message. It is kept for 30 days and can be downloaded meanwhile."""
    found = await request.fetch(actions.get_message, message_id)
    return envelope.one(to_response(found.message))


@operation(
    "Release a held message",
    tag=_TAG,
    gives=examples.RELEASED,
    fails=(NOT_HELD, MESSAGE_EXPIRED, NOT_PROCESSED),
)
async def release_message(request: Request, message_id: str) -> Response:
    """A message that is `held`, `spam` or `blocked` becomes a ticket or a reply, as if it had just
    arrived, but gets no automatic answer."""
    return envelope.one(to_response(await release_service.release(request, message_id)))


@operation("Delete a held message", tag=_TAG, status=204, fails=(NOT_HELD, MESSAGE_EXPIRED))
async def delete_message(request: Request, message_id: str) -> Response:
    """The raw message of one that is `held`, `spam` or `blocked` is deleted for good, and the
    message waits no longer: its outcome is `ignored`."""
    await request.act(actions.delete_held, message_id, now_us=request.now_us)
    return envelope.nothing()


@operation(
    "Add the sender of a note",
    tag=_TAG,
    gives=examples.ADDED,
    fails=(NOT_UNDECIDED, CANNOT_ADD, NO_MAILBOX),
)
async def add_sender(request: Request, message_id: str) -> Response:
    """For a message by somebody who is no participant of the ticket, which is an internal note
    there, with the reason `no participant`. The sender becomes a participant: further messages are
    public replies. The note stays internal."""
    added = await request.act(actions.add_sender, message_id, now_us=request.now_us)
    return envelope.one(to_response(added))


@operation(
    "Open a ticket of a note",
    tag=_TAG,
    gives=examples.MOVED,
    fails=(NOT_UNDECIDED, MESSAGE_EXPIRED, NOT_PROCESSED),
)
async def open_ticket(request: Request, message_id: str) -> Response:
    """For a message by somebody who is no participant of the ticket: it opens a new ticket of its
    sender. The note stays in the other ticket."""
    return envelope.one(to_response(await release_service.open_ticket(request, message_id)))


@operation(
    "Download a received message",
    tag=_TAG,
    produces="application/octet-stream",
    response_headers=("content-disposition",),
    fails=(MESSAGE_EXPIRED,),
)
async def download_message(request: Request, message_id: str) -> Response:
    """The raw message, byte for byte as it arrived. It may contain anything: do not show it as
    HTML."""
    return await release_service.download(request, message_id)


def _encode(message: ReceivedMessage) -> bytes:
    return msgspec.json.encode(to_response(message))
