"""The pages of saved views: saving one, the list of them, and the sidebar with its counts."""

from typing import Any

from sealdesk.errors import ValidationFailed
from sealdesk.tickets.views import actions, inbox_query, sidebar, store
from sealdesk.tickets.views.actions import Editor
from sealdesk.tickets.views.inbox_query import PATH, InboxQuery
from sealdesk.tickets.views.rules import Direction
from sealdesk.tickets.views.sidebar import Sidebar
from sealdesk.tickets.views.types import DESK, NewView, View
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.views")

_LIST = "/tickets/views"


@page
async def list_views(request: Request) -> Response:
    """The views of the desk and the user's own ones, to rename, order and delete them."""
    return await _list(request)


async def list_beside(request: Request) -> Sidebar:
    """What stands beside each page."""
    caller, now_us = request.caller, request.now_us
    return await request.read(lambda tx: sidebar.list_sidebar(tx, caller, now_us))


@page
async def show_counts(request: Request) -> Response:
    """The sidebar as a fragment, with the counts as they are now."""
    shown = await request.read(lambda tx: sidebar.load_sidebar(tx, request.caller, request.now_us))
    return await render.page(request, "shared/sidebar.html", sidebar=shown)


@page
async def new_view(request: Request) -> Response:
    """The form that saves the filters of a list."""
    query = inbox_query.read_inbox_query(forms.read_query(request))
    return await _form(request, query, "", is_for_desk=False, faults={})


@page
async def save_view(request: Request) -> Response:
    """Save the filters of a list, and show it as a view."""
    form = forms.read(request)
    query = inbox_query.parse_stored(form.text("query"))
    name, is_for_desk = form.text("name").strip(), form.text("owner") == "desk"
    try:
        new = body.convert({"name": name}, NewView)
        view = await request.write(
            lambda tx: actions.save_view(
                tx,
                _editor(request),
                new.name,
                query.stored(),
                is_for_desk=is_for_desk,
                now_us=request.now_us,
            )
        )
    except ValidationFailed as error:
        faults = forms.faults_by_field(error)
        return await _form(request, query, name, is_for_desk=is_for_desk, faults=faults)
    return render.redirect(request, f"{PATH}?view={view.id}")


@page
async def change_view(request: Request, view_id: str) -> Response:
    """Rename a view, or give it the filters of a list."""
    form = forms.read(request)
    editor = _editor(request)
    try:
        if form.text("query"):
            query = inbox_query.parse_stored(form.text("query")).stored()
            await request.write(lambda tx: actions.change_query(tx, editor, view_id, query))
            return render.redirect(request, f"{PATH}?view={view_id}")
        new = body.convert({"name": form.text("name").strip()}, NewView)
        await request.write(lambda tx: actions.rename_view(tx, editor, view_id, new.name))
    except ValidationFailed as error:
        return await _list(request, error, view_id, form)
    return render.redirect(request, _LIST)


@page
async def move_view(request: Request, view_id: str) -> Response:
    """Move a view up or down among its owner's."""
    editor = _editor(request)
    direction: Direction = "up" if forms.read(request).text("to") == "up" else "down"
    return await _then_list(
        request, lambda tx: actions.move_view(tx, editor, view_id, direction), view_id
    )


@page
async def delete_view(request: Request, view_id: str) -> Response:
    """Delete a view; its tickets stay as they are."""
    editor = _editor(request)
    return await _then_list(request, lambda tx: actions.delete_view(tx, editor, view_id), view_id)


async def _then_list(request: Request, work: Any, view_id: str) -> Response:
    try:
        await request.write(work)
    except ValidationFailed as error:
        return await _list(request, error, view_id)
    return render.redirect(request, _LIST)


def _editor(request: Request) -> Editor:
    visitor, caller = request.visitor, request.caller
    is_administrator = visitor is not None and visitor.is_administrator
    return Editor(caller.tenant_id, caller.actor.id, is_administrator)


async def _list(
    request: Request,
    error: ValidationFailed | None = None,
    view_id: str = "",
    form: Form | None = None,
) -> Response:
    """The list, with the name that was typed and what is wrong with it."""
    views: list[View] = await request.fetch(store.list_views, request.caller.actor.id)
    return await forms.show(
        request,
        "views/views.html",
        error,
        desk=[view for view in views if view.owner_id == DESK],
        own=[view for view in views if view.owner_id != DESK],
        wrong_id=view_id,
        typed=form.text("name") if form else "",
    )


async def _form(
    request: Request, query: InboxQuery, name: str, *, is_for_desk: bool, faults: dict[str, str]
) -> Response:
    return await render.page(
        request,
        "views/save.html",
        422 if faults else 200,
        query=query,
        name=name,
        is_for_desk=is_for_desk,
        faults=faults,
    )
