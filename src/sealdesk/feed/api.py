"""The feed of events as JSON (decisions 11)."""

import asyncio
from functools import partial

import msgspec

from sealdesk.db.deadline import Deadline, deadline
from sealdesk.event_log import events
from sealdesk.feed import examples, rules, store
from sealdesk.feed.errors import CURSOR_EXPIRED
from sealdesk.feed.store import FeedPage
from sealdesk.paging import seal_cursor
from sealdesk.web import envelope, query
from sealdesk.web.envelope import FeedMeta
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, read_list
from sealdesk.web.request import Disconnected, Request, Response

_REAUTHENTICATE_EVERY_S = 1.0
_AFTER_ALL = 2**63 - 1
_TYPES = query.any_of("type", rules.TYPES, "Events of one of these types.")
# A cursor does not remember these two.
_START = msgspec.structs.replace(
    query.one_of(
        "start",
        ("oldest", "latest"),
        "Where to begin without a cursor: at the oldest event that is kept, or behind the latest.",
        default="oldest",
    ),
    normal=lambda _: None,
)
_WAIT = query.count(
    "wait",
    "For how many seconds to wait for an event when there is none; more than 30 becomes 30.",
    least=0,
    default=0,
    most=rules.MAX_WAIT_S,
)
_PARAMS = (_TYPES, _START, _WAIT)


@operation(
    "List events",
    tag="Events",
    gives=examples.EVENT,
    is_list=True,
    meta=examples.META,
    params=(*_PARAMS, *PAGING),
    fails=(CURSOR_EXPIRED,),
)
async def list_events(request: Request) -> Response:
    """What happened to tickets, replies and customers in the last 30 days, oldest first. Each type
    is shown to keys that may list what it is about. Go on with `cursor` set to
    `meta.resume_cursor`, which is always there; with `wait` the answer comes as soon as there is an
    event. A cursor behind which events have been deleted is 410."""
    asked = read_list(request, _PARAMS)
    found = await _look(request, asked, _first(asked))
    if asked.page.after is not None:
        rules.check_is_kept(_first(asked), found.pruned_position)
    wait_s = asked.values.get("wait", 0)
    if wait_s and not found.rows:
        with request.state.long_poll.count_waiter(request.caller.actor.id) as may_wait:
            if may_wait:
                found = await _wait(request, asked, found, wait_s)
    return _page(request, asked, found)


def _first(asked: ListRequest) -> int:
    """The position after which the page begins."""
    if asked.page.after is not None:
        return int(asked.page.after[0])
    return _AFTER_ALL if asked.values.get("start") == "latest" else 0


async def _look(request: Request, asked: ListRequest, after: int) -> FeedPage:
    caller = request.caller
    types = rules.seen(asked.values.get("type"), caller.may)
    return await request.read(
        lambda tx: store.list_events(tx, caller.tenant_id, types, after, asked.page.per_page + 1)
    )


async def _wait(request: Request, asked: ListRequest, found: FeedPage, wait_s: int) -> FeedPage:
    """Events that arrive in time. Holds no database connection; checks the key once a second."""
    clock, state, tenant_id = asyncio.get_running_loop(), request.state, request.caller.tenant_id

    async def read_last() -> int:
        work = partial(store.last_position, tenant_id=tenant_id)
        return await state.database.read(work, tenant_id)

    until = clock.time() + wait_s
    gone = asyncio.ensure_future(request.until_gone())
    try:
        while not found.rows and clock.time() < until and not state.lifetime.is_draining:
            within_s = min(until - clock.time(), _REAUTHENTICATE_EVERY_S)
            is_news = await state.long_poll.wait(
                tenant_id, found.last_position, read_last, unless=gone, within_s=within_s
            )
            if gone.done():
                raise Disconnected
            deadline.set(Deadline())
            await request.prove_again()
            if is_news:
                found = await _look(request, asked, found.last_position)
    finally:
        gone.cancel()
    return found


def _page(request: Request, asked: ListRequest, found: FeedPage) -> Response:
    per_page = asked.page.per_page
    shown, has_more = found.rows[:per_page], len(found.rows) > per_page
    position = shown[-1]["position"] if has_more else found.last_position
    cursor = seal_cursor(request.state.key_ring, asked.listing, [position])
    meta = FeedMeta(per_page, has_more, cursor if has_more else None, cursor)
    return envelope.many([events.payload(row) for row in shown], meta)
