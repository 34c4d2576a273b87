"""Pages of the user's own account: name, password, language and colours."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, NotFound, TooManyRequests, Unauthorized, ValidationFailed
from sealdesk.identity import rules, store
from sealdesk.identity.auth import login, session
from sealdesk.identity.people import actions
from sealdesk.identity.store import Tenant
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.identity.types import NameChange, PasswordChange, User
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, i18n, preferences, render, return_paths
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.request import Request, Response


@page
async def show_account(request: Request) -> Response:
    """The account, and when its session ends at the latest."""
    return await _render_account(request)


@page
async def rename(request: Request) -> Response:
    """Change the user's own name."""
    typed = forms.read(request).text("name").strip()
    own_id = request.caller.actor.id
    try:
        change = body.convert({"name": typed}, NameChange)
    except ValidationFailed as error:
        return await _render_account(request, error, forms.faults_by_field(error), typed)
    await request.act(actions.rename, own_id, change.name, now_us=request.now_us)
    return render.redirect(request, f"{return_paths.ACCOUNT}?changed=name")


@page
async def change_password(request: Request) -> Response:
    """Change the user's own password: all sessions end, and this browser gets a new one."""
    form = forms.read(request)
    user = await login.get_user(request, session.get(request))
    typed = {"current": form.text("current"), "new": form.text("new")}
    try:
        change = body.convert(typed, PasswordChange)
        await login.check_password(request, user.email, change.current)
        user = await login.change_password(request, user, change.new)
    except ValidationFailed as error:
        return await _render_account(request, error, forms.faults_by_field(error))
    except Unauthorized as error:
        text = gettext("That is not your current password.")
        return await _render_account(request, error, {"current": text})
    except TooManyRequests as error:
        return await _render_account(request, error, {"current": translate(error)})
    token = login.access_token(request, user)
    return render.redirect(
        request, f"{return_paths.ACCOUNT}?changed=password", session.begin(request, token)
    )


@page
async def choose_language(request: Request) -> Response:
    """Store the language in a cookie, and redirect back to the page."""
    chosen = forms.read(request).text("language")
    back = return_paths.current_page(request)
    is_own_page = return_paths.may_return_to(request, back) or back in (
        "/reset",
        return_paths.LOG_IN,
    )
    if chosen not in i18n.LANGUAGES:
        raise NotFound
    header = preferences.cookie(request, preferences.LANGUAGE, chosen)
    return render.redirect(request, back if is_own_page else return_paths.LOG_IN, header)


@page
async def choose_theme(request: Request) -> Response:
    """Store light or dark colours in a cookie; without one, the system decides."""
    chosen = forms.read(request).text("theme")
    if chosen not in ("", *preferences.THEMES):
        raise NotFound
    header = preferences.cookie(request, preferences.THEME, chosen)
    return render.redirect(request, return_paths.ACCOUNT, header)


async def _render_account(
    request: Request,
    error: ApiError | None = None,
    faults: dict[str, str] | None = None,
    typed: str | None = None,
) -> Response:
    token = session.get(request)

    async def load(tx: Tx) -> tuple[User | None, Tenant | None, bool]:
        user = await store.find(tx, token.tenant_id, token.user_id)
        factor = await two_factor.find_confirmed(tx, user) if user else None
        return user, await store.find_tenant(tx, token.tenant_id), factor is not None

    user, tenant, has_two_factor = await request.read(load)
    if user is None or tenant is None:
        raise NotFound
    response = await render.page(
        request,
        "identity/account.html",
        error.status if error else 200,
        user=user,
        has_two_factor=has_two_factor,
        typed=user.name if typed is None else typed,
        tenant=tenant,
        faults=faults or {},
        ends_at=clock.iso(rules.session_end(token.issued_at)),
        changed=forms.read_query(request).text("changed"),
    )
    if error is not None:
        response.headers += [
            (name.encode(), value.encode())
            for name, value in error.headers
            if name == "retry-after"
        ]
    return response
