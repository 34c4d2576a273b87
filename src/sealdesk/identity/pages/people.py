"""Settings → People: who works at the desk, as pages."""

from sealdesk import clock
from sealdesk.errors import Clash, Forbidden, Invalid, Refusal
from sealdesk.identity import people_actions, rules, store
from sealdesk.identity.rules import Invitation, NameChange, RoleChange, User
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page

_ROOM = "sealdesk.identity"
_PATH = "/settings/people"
_PER_PAGE = 50


@page
async def list_people(call: Call) -> Answer:
    """Everybody, newest first, those who were deactivated included."""
    behind = cursor_trail.read(forms.asked(call))
    wanted = PageRequest(_PER_PAGE, [behind[-1]] if behind else None)
    rows = await call.read(lambda tx: store.list_users(tx, call.caller.tenant_id, wanted))
    shown = rows[:_PER_PAGE]
    return await render.show(
        call, _ROOM, "people.html",
        people=shown,
        own_id=call.caller.actor.id,
        older=cursor_trail.older(behind, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(behind),
    )  # fmt: skip


@page
async def invitation_form(call: Call) -> Answer:
    """Whom to invite; an agent, if nothing else is chosen."""
    return await _invitation(call, {"email": "", "name": "", "role": "agent"})


@page
async def invite(call: Call) -> Answer:
    """The new user, with the link that is shown this once."""
    form = forms.read(call)
    typed = {name: form.text(name).strip() for name in ("email", "name", "role")}
    try:
        wanted = body.convert({**typed, "name": _name(typed)}, Invitation)
        user, token = await call.write(
            lambda tx: people_actions.invite(tx, call.caller, wanted, now_us=call.now_us)
        )
    except (Invalid, Clash, Forbidden) as refusal:
        return await _invitation(call, typed, refusal)
    return await _link(call, user, token, 201)


def _name(typed: dict[str, str]) -> str:
    return typed["name"] or rules.default_name(typed["email"]) or "?"


@page
async def show_person(call: Call) -> Answer:
    """One person, and what can be done."""
    return await _person(call)


@page
async def make_link(call: Call) -> Answer:
    """A new link for their password, which is shown this once."""
    (user_id,) = call.params
    try:
        user, token = await call.write(
            lambda tx: people_actions.make_link(tx, call.caller, user_id, now_us=call.now_us)
        )
    except (Invalid, Clash, Forbidden) as refusal:
        return await _person(call, refusal)
    return await _link(call, user, token, 201)


@page
async def rename(call: Call) -> Answer:
    """Give them another name."""
    (user_id,) = call.params
    typed = forms.read(call).text("name").strip()
    try:
        wanted = body.convert({"name": typed}, NameChange)
        await call.write(
            lambda tx: people_actions.rename(
                tx, call.caller, user_id, wanted.name, now_us=call.now_us
            )
        )
    except (Invalid, Forbidden) as refusal:
        return await _person(call, refusal, typed)
    return render.go(call, f"{_PATH}/{user_id}")


@page
async def change_role(call: Call) -> Answer:
    """Give them another role."""
    (user_id,) = call.params
    now_us = call.shared.clock.now_us()
    try:
        wanted = body.convert({"role": forms.read(call).text("role")}, RoleChange)
        await call.write(
            lambda tx: people_actions.change_role(
                tx, call.caller, user_id, wanted.role, now_us=now_us
            )
        )
    except (Invalid, Clash, Forbidden) as refusal:
        return await _person(call, refusal)
    return render.go(call, f"{_PATH}/{user_id}")


@page
async def confirm_deactivation(call: Call) -> Answer:
    """What deactivating means, before it is done."""
    return await _person(call, template="deactivate.html")


@page
async def deactivate(call: Call) -> Answer:
    """Shut them out at once."""
    (user_id,) = call.params
    now_us = call.shared.clock.now_us()
    try:
        await call.write(
            lambda tx: people_actions.deactivate(tx, call.caller, user_id, now_us=now_us)
        )
    except Invalid as refusal:
        return await _person(call, refusal, template="deactivate.html")
    except (Clash, Forbidden) as refusal:
        return await _person(call, refusal)
    return render.go(call, f"{_PATH}/{user_id}")


@page
async def reactivate(call: Call) -> Answer:
    """Let them log in again."""
    (user_id,) = call.params
    now_us = call.shared.clock.now_us()
    try:
        await call.write(
            lambda tx: people_actions.reactivate(tx, call.caller, user_id, now_us=now_us)
        )
    except (Invalid, Forbidden) as refusal:
        return await _person(call, refusal)
    return render.go(call, f"{_PATH}/{user_id}")


async def _person(
    call: Call,
    refusal: Refusal | None = None,
    typed: str | None = None,
    template: str = "person.html",
) -> Answer:
    (user_id,) = call.params
    user = await call.read(lambda tx: people_actions.get_person(tx, call.caller, user_id))
    givable = rules.givable(call.caller.may)
    return await render.show(
        call, _ROOM, template, refusal.status if refusal else 200,
        person=user,
        typed=user.name if typed is None else typed,
        role=forms.read(call).text("role") or user.role,
        created_at=clock.iso(user.created_at),
        is_self=user.id == call.caller.actor.id,
        is_below=user.role in givable,
        roles=givable,
        faults=forms.faults_of(refusal) if isinstance(refusal, Invalid) else {},
        wrong=_words(refusal),
    )  # fmt: skip


async def _invitation(call: Call, typed: dict[str, str], refusal: Refusal | None = None) -> Answer:
    faults = forms.faults_of(refusal) if isinstance(refusal, Invalid) else {}
    if isinstance(refusal, Clash):
        faults = {"email": gettext("Somebody here or at another desk has this address already.")}
    return await render.show(
        call, _ROOM, "invite.html", refusal.status if refusal else 200,
        typed=typed,
        roles=rules.givable(call.caller.may),
        faults=faults,
        wrong=_words(refusal) if isinstance(refusal, Forbidden) else "",
    )  # fmt: skip


async def _link(call: Call, user: User, token: str, status: int) -> Answer:
    """The link, and until when it holds. Behind the #, so that it stands in no log."""
    is_invited = user.password_hash is None
    life_us = rules.INVITATION_LIFE_US if is_invited else rules.RESET_LINK_LIFE_US
    return await render.show(
        call, _ROOM, "link.html", status,
        person=user,
        link=f"{render.address(call)}{call.shared.settings.path_prefix}/reset#{token}",
        is_invited=is_invited,
        expires_at=clock.iso(call.now_us + life_us),
    )  # fmt: skip


def _words(refusal: Refusal | None) -> str:
    return "" if refusal is None or isinstance(refusal, Invalid) else retold(refusal.detail)
