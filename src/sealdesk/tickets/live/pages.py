"""The stream of a page: server-sent events."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.event_log import positions
from sealdesk.event_log.positions import FeedEnds
from sealdesk.event_log.stream import Batch, Stream, Subscriber
from sealdesk.event_log.streams import Read
from sealdesk.tickets import actions
from sealdesk.tickets.live import rules, store
from sealdesk.web.operation import EVENT_STREAM, operation
from sealdesk.web.pages import forms
from sealdesk.web.request import Header, Request, Response

# nginx would wait for 8 KiB before it passes anything on.
_UNBUFFERED: Header = (b"x-accel-buffering", b"no")
_RETRY_AFTER: Header = (b"retry-after", b"60")
_REFUSAL = b"As many live pages are open as there may be. This page asks for changes instead.\n"
_RETRY_MS = 1000
_RETRY_SPREAD_BITS = 11  # ms; pages connect again at different times after a restart


@operation("", tag="Pages", produces=EVENT_STREAM)
async def stream_events(request: Request) -> Response:
    """What happens to the tickets of the desk, as long as the page is open."""
    query = forms.read_query(request)
    ticket_id = query.text("ticket")
    ends = await request.fetch(_find_start, ticket_id)
    known = rules.read_position(request.header(b"last-event-id") or query.text("after"))
    caller, streams = request.caller, request.state.streams
    if request.state.lifetime.is_draining or not streams.has_room(
        caller.tenant_id, caller.actor.id
    ):
        return Response(429, _REFUSAL, [_RETRY_AFTER], b"text/plain; charset=utf-8")
    if request.method == "HEAD":
        return Response(200, content_type=EVENT_STREAM.encode())
    position, has_missed = rules.start_position(known, ends)
    stream = Stream(_subscriber(request, ticket_id), position)
    retry_ms = _RETRY_MS + ids.random_bits(_RETRY_SPREAD_BITS)
    hello = rules.hello(position, caller.actor.id, retry_ms, has_missed=has_missed)
    parts = _parts(request, stream, hello)
    return Response(200, b"", [_UNBUFFERED], EVENT_STREAM.encode(), parts)


async def _find_start(tx: Tx, tenant_id: str, ticket_id: str) -> FeedEnds:
    """Raises NotFound for a ticket of nobody or of another tenant."""
    if ticket_id:
        if not ids.is_canonical(ticket_id):
            raise NotFound
        await actions.get_view(tx, tenant_id, ticket_id)
    return await positions.find_ends(tx, tenant_id)


def _subscriber(request: Request, ticket_id: str) -> Subscriber:
    caller, visitor = request.caller, request.visitor
    return Subscriber(
        caller.tenant_id,
        caller.actor.id,
        caller.actor.name,
        visitor.form_token if visitor else request.request_id,
        request.prove_again,
        ticket_id,
    )


async def _parts(request: Request, stream: Stream, hello: bytes) -> AsyncGenerator[bytes, None]:
    streams = request.state.streams
    gone = asyncio.ensure_future(request.until_gone())
    gone.add_done_callback(lambda _: stream.end())
    try:
        with streams.joined(stream, _reader(request)):
            yield hello
            while lines := await stream.next():
                yield lines
    finally:
        gone.cancel()


def _reader(request: Request) -> Read:
    """Reads the feed of the caller's tenant. It keeps no request, which would last with it."""
    database, tenant_id = request.state.database, request.caller.tenant_id

    async def read(after: int) -> Batch:
        work = partial(store.read_feed, tenant_id=tenant_id, after=after)
        return rules.to_batch(await database.read(work, tenant_id), after)

    return read
