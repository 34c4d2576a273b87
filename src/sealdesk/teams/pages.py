"""Settings → Teams: the teams of a desk and their members."""

from collections.abc import Mapping
from typing import Any

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed, invalid
from sealdesk.resources.paging import PageRequest
from sealdesk.resources.representation import fingerprint
from sealdesk.teams import actions, errors, labels, rules, store
from sealdesk.teams.types import (
    MAX_CAPACITY,
    Member,
    NewMember,
    NewTeam,
    Team,
    TeamChange,
)
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.teams import MAX_TEAMS
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/teams"
NAV_ITEM = NavItem(_PATH, gettext_noop("Teams"), section="desk")
ROOM = Room("teams", errors, labels, NAV_ITEM, object_type="team")
_MAX_PEOPLE = 1000  # the options of a select
_EMPTY = {"name": "", "assignment": "round_robin", "capacity": "10"}


@page
async def list_teams(request: Request) -> Response:
    """All teams, newest first."""
    teams = await request.fetch(store.list_teams, PageRequest(MAX_TEAMS, None))
    return await render.page(request, "teams/teams.html", teams=teams, most=MAX_TEAMS)


@page
async def new_team(request: Request) -> Response:
    return await _form(request, _EMPTY)


@page
async def create_team(request: Request) -> Response:
    """Create a team, and go on to its members."""
    form = forms.read(request)
    try:
        new = body.convert(_as_json(form), NewTeam)
        team = await request.act(actions.create_team, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, _typed(form), error)
    return render.redirect(request, f"{_PATH}/{team.id}")


@page
async def show_team(request: Request, team_id: str) -> Response:
    """The settings of a team, and its members. A deleted team is only named."""
    return await _show(request, team_id)


@page
async def change_team(request: Request, team_id: str) -> Response:
    """Change the settings of a team, unless somebody else did so since the page was opened."""
    form = forms.read(request)
    seen = form.text("seen")
    try:
        change = body.convert(_as_json(form), TeamChange)
        await request.act(actions.change_team, team_id, change, now_us=request.now_us, seen=seen)
    except ValidationFailed as error:
        return await _show(request, team_id, error, _typed(form), seen=seen)
    except PreconditionFailed as error:
        return await _show(request, team_id, error, _typed(form))
    return render.redirect(request, f"{_PATH}/{team_id}")


@page
async def add_member(request: Request, team_id: str) -> Response:
    new = NewMember(forms.read(request).text("user_id"))
    try:
        await request.act(actions.add_member, team_id, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _show(request, team_id, error)
    return render.redirect(request, f"{_PATH}/{team_id}")


@page
async def change_member(request: Request, team_id: str, user_id: str) -> Response:
    """Give a member a capacity of their own, or that of the team."""
    typed = forms.read(request).text("capacity").strip()
    fields = {"user_id": user_id, "capacity": _number(typed) if typed else None}
    try:
        new = body.convert(fields, NewMember)
        await request.act(actions.add_member, team_id, new, now_us=request.now_us)
    except ValidationFailed as error:
        faults = [each._replace(pointer=f"/capacity-{user_id}") for each in error.faults]
        return await _show(request, team_id, invalid(faults), own={user_id: typed})
    return render.redirect(request, f"{_PATH}/{team_id}")


@page
async def remove_member(request: Request, team_id: str, user_id: str) -> Response:
    """Remove a member from a team; the tickets of the user stay theirs."""
    await request.act(actions.remove_member, team_id, user_id, now_us=request.now_us)
    return render.redirect(request, f"{_PATH}/{team_id}")


@page
async def confirm_deletion(request: Request, team_id: str) -> Response:
    team = await request.fetch(actions.get_current, team_id)
    return await render.page(request, "teams/delete.html", team=team)


@page
async def delete_team(request: Request, team_id: str) -> Response:
    """Delete a team; its tickets still name it."""
    await request.act(actions.delete_team, team_id, now_us=request.now_us)
    return render.redirect(request, _PATH)


def _typed(form: Form) -> dict[str, str]:
    return {name: form.text(name).strip() for name in _EMPTY}


def _as_json(form: Form) -> dict[str, Any]:
    """The form fields as the body of an API request."""
    typed = _typed(form)
    return {**typed, "capacity": _number(typed["capacity"])}


def _number(digits: str) -> int:
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(MAX_CAPACITY))
    return int(digits) if is_number else 0


async def _form(request: Request, typed: dict[str, str], error: ApiError | None = None) -> Response:
    return await forms.show(
        request,
        "teams/new.html",
        error,
        typed=typed,
        most=MAX_CAPACITY,
    )


async def _show(
    request: Request,
    team_id: str,
    error: ApiError | None = None,
    typed: dict[str, str] | None = None,
    own: Mapping[str, str] | None = None,
    seen: str = "",
) -> Response:
    """own: the capacities of members as they were typed. seen: see `actions.change_team`; "" for
    the team as it is."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Team, list[Member], list[Assignee]]:
        team = await actions.get_team(tx, tenant_id, team_id)
        people = await assignees.list_assignees(tx, tenant_id, _MAX_PEOPLE)
        return team, await store.list_members(tx, tenant_id, team_id), people

    team, members, people = await request.read(work)
    known = {each.user_id for each in members}
    others = [each for each in people if each.is_active and each.id not in known]
    return await forms.show(
        request,
        "teams/team.html",
        error,
        team=team,
        seen=seen or fingerprint(team),
        typed=typed or _stored(team),
        own={each.user_id: str(each.capacity or "") for each in members} | {**(own or {})},
        most=MAX_CAPACITY,
        members=[rules.member_response(each, request.now_us) for each in members],
        others=sorted(others, key=lambda each: (each.name.casefold(), each.id)),
        has_more_people=len(people) > _MAX_PEOPLE,
    )


def _stored(team: Team) -> dict[str, str]:
    return {"name": team.name, "assignment": team.assignment, "capacity": str(team.capacity)}
