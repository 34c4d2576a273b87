"""Pages of Settings → People: the users of a tenant."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, Forbidden, TooManyRequests, ValidationFailed
from sealdesk.identity import rules, store
from sealdesk.identity.people import actions
from sealdesk.identity.rules import Invitation, NameChange, RoleChange, User
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.messages import translate
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response

_PATH = "/settings/people"
NAV_ITEM = NavItem(_PATH, gettext_noop("People"))
_PER_PAGE = 50


@page
async def list_people(request: Request) -> Response:
    """All users, newest first, deactivated ones included."""
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    rows = await request.read(
        lambda tx: store.list_users(tx, request.caller.tenant_id, page_request)
    )
    shown = rows[:_PER_PAGE]
    return await render.page(
        request, "identity/people.html",
        people=shown,
        own_id=request.caller.actor.id,
        older=cursor_trail.older(trail, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )  # fmt: skip


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
        user, token = await request.write(
            lambda tx: actions.invite(tx, request.caller, fields, now_us=request.now_us)
        )
    except (ValidationFailed, Conflict, Forbidden, TooManyRequests) as error:
        return await _render_invitation(request, typed, error)
    return await _render_link(request, user, token, 201)


def _name_or_default(typed: dict[str, str]) -> str:
    return typed["name"] or rules.default_name(typed["email"]) or "?"


@page
async def show_person(request: Request) -> Response:
    """A user, and the actions on them."""
    return await _render_person(request)


@page
async def make_link(request: Request) -> Response:
    """A new password link, which is shown once."""
    (user_id,) = request.params
    try:
        user, token = await request.write(
            lambda tx: actions.make_link(tx, request.caller, user_id, now_us=request.now_us)
        )
    except (ValidationFailed, Conflict, Forbidden) as error:
        return await _render_person(request, error)
    return await _render_link(request, user, token, 201)


@page
async def rename(request: Request) -> Response:
    """Rename the user."""
    (user_id,) = request.params
    typed = forms.read(request).text("name").strip()
    try:
        fields = body.convert({"name": typed}, NameChange)
        await request.write(
            lambda tx: actions.rename(
                tx, request.caller, user_id, fields.name, now_us=request.now_us
            )
        )
    except (ValidationFailed, Forbidden) as error:
        return await _render_person(request, error, typed)
    return render.redirect(request, f"{_PATH}/{user_id}")


@page
async def change_role(request: Request) -> Response:
    """Change the user's role."""
    (user_id,) = request.params
    now_us = request.state.clock.now_us()
    try:
        fields = body.convert({"role": forms.read(request).text("role")}, RoleChange)
        await request.write(
            lambda tx: actions.change_role(tx, request.caller, user_id, fields.role, now_us=now_us)
        )
    except (ValidationFailed, Conflict, Forbidden) as error:
        return await _render_person(request, error)
    return render.redirect(request, f"{_PATH}/{user_id}")


@page
async def confirm_deactivation(request: Request) -> Response:
    """The confirmation page of a deactivation."""
    return await _render_person(request, template="deactivate.html")


@page
async def deactivate(request: Request) -> Response:
    """End the user's access at once."""
    (user_id,) = request.params
    now_us = request.state.clock.now_us()
    try:
        await request.write(
            lambda tx: actions.deactivate(tx, request.caller, user_id, now_us=now_us)
        )
    except ValidationFailed as error:
        return await _render_person(request, error, template="deactivate.html")
    except (Conflict, Forbidden) as error:
        return await _render_person(request, error)
    return render.redirect(request, f"{_PATH}/{user_id}")


@page
async def reactivate(request: Request) -> Response:
    """Let the user log in again."""
    (user_id,) = request.params
    now_us = request.state.clock.now_us()
    try:
        await request.write(
            lambda tx: actions.reactivate(tx, request.caller, user_id, now_us=now_us)
        )
    except (ValidationFailed, Forbidden) as error:
        return await _render_person(request, error)
    return render.redirect(request, f"{_PATH}/{user_id}")


@page
async def turn_off_two_factor(request: Request) -> Response:
    """Let the user log in with the password alone."""
    (user_id,) = request.params
    now_us = request.now_us
    try:
        await request.write(
            lambda tx: actions.turn_off_two_factor(tx, request.caller, user_id, now_us=now_us)
        )
    except (ValidationFailed, Forbidden) as error:
        return await _render_person(request, error)
    return render.redirect(request, f"{_PATH}/{user_id}")


async def _render_person(
    request: Request,
    error: ApiError | None = None,
    typed: str | None = None,
    template: str = "person.html",
) -> Response:
    (user_id,) = request.params

    async def load(tx: Tx) -> tuple[User, bool]:
        user = await actions.get_user(tx, request.caller, user_id)
        return user, await two_factor.find_confirmed(tx, user) is not None

    user, has_two_factor = await request.read(load)
    assignable = rules.assignable_roles(request.caller.may)
    return await render.page(
        request, f"identity/{template}", error.status if error else 200,
        person=user,
        has_two_factor=has_two_factor,
        typed=user.name if typed is None else typed,
        role=forms.read(request).text("role") or user.role,
        created_at=clock.iso(user.created_at),
        is_self=user.id == request.caller.actor.id,
        is_below=user.role in assignable,
        roles=assignable,
        faults=forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {},
        error_text=_error_text(error),
    )  # fmt: skip


async def _render_invitation(
    request: Request, typed: dict[str, str], error: ApiError | None = None
) -> Response:
    faults = forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {}
    if isinstance(error, Conflict):
        faults = {
            "email": gettext("This desk already has a user with this address, or has invited them.")
        }
    return await render.page(
        request, "identity/invite.html", error.status if error else 200,
        typed=typed,
        roles=rules.assignable_roles(request.caller.may),
        faults=faults,
        error_text="" if isinstance(error, Conflict) else _error_text(error),
    )  # fmt: skip


async def _render_link(request: Request, user: User, token: str, status: int) -> Response:
    """The link and its expiry. The token is in the fragment, which is not sent and not logged."""
    is_invited = user.password_hash is None
    life_us = rules.INVITATION_LIFE_US if is_invited else rules.RESET_LINK_LIFE_US
    return await render.page(
        request, "identity/link.html", status,
        person=user,
        link=f"{render.base_url(request)}{request.state.settings.path_prefix}/reset#{token}",
        is_invited=is_invited,
        expires_at=clock.iso(request.now_us + life_us),
    )  # fmt: skip


def _error_text(error: ApiError | None) -> str:
    return "" if error is None or isinstance(error, ValidationFailed) else translate(error)
