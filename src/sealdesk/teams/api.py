"""The API of teams."""

from sealdesk.db.engine import Tx
from sealdesk.teams import actions, examples, rules, store
from sealdesk.teams.errors import TOO_MANY_MEMBERS, TOO_MANY_TEAMS
from sealdesk.teams.types import (
    Member,
    NewMember,
    NewTeam,
    TeamChange,
    TeamRef,
    TeamResponse,
)
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all, list_few
from sealdesk.web.request import Request, Response

_TAG = "Teams"


@operation("List teams", tag="Tickets", gives=examples.TEAM_REF, is_list=True, params=PAGING)
async def list_choices(request: Request) -> Response:
    """The teams of the tenant, to which tickets can be given."""
    return await list_all(request, store.list_teams, lambda team: TeamRef(team.id, team.name))


@operation(
    "List teams with their settings", tag=_TAG, gives=examples.TEAM, is_list=True, params=PAGING
)
async def list_teams(request: Request) -> Response:
    """Newest first, without deleted ones."""
    return await list_all(request, store.list_teams, rules.to_response)


@operation(
    "Create a team",
    tag=_TAG,
    takes=NewTeam,
    gives=examples.TEAM,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_TEAMS,),
    example=examples.NEW_TEAM,
)
async def create_team(request: Request) -> Response:
    """A team without members. Only tickets whose `team_id` names it belong to it."""
    new = body.read(request, NewTeam)
    team = await request.act(actions.create_team, new, now_us=request.now_us)
    return envelope.created(request, rules.to_response(team))


@operation("Get a team", tag=_TAG, gives=examples.TEAM)
async def get_team(request: Request, team_id: str) -> Response:
    """One team, also a deleted one, which tickets still name."""
    return envelope.one(await _show(request, team_id))


async def _show(request: Request, team_id: str) -> TeamResponse:
    return rules.to_response(await request.fetch(actions.get_team, team_id))


@operation(
    "Change a team", tag=_TAG, takes=TeamChange, gives=examples.TEAM, example=examples.TEAM_CHANGE
)
async def change_team(request: Request, team_id: str) -> Response:
    """A JSON Merge Patch. With `round_robin`, tickets that wait already are assigned as well."""
    change = await body.read_change(request, TeamChange, lambda: _show(request, team_id))
    team = await request.act(actions.change_team, team_id, change, now_us=request.now_us)
    return envelope.one(rules.to_response(team))


@operation("Delete a team", tag=_TAG, status=204)
async def delete_team(request: Request, team_id: str) -> Response:
    """Its tickets keep their assignees and its id, and are given to nobody; its name is free."""
    await request.act(actions.delete_team, team_id, now_us=request.now_us)
    return envelope.nothing()


@operation("List a team's members", tag=_TAG, gives=examples.MEMBER, is_list=True, params=PAGING)
async def list_members(request: Request, team_id: str) -> Response:
    """Each with the number of their open tickets, and whether they are there."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def work(tx: Tx) -> list[Member]:
        await actions.get_team(tx, tenant_id, team_id)
        return await store.list_members(tx, tenant_id, team_id)

    return await list_few(
        request,
        lambda: request.read(work),
        lambda member: rules.member_response(member, now_us),
        lambda member: [member.user_id],
    )


@operation(
    "Add a member to a team",
    tag=_TAG,
    takes=NewMember,
    gives=examples.MEMBER,
    status=201,
    fails=(TOO_MANY_MEMBERS,),
    example=examples.NEW_MEMBER,
)
async def add_member(request: Request, team_id: str) -> Response:
    """A user who is a member already stays one, with the `capacity` that is given."""
    new = body.read(request, NewMember)
    member = await request.act(actions.add_member, team_id, new, now_us=request.now_us)
    return envelope.one(rules.member_response(member, request.now_us), 201)


@operation("Remove a member from a team", tag=_TAG, status=204)
async def remove_member(request: Request, team_id: str, user_id: str) -> Response:
    """The tickets that are assigned to the user stay so."""
    await request.act(actions.remove_member, team_id, user_id, now_us=request.now_us)
    return envelope.nothing()
