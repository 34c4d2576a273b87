"""What leaves in some seconds, its undo, and Settings → Replies."""

from sealdesk.tickets.held_replies import actions, labels, store
from sealdesk.tickets.held_replies.types import HELD_S, LeavingReply, leaving_of
from sealdesk.tickets.pages import composer_form, field_form, ticket_response
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/replies"
ROOM = Room("tickets.held_replies", None, labels, NavItem(_PATH, gettext_noop("Replies")))
_YES = "yes"


async def list_leaving(request: Request) -> list[LeavingReply]:
    """The user's replies that can still be undone, the newest first."""
    user_id = request.caller.actor.id
    held = await request.fetch(store.list_of_user, user_id)
    return leaving_of(held, user_id, request.real_now_us)


@page
async def take_back(request: Request, ticket_id: str, held_id: str) -> Response:
    """Undo a reply that has not left: the composer is as it was. Or discard one that could not."""
    form = forms.read(request)
    held = await request.act(actions.take_back, ticket_id, held_id)
    request.state.streams.tell_presence(request.caller.tenant_id, ticket_id)
    path = f"{ticket_response.PATH}/{ticket_id}"
    if held is None:
        return render.redirect(request, f"{path}?left={_YES}")
    if form.text("discard"):
        return render.redirect(request, path)
    typed, chosen = composer_form.read_typed(held.form), field_form.unsaved(held.form)
    filled = RejectedForm("reply", typed, None, before=chosen, seen_reply=held.form.text("seen"))
    return await ticket_response.respond(request, ticket_id, filled)


@page
async def show_setting(request: Request) -> Response:
    return await render.page(
        request,
        "held_replies/setting.html",
        is_on=await request.fetch(store.is_on),
        held_s=HELD_S,
        is_saved=forms.read_query(request).text("saved") == _YES,
    )


@page
async def change_setting(request: Request) -> Response:
    is_on = forms.read(request).text("is_held") == _YES
    await request.act(actions.change_setting, is_on=is_on, now_us=request.now_us)
    return render.redirect(request, f"{_PATH}?saved={_YES}")
