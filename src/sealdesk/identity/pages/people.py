"""Pages of Settings → People: the users of a tenant."""

from collections.abc import Awaitable, Callable

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, Forbidden, TooManyRequests, ValidationFailed
from sealdesk.identity import errors, labels, rules, store
from sealdesk.identity.people import actions
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.identity.types import Invitation, NameChange, RoleChange, User
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/people"
NAV_ITEM = NavItem(_PATH, gettext_noop("People"), section="desk")
ROOM = Room("identity", errors, labels, NAV_ITEM, object_type="user")
_PER_PAGE = 50


@page
async def open_settings(request: Request) -> Response:
    """The first page of the settings."""
    return render.redirect(request, _PATH)


@page
async def list_people(request: Request) -> Response:
    """All users, newest first, deactivated ones included."""
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    rows = await request.fetch(store.list_users, page_request)
    shown = rows[:_PER_PAGE]
    return await render.page(
        request,
        "identity/people.html",
        people=shown,
        own_id=request.caller.actor.id,
        older=cursor_trail.older(trail, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )


@page
async def invitation_form(request: Request) -> Response:
    """The form of an invitation; the role is agent by default."""
    return await _render_invitation(request, {"email": "", "name": "", "role": "agent"})


@page
async def invite(request: Request) -> Response:
    """The new user, with the invitation link, which is shown once."""
    form = forms.read(request)
    typed = {name: form.text(name).strip() for name in ("email", "name", "role")}
    try:
        fields = body.convert({**typed, "name": _name_or_default(typed)}, Invitation)
        user, token = await request.act(actions.invite, fields, now_us=request.now_us)
    except (ValidationFailed, Conflict, Forbidden, TooManyRequests) as error:
        return await _render_invitation(request, typed, error)
    return await _render_link(request, user, token, 201)


def _name_or_default(typed: dict[str, str]) -> str:
    return typed["name"] or rules.default_name(typed["email"]) or "?"


@page
async def show_person(request: Request, user_id: str) -> Response:
    """A user, and the actions on them."""
    return await _render_person(request, user_id)


@page
async def make_link(request: Request, user_id: str) -> Response:
    """A new password link, which is shown once."""
    try:
        user, token = await request.act(actions.make_link, user_id, now_us=request.now_us)
    except (ValidationFailed, Conflict, Forbidden) as error:
        return await _render_person(request, user_id, error)
    return await _render_link(request, user, token, 201)


@page
async def rename(request: Request, user_id: str) -> Response:
    typed = forms.read(request).text("name").strip()
    try:
        fields = body.convert({"name": typed}, NameChange)
        await request.act(actions.rename, user_id, fields.name, now_us=request.now_us)
    except (ValidationFailed, Forbidden) as error:
        return await _render_person(request, user_id, error, typed)
    return render.redirect(request, f"{_PATH}/{user_id}")


@page
async def change_role(request: Request, user_id: str) -> Response:
    try:
        fields = body.convert({"role": forms.read(request).text("role")}, RoleChange)
    except ValidationFailed as error:
        return await _render_person(request, user_id, error)
    return await _change(request, user_id, actions.change_role, fields.role)


@page
async def confirm_deactivation(request: Request, user_id: str) -> Response:
    """The confirmation page of a deactivation."""
    return await _render_person(request, user_id, template="deactivate.html")


@page
async def deactivate(request: Request, user_id: str) -> Response:
    """End the user's access at once."""
    return await _change(request, user_id, actions.deactivate, asked_by="deactivate.html")


@page
async def reactivate(request: Request, user_id: str) -> Response:
    """Let the user log in again."""
    return await _change(request, user_id, actions.reactivate)


@page
async def turn_off_two_factor(request: Request, user_id: str) -> Response:
    """Let the user log in with the password alone."""
    return await _change(request, user_id, actions.turn_off_two_factor)


async def _change(
    request: Request,
    user_id: str,
    action: Callable[..., Awaitable[None]],
    *values: str,
    asked_by: str = "person.html",
) -> Response:
    """Run an action on a user. asked_by: the template that asks for the password again."""
    try:
        await request.act(action, user_id, *values, now_us=request.state.clock.now_us())
    except ValidationFailed as error:
        return await _render_person(request, user_id, error, template=asked_by)
    except (Conflict, Forbidden) as error:
        return await _render_person(request, user_id, error)
    return render.redirect(request, f"{_PATH}/{user_id}")


async def _render_person(
    request: Request,
    user_id: str,
    error: ApiError | None = None,
    typed: str | None = None,
    template: str = "person.html",
) -> Response:

    async def load(tx: Tx) -> tuple[User, bool]:
        user = await actions.get_user(tx, request.caller, user_id)
        return user, await two_factor.find_confirmed(tx, user) is not None

    user, has_two_factor = await request.read(load)
    assignable = rules.assignable_roles(request.caller.may)
    return await forms.show(
        request,
        f"identity/{template}",
        error,
        person=user,
        has_two_factor=has_two_factor,
        typed=user.name if typed is None else typed,
        role=forms.read(request).text("role") or user.role,
        created_at=clock.iso(user.created_at),
        is_self=user.id == request.caller.actor.id,
        is_below=user.role in assignable,
        roles=assignable,
    )


async def _render_invitation(
    request: Request, typed: dict[str, str], error: ApiError | None = None
) -> Response:
    messages = forms.messages(error)
    if isinstance(error, Conflict):
        text = gettext("This desk already has a user with this address, or has invited them.")
        messages = {"faults": {"email": text}, "wrong": ""}
    return await render.page(
        request,
        "identity/invite.html",
        error.status if error else 200,
        typed=typed,
        roles=rules.assignable_roles(request.caller.may),
        **messages,
    )


async def _render_link(request: Request, user: User, token: str, status: int) -> Response:
    """The link and its expiry. The token is in the fragment, which is not sent and not logged."""
    is_invited = user.password_hash is None
    life_us = rules.INVITATION_LIFE_US if is_invited else rules.RESET_LINK_LIFE_US
    return await render.page(
        request,
        "identity/link.html",
        status,
        person=user,
        link=f"{render.base_url(request)}{request.state.settings.path_prefix}/reset#{token}",
        is_invited=is_invited,
        expires_at=clock.iso(request.now_us + life_us),
    )
