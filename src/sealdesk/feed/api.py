"""The feed of events as JSON (spec decision 11)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import msgspec

from sealdesk.db.deadline import Deadline, deadline
from sealdesk.errors import TooManyRequests
from sealdesk.event_log import events, long_poll, positions
from sealdesk.feed import errors, examples, rules, store
from sealdesk.feed.errors import PRUNED_CURSOR, TOO_MANY_WAITING
from sealdesk.feed.store import FeedPage
from sealdesk.resources.paging import seal_cursor, take_page
from sealdesk.web import envelope, query
from sealdesk.web.envelope import FeedMeta
from sealdesk.web.operation import operation
from sealdesk.web.pages.site import Room
from sealdesk.web.pagination import PAGING, ListRequest, read_list
from sealdesk.web.request import Disconnected, Request, Response

ROOM = Room("feed", errors)

_REAUTHENTICATE_EVERY_S = 1.0
_AFTER_LATEST = 2**63 - 1
_TYPES = query.any_of("type", rules.TYPES, "Events of one of these types.")
# These two are not bound to a cursor.
_START = msgspec.structs.replace(
    query.one_of(
        "start",
        ("oldest", "latest"),
        "Where to begin without a cursor: at the oldest event that is kept, or behind the latest.",
        default="oldest",
    ),
    cursor_text=lambda _: None,
)
_WAIT = query.count(
    "wait",
    "For how many seconds to wait for an event when there is none; more than 30 becomes 30.",
    minimum=0,
    default=0,
    maximum=rules.MAX_WAIT_S,
)
_PARAMS = (_TYPES, _START, _WAIT)


@operation(
    "List events",
    tag="Events",
    gives=examples.EVENT,
    is_list=True,
    meta=examples.META,
    params=(*_PARAMS, *PAGING),
    fails=(PRUNED_CURSOR, TOO_MANY_WAITING),
)
async def list_events(request: Request) -> Response:
    """The events of tickets, replies and customers of the last 30 days, oldest first. A key sees
    the types whose objects it may list. To continue, set `cursor` to `meta.resume_cursor`, which
    is always present; with `wait` the response is sent as soon as there is an event. When events
    after a cursor have been deleted, the response is 410."""
    list_request = read_list(request, _PARAMS)
    feed_page = await _read_page(request, list_request, _start_position(list_request))
    if list_request.page.after is not None:
        rules.check_not_pruned(_start_position(list_request), feed_page.pruned_position)
    wait_s = list_request.values.get("wait", 0)
    if wait_s and not feed_page.rows:
        with _count_waiter(request) as may_wait:
            if may_wait:
                feed_page = await _wait_for_events(request, list_request, feed_page, wait_s)
    return _respond(request, list_request, feed_page)


def _start_position(list_request: ListRequest) -> int:
    """The position after which the page begins."""
    if list_request.page.after is not None:
        return int(list_request.page.after[0])
    return _AFTER_LATEST if list_request.values.get("start") == "latest" else 0


async def _read_page(request: Request, list_request: ListRequest, after: int) -> FeedPage:
    caller = request.caller
    types = rules.select_types(list_request.values.get("type"), caller.may)
    return await request.fetch(store.list_events, types, after, list_request.page)


@contextmanager
def _count_waiter(request: Request) -> Iterator[bool]:
    """Whether the caller may wait. Raises TooManyRequests when its tenant waits too often."""
    caller, count_waiter = request.caller, request.state.long_poll.count_waiter
    with count_waiter(caller.actor.id, long_poll.MAX_WAITERS) as caller_may:
        if not caller_may:
            yield False
            return
        limit = long_poll.MAX_WAITERS_OF_TENANT
        with count_waiter(caller.tenant_id, limit) as tenant_may:
            if not tenant_may:
                raise TooManyRequests(TOO_MANY_WAITING, limit=limit)
            yield True


async def _wait_for_events(
    request: Request, list_request: ListRequest, feed_page: FeedPage, wait_s: int
) -> FeedPage:
    """Wait for new events. Holds no database connection; authenticates again every second."""
    loop, state, tenant_id = asyncio.get_running_loop(), request.state, request.caller.tenant_id

    async def read_last() -> int:
        work = partial(positions.find_ends, tenant_id=tenant_id)
        return (await state.database.read(work, tenant_id)).last

    ends_at = loop.time() + wait_s
    disconnected = asyncio.ensure_future(request.until_gone())
    try:
        while not feed_page.rows and loop.time() < ends_at and not state.lifetime.is_draining:
            within_s = min(ends_at - loop.time(), _REAUTHENTICATE_EVERY_S)
            has_news = await state.long_poll.wait(
                tenant_id,
                feed_page.last_position,
                read_last,
                unless=disconnected,
                within_s=within_s,
            )
            if disconnected.done():
                raise Disconnected
            deadline.set(Deadline())
            await request.prove_again()
            if has_news:
                feed_page = await _read_page(request, list_request, feed_page.last_position)
    finally:
        disconnected.cancel()
    return feed_page


def _respond(request: Request, list_request: ListRequest, feed_page: FeedPage) -> Response:
    rows, page = feed_page.rows, list_request.page
    documents = take_page(map(events.payload, rows), page, len)
    has_more = len(rows) > len(documents)
    position = rows[len(documents) - 1]["position"] if has_more else feed_page.last_position
    cursor = seal_cursor(request.state.key_ring, list_request.listing, [position])
    meta = FeedMeta(page.per_page, has_more, cursor if has_more else None, cursor)
    return envelope.many(documents, meta)
