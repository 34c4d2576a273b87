"""Reads what the page "Team now" shows, of the desk or of one team."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.team_now import course, rules, store
from sealdesk.team_now.types import FirstReply, Group, Load, Person, TeamLoad, Waiting
from sealdesk.teams.rules import PRESENT_US
from sealdesk.tickets.promises import store as promises
from sealdesk.tickets.ticket.store import assignees, lists, teams
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.teams import TeamOption
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.web.pages import forms
from sealdesk.web.request import Request

MAX_PEOPLE = 200
_DAY_US = 24 * 3600 * 1_000_000


class Read(NamedTuple):
    """What is read in one transaction. presence: seen_at and away_at by user.

    team: the one whose tickets they are, None for all. members: its people. query: the inbox of
    these tickets. due: how many tickets each of `due_queries` has; empty without SLA policies, as
    next_due is, which has the next of each team.
    """

    team: TeamOption | None
    members: Sequence[str]
    query: InboxQuery
    groups: list[Group]
    waiting: list[Waiting]
    replies: list[FirstReply]
    people: list[Assignee]
    teams: list[TeamOption]
    presence: Mapping[str, tuple[int | None, int | None]]
    due: list[int]
    next_due: Mapping[str | None, int]
    course: course.Rows


async def read(request: Request) -> Read:
    """The tickets of the team that the query string names, or of the desk."""
    wanted = forms.read_query(request).text("team")
    return await request.read_unindexed(lambda tx: _read(tx, request, wanted))


def due_queries(query: InboxQuery) -> list[InboxQuery]:
    """What is late, and what will be in four hours."""
    return [
        msgspec.structs.replace(query, status=None, due=due, sort="due") for due in ("late", "4")
    ]


def people_of(request: Request, read: Read) -> list[Person]:
    """Active people and those who have open tickets, the most loaded first."""
    replies: dict[str | None, list[FirstReply]] = defaultdict(list)
    for each in read.replies:
        if each.after_us is not None:
            replies[each.assignee_id].append(each)
    loads = rules.loads_by(read.groups, lambda group: group.assignee_id)
    seen_here = request.state.seen_users.by_tenant().get(request.caller.tenant_id, {})
    present_from = request.now_us - PRESENT_US
    found = []
    for user in read.people:
        load = loads.get(user.id, Load())
        is_of_team = read.team is None or user.id in read.members
        if not (load.open or (user.is_active and is_of_team)):
            continue
        seen_at, away_at = read.presence.get(user.id, (None, None))
        is_present = max(seen_at or 0, seen_here.get(user.id, 0)) >= present_from
        presence = rules.presence(is_present=is_present, is_away=away_at is not None)
        own = replies[user.id]
        found.append(Person(user.id, user.label, presence, load, own, rules.median_us(own)))
    return sorted(found, key=lambda each: (-each.load.waiting, -each.load.open, each.name))


def teams_of(read: Read) -> list[TeamLoad]:
    """The teams, or the one that is asked for."""
    loads = rules.loads_by(read.groups, lambda group: group.team_id)
    replies: dict[str | None, list[FirstReply]] = defaultdict(list)
    for each in read.replies:
        if each.after_us is not None:
            replies[each.team_id].append(each)
    return [
        TeamLoad(
            each.id,
            each.name,
            loads.get(each.id, Load()),
            len(replies[each.id]),
            rules.median_us(replies[each.id]),
            read.next_due.get(each.id),
        )
        for each in ([read.team] if read.team else read.teams)
    ]


async def _read(tx: Tx, request: Request, wanted: str) -> Read:
    tenant_id = request.caller.tenant_id
    every = await teams.list_teams(tx, tenant_id)
    team = next((each for each in every if each.id == wanted), None)
    team_id = team.id if team else ""
    query = InboxQuery(team=team_id)
    has_policies = await promises.has_policies(tx, tenant_id)
    groups = await store.list_groups(tx, tenant_id)
    replies = await store.list_first_replies(tx, tenant_id, request.now_us - _DAY_US)
    return Read(
        team,
        await teams.list_member_ids(tx, tenant_id, team_id) if team else (),
        query,
        [each for each in groups if not team or each.team_id == team_id],
        await store.list_waiting(tx, tenant_id, team_id),
        [each for each in replies if not team or each.team_id == team_id],
        await assignees.list_assignees(tx, tenant_id, MAX_PEOPLE),
        every,
        await store.read_presence(tx, tenant_id),
        await _count_due(tx, request, query) if has_policies else [],
        await store.find_next_due(tx, tenant_id) if has_policies else {},
        await course.read(tx, tenant_id, team_id, request.now_us),
    )


async def _count_due(tx: Tx, request: Request, query: InboxQuery) -> list[int]:
    reader_id, now_us = request.caller.actor.id, request.now_us
    filters = [each.filter(reader_id, now_us) for each in due_queries(query)]
    tenant_id = request.caller.tenant_id
    return [await lists.count_tickets(tx, tenant_id, each, store.MAX_TICKETS) for each in filters]
