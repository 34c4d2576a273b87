"""What administrators do with teams; each action is the work of one transaction."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, gettext_noop, invalid, must_exist
from sealdesk.records import audit
from sealdesk.resources import merge_patch
from sealdesk.resources.paging import PageRequest
from sealdesk.resources.representation import check_seen, fingerprint
from sealdesk.teams import store
from sealdesk.teams.errors import TOO_MANY_MEMBERS, TOO_MANY_TEAMS
from sealdesk.teams.rules import MAX_MEMBERS
from sealdesk.teams.types import Member, NewMember, NewTeam, Team, TeamChange
from sealdesk.tickets.hours import store as hours
from sealdesk.tickets.promises import store as promises
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.store.teams import MAX_TEAMS

_TAKEN = gettext_noop("There is already a team with this name.")
_NO_USER = gettext_noop("There is no such active user.")
_CHANGEABLE = TeamChange.__struct_fields__


async def create_team(tx: Tx, caller: Caller, new: NewTeam, *, now_us: int) -> Team:
    """Raises Conflict above MAX_TEAMS, and ValidationFailed for a name that is taken."""
    await _lock_teams(tx, caller)
    page = PageRequest(MAX_TEAMS - 1, None)
    if len(await store.list_teams(tx, caller.tenant_id, page)) >= MAX_TEAMS:
        raise Conflict(TOO_MANY_TEAMS, limit=MAX_TEAMS)
    await _check_name(tx, caller, new.name)
    team = Team(
        tenant_id=caller.tenant_id,
        id=ids.mint(now_us),
        **msgspec.structs.asdict(new),
        created_at=now_us,
        deleted_at=None,
    )
    await store.add(tx, team)
    await _record_audit(tx, caller, "team.created", team, now_us)
    return team


async def change_team(
    tx: Tx, caller: Caller, team_id: str, change: TeamChange, *, now_us: int, seen: str = ""
) -> Team:
    """The team after the change. seen: its `fingerprint` as the caller has seen it, "" for any.

    Raises NotFound, PreconditionFailed, and ValidationFailed for a name that is taken.
    """
    await _lock_teams(tx, caller)
    team = await get_current(tx, caller.tenant_id, team_id)
    check_seen(seen, fingerprint(team))
    changed = msgspec.structs.replace(team, **merge_patch.given_fields(change))
    changes = merge_patch.differences(team, changed, _CHANGEABLE)
    if not changes:
        return team
    if changed.name != team.name:  # two names may have become one (decision 0141)
        await _check_name(tx, caller, changed.name, except_id=team.id)
    await store.replace(tx, changed)
    await _record_audit(tx, caller, "team.updated", changed, now_us, changes=changes)
    return changed


async def delete_team(tx: Tx, caller: Caller, team_id: str, *, now_us: int) -> None:
    """Its tickets still name it, and stay with their assignees. Raises NotFound."""
    await _lock_teams(tx, caller)
    team = await get_current(tx, caller.tenant_id, team_id)
    for member in await store.list_members(tx, caller.tenant_id, team_id):
        await store.delete_member(tx, caller.tenant_id, team_id, member.user_id)
    if await hours.find_of_teams(tx, caller.tenant_id, [team_id]):
        await promises.renew(tx, caller.tenant_id)  # their due times are by the desk's hours now
    await store.replace(tx, msgspec.structs.replace(team, deleted_at=now_us))
    await _record_audit(tx, caller, "team.deleted", team, now_us)


async def add_member(
    tx: Tx, caller: Caller, team_id: str, new: NewMember, *, now_us: int
) -> Member:
    """A user who is a member already stays one, with the capacity that is given.

    Raises NotFound, Conflict, ValidationFailed.
    """
    await _lock_teams(tx, caller)
    team = await get_current(tx, caller.tenant_id, team_id)
    members = await store.list_members(tx, caller.tenant_id, team_id)
    known = next((each for each in members if each.user_id == new.user_id), None)
    if known is not None:
        return await _change_member(tx, caller, team, known, new.capacity, now_us)
    if not await assignees.is_assignable(tx, caller.tenant_id, new.user_id):
        raise invalid([Fault("/user_id", "unknown_user", _NO_USER)])
    if len(members) >= MAX_MEMBERS:
        raise Conflict(TOO_MANY_MEMBERS, limit=MAX_MEMBERS)
    capacity = None if new.capacity is UNSET else new.capacity
    await store.add_member(tx, caller.tenant_id, team_id, new.user_id, capacity)
    await _record_audit(tx, caller, "team.member_added", team, now_us, user_id=new.user_id)
    return await _get_member(tx, caller.tenant_id, team_id, new.user_id)


async def _change_member(
    tx: Tx,
    caller: Caller,
    team: Team,
    member: Member,
    capacity: int | UnsetType | None,
    now_us: int,
) -> Member:
    if capacity is UNSET or capacity == member.capacity:
        return member
    await store.set_capacity(tx, caller.tenant_id, team.id, member.user_id, capacity)
    changes = {"capacity": (member.capacity, capacity)}
    details = {"user_id": member.user_id, "changes": changes}
    await _record_audit(tx, caller, "team.member_changed", team, now_us, **details)
    return msgspec.structs.replace(member, capacity=capacity)


async def remove_member(tx: Tx, caller: Caller, team_id: str, user_id: str, *, now_us: int) -> None:
    """Their tickets stay theirs. Raises NotFound, also the second time."""
    team = await get_current(tx, caller.tenant_id, team_id)
    if not await store.delete_member(tx, caller.tenant_id, team_id, user_id):
        raise NotFound
    await _record_audit(tx, caller, "team.member_removed", team, now_us, user_id=user_id)


async def get_team(tx: Tx, tenant_id: str, team_id: str) -> Team:
    """A team, also a deleted one. Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, team_id))


async def get_current(tx: Tx, tenant_id: str, team_id: str) -> Team:
    """A team that is not deleted. Raises NotFound."""
    team = await get_team(tx, tenant_id, team_id)
    if team.deleted_at is not None:
        raise NotFound
    return team


async def _get_member(tx: Tx, tenant_id: str, team_id: str, user_id: str) -> Member:
    members = await store.list_members(tx, tenant_id, team_id)
    return next(each for each in members if each.user_id == user_id)


async def _lock_teams(tx: Tx, caller: Caller) -> None:
    # Concurrent requests count each other's teams and members, and compare names.
    await tx.lock("teams", caller.tenant_id)


async def _check_name(tx: Tx, caller: Caller, name: str, except_id: str = "") -> None:
    if await store.find_name(tx, caller.tenant_id, name) not in (None, except_id):
        raise invalid([Fault("/name", "taken", _TAKEN)])


async def _record_audit(
    tx: Tx, caller: Caller, action: str, team: Team, now_us: int, **details: Any
) -> None:
    await audit.record(tx, caller, action, team.id, {"name": team.name, **details}, now_us)
