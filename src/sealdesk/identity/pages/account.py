"""One's own account as pages: who one is, one's password, and the language."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import Invalid, Missing, Refusal, TooMany, Unproven
from sealdesk.identity import people_actions, rules, store
from sealdesk.identity.auth import login, session
from sealdesk.identity.rules import NameChange, PasswordChange, User
from sealdesk.identity.store import Tenant
from sealdesk.web import body
from sealdesk.web.pages import forms, i18n, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page

_ROOM = "sealdesk.identity"


@page
async def show_account(call: Call) -> Answer:
    """Who is logged in, and for how long at most."""
    return await _account(call)


@page
async def rename(call: Call) -> Answer:
    """Give oneself another name."""
    typed = forms.read(call).text("name").strip()
    own_id = call.caller.actor.id
    try:
        wanted = body.convert({"name": typed}, NameChange)
    except Invalid as refusal:
        return await _account(call, refusal, forms.faults_of(refusal), typed)
    await call.write(
        lambda tx: people_actions.rename(tx, call.caller, own_id, wanted.name, now_us=call.now_us)
    )
    return render.go(call, f"{render.ACCOUNT}?changed=name")


@page
async def change_password(call: Call) -> Answer:
    """Set one's own new password: all log-ins end, and this browser gets a new one."""
    form = forms.read(call)
    user = await login.get_user(call, session.get(call))
    typed = {"current": form.text("current"), "new": form.text("new")}
    try:
        change = body.convert(typed, PasswordChange)
        await login.prove_password(call, user.email, change.current)
        began_us = await login.change_password(call, user, change.new)
    except Invalid as refusal:
        return await _account(call, refusal, forms.faults_of(refusal))
    except Unproven as refusal:
        wrong = gettext("That is not your present password.")
        return await _account(call, refusal, {"current": wrong})
    except TooMany as refusal:
        return await _account(call, refusal, {"current": retold(refusal.detail)})
    token = login.access_token(call, user, began_us)
    return render.go(call, f"{render.ACCOUNT}?changed=password", session.begin(call, token))


@page
async def choose_language(call: Call) -> Answer:
    """Keep the language in a cookie, and go back to the page that was looked at."""
    wanted = forms.read(call).text("language")
    back = render.page_left(call)
    is_ours = render.is_known(back) or back in ("/reset", render.LOG_IN)
    if wanted not in i18n.LANGUAGES:
        raise Missing
    return render.go(call, back if is_ours else render.LOG_IN, render.language_cookie(call, wanted))


async def _account(
    call: Call,
    refusal: Refusal | None = None,
    faults: dict[str, str] | None = None,
    typed: str | None = None,
) -> Answer:
    token = session.get(call)

    async def work(tx: Tx) -> tuple[User | None, Tenant | None]:
        user = await store.find(tx, token.tenant_id, token.user_id)
        return user, await store.find_tenant(tx, token.tenant_id)

    user, tenant = await call.read(work)
    if user is None or tenant is None:
        raise Missing
    answer = await render.show(
        call, _ROOM, "account.html", refusal.status if refusal else 200,
        user=user,
        typed=user.name if typed is None else typed,
        tenant=tenant,
        faults=faults or {},
        ends_at=clock.iso(rules.latest_us(token.issued_at)),
        changed=forms.asked(call).text("changed"),
    )  # fmt: skip
    if refusal is not None:
        answer.headers += [
            (name.encode(), value.encode())
            for name, value in refusal.headers
            if name == "retry-after"
        ]
    return answer
