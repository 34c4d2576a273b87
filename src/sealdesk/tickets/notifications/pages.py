"""The list of notifications, and what marks them as read."""

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import must_exist
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.notifications import store
from sealdesk.tickets.notifications.types import Notification
from sealdesk.tickets.pages.first_steps import find_first_steps
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

PATH = "/notifications"
ROOM = Room("tickets.notifications", path=PATH)
_PER_PAGE = 50


@page
async def list_notifications(request: Request) -> Response:
    """The notifications of the user, newest first."""
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    listed = await _list(request, page_request)
    shown, has_more = listed[:_PER_PAGE], len(listed) > _PER_PAGE
    return await render.page(
        request,
        "notifications/notifications.html",
        notifications=shown,
        older=cursor_trail.older(trail, shown[-1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
        steps=None if shown else await find_first_steps(request),
    )


@page
async def show_bell(request: Request) -> Response:
    """How many notifications are unread, and the newest of them, for the bell of an open page."""
    newest = await _list(request, PageRequest(1, None))
    unread = await count_unread(request)
    return await render.page(
        request,
        "notifications/bell.html",
        unread=unread,
        newest=next((each for each in newest if not each.is_read), None),
    )


@page
async def open_notification(request: Request, notification_id: str) -> Response:
    """Mark a notification as read, and show its ticket."""
    caller = request.caller

    async def work(tx: Tx) -> str:
        ticket_id = must_exist(
            await store.find_ticket_id(tx, caller.tenant_id, caller.actor.id, notification_id)
        )
        await store.mark_read(
            tx, caller.tenant_id, caller.actor.id, notification_id, request.now_us
        )
        return ticket_id

    forms.read(request)
    return render.redirect(request, f"/tickets/{await request.write(work)}")


@page
async def mark_all_read(request: Request) -> Response:
    """Mark the notifications that the page has shown, and older ones."""
    until_id = forms.read(request).text("until")
    caller = request.caller
    if ids.is_canonical(until_id):
        await request.write(
            lambda tx: store.mark_all_read(
                tx, caller.tenant_id, caller.actor.id, until_id, request.now_us
            )
        )
    return render.redirect(request, PATH)


async def count_unread(request: Request) -> int:
    """How many notifications the user has not read, for the bell of every page."""
    return await request.fetch(store.count_unread, request.caller.actor.id)


async def _list(request: Request, page_request: PageRequest) -> list[Notification]:
    return await request.fetch(store.list_notifications, request.caller.actor.id, page_request)
