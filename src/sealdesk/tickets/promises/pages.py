"""Settings → SLA policies."""

from typing import Any

from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.tickets.promises import actions, errors, labels, rules, store
from sealdesk.tickets.promises.types import (
    MAX_POLICIES,
    PAUSING,
    NewPolicy,
    Policy,
    PolicyChange,
)
from sealdesk.tickets.ticket.clocks import TARGETS
from sealdesk.tickets.ticket.store import teams
from sealdesk.tickets.ticket.types import PRIORITIES
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/sla-policies"
ROOM = Room(
    "tickets.promises",
    errors,
    labels,
    NavItem(_PATH, gettext_noop("SLA policies")),
    object_type="sla_policy",
)
_MINUTES = (*(f"{target}_minutes" for target in TARGETS), "warning_minutes")
_NUMBERS = ("position", *_MINUTES)
_TEXTS = ("tags", "customers")
_CHOICES = ("priorities", "team_ids", "pauses_on")
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("name", *_NUMBERS, *_TEXTS), ""),
    **dict.fromkeys(_CHOICES, ()),
    "counts": "business",
}


@page
async def list_policies(request: Request) -> Response:
    """All policies in their order."""
    listed = await request.fetch(store.list_policies)
    return await render.page(
        request,
        "promises/policies.html",
        policies=listed,
        team_names=await _team_names(request),
        targets=TARGETS,
        most=MAX_POLICIES,
        minutes_of=rules.minutes_of,
    )


@page
async def new_policy(request: Request) -> Response:
    return await _form(request, _EMPTY)


@page
async def create_policy(request: Request) -> Response:
    typed = _read_fields(request)
    try:
        new = body.convert(_wanted(typed), NewPolicy)
        await request.act(actions.create_policy, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error)
    return render.redirect(request, _PATH)


@page
async def show_policy(request: Request, policy_id: str) -> Response:
    """One policy in the form that changes it."""
    policy = await request.fetch(actions.get_policy, policy_id)
    typed = {name: getattr(policy, name) for name in _EMPTY}
    typed |= {name: typed[name] or "" for name in _NUMBERS}
    typed |= {name: ", ".join(typed[name]) for name in _TEXTS}
    return await _form(request, typed, policy=policy)


@page
async def change_policy(request: Request, policy_id: str) -> Response:
    """Change a policy, unless somebody else has changed it since the form was opened."""
    policy, typed = await request.fetch(actions.get_policy, policy_id), _read_fields(request)
    seen = forms.read(request).text("seen")
    try:
        change = body.convert(_wanted(typed), PolicyChange)
        await request.act(
            actions.change_policy, policy.id, change, now_us=request.now_us, seen=seen
        )
    except ValidationFailed as error:
        return await _form(request, typed, error, policy, seen)
    except PreconditionFailed as error:
        policy = await request.fetch(actions.get_policy, policy_id)
        return await _form(request, typed, error, policy)
    return render.redirect(request, _PATH)


@page
async def confirm_deletion(request: Request, policy_id: str) -> Response:
    policy = await request.fetch(actions.get_policy, policy_id)
    return await render.page(request, "promises/delete.html", policy=policy)


@page
async def delete_policy(request: Request, policy_id: str) -> Response:
    await request.act(actions.delete_policy, policy_id, now_us=request.now_us)
    return render.redirect(request, _PATH)


async def _team_names(request: Request) -> dict[str, str]:
    return {each.id: each.name for each in await request.fetch(teams.list_teams)}


def _read_fields(request: Request) -> dict[str, Any]:
    """The fields as they were typed."""
    form = forms.read(request)
    texts = {name: form.text(name).strip() for name in ("name", "counts", *_NUMBERS, *_TEXTS)}
    return {**texts, **{name: form.texts(name) for name in _CHOICES}}


def _wanted(typed: dict[str, Any]) -> dict[str, Any]:
    """The same as the body of an API request."""
    wanted = {**typed, **{name: forms.split_list(typed[name]) for name in _TEXTS}}
    wanted |= {name: list(typed[name]) for name in _CHOICES}
    wanted |= {name: forms.number(typed[name]) for name in _MINUTES}
    wanted["warning_minutes"] = wanted["warning_minutes"] or 0
    position = forms.number(wanted.pop("position"))
    return wanted if position is None else {**wanted, "position": position}


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    policy: Policy | None = None,
    seen: str = "",
) -> Response:
    """The form with what was typed and a message beside each invalid field.

    seen: the version with which it was opened; "" for that of the policy.
    """
    return await forms.show(
        request,
        "promises/policy.html",
        error,
        policy=policy,
        seen=seen or (policy.version if policy else ""),
        typed=typed,
        priorities=PRIORITIES,
        statuses=PAUSING,
        team_names=await _team_names(request),
    )
