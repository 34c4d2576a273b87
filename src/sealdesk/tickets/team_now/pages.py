"""The page "Team now": who waits longest, and what each person and team has to do."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from sealdesk.db.engine import Tx
from sealdesk.errors import ValidationFailed, must_exist
from sealdesk.tickets.pages.inbox_rows import duration_text, show_due
from sealdesk.tickets.pages.timeline import avatar
from sealdesk.tickets.promises import store as promises
from sealdesk.tickets.store import assignees, lists, teams
from sealdesk.tickets.store.assignees import Assignee
from sealdesk.tickets.store.teams import TeamOption
from sealdesk.tickets.team_now import actions, course, rules, store
from sealdesk.tickets.team_now.course import Hour
from sealdesk.tickets.team_now.types import FirstReply, Group, Load, Person, TeamLoad, Waiting
from sealdesk.tickets.teams.rules import PRESENT_US
from sealdesk.tickets.views.inbox_query import NOBODY, InboxQuery
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/team-now"
ROOM = Room("tickets.team_now", nav_item=NavItem(_PATH, gettext_noop("Team now"), section="main"))
_DAY_US = 24 * 3600 * 1_000_000
_MAX_PEOPLE = 200
_MOST_HANDED = 500  # by one form
_MOST_COUNTED = 1_000
_MAX_DOTS = 20  # first replies of a person that have a mark
# What is late, and what will be in four hours.
_DUE = [InboxQuery(status=None, due=due, sort="due") for due in ("late", "4")]
_SCALE_US = 8 * 3600 * 1_000_000  # of the marks: later replies stand at the end


class _Read(NamedTuple):
    """What the page reads in one transaction. presence: seen_at and away_at by user.

    due: how many tickets each of _DUE has; empty without SLA policies.
    """

    groups: list[Group]
    waiting: list[Waiting]
    replies: list[FirstReply]
    people: list[Assignee]
    teams: list[TeamOption]
    presence: Mapping[str, tuple[int | None, int | None]]
    due: list[int]
    hours: list[Hour]


@page
async def show_team_now(request: Request) -> Response:
    """The open tickets of the desk by who has them."""
    read = await request.read_unindexed(lambda tx: _read(tx, request))
    total = sum_of(read.groups)
    by_person = rules.loads_by(read.groups, lambda group: group.assignee_id)
    people = _people(request, read, by_person)
    me = next((each for each in people if each.id == request.caller.actor.id), None)
    return await render.page(
        request,
        "team_now/team_now.html",
        total=total,
        is_cut=total.open >= store.MAX_TICKETS,
        waiting=[(each, show_due(each.due, request.now_us)[:1]) for each in read.waiting],
        people=people,
        teams=_teams(read),
        names={each.id: each.name for each in read.people},
        team_names={each.id: each.name for each in read.teams},
        replies=read.replies,
        replied_count=sum(each.after_us is not None for each in read.replies),
        median_us=rules.median_us(read.replies),
        now_us=request.now_us,
        most_open=max((each.load.open for each in people), default=0),
        reader_id=request.caller.actor.id,
        is_away=me.is_away if me and me.id in read.presence else None,
        nobody=NOBODY,
        query=InboxQuery(),
        avatar=avatar,
        duration=duration_text,
        due=[(number, query) for number, query in zip(read.due, _DUE, strict=False)],
        position=_position,
        max_dots=_MAX_DOTS,
        hours=read.hours,
        plot=course.plot(read.hours),
    )


@page
async def set_away(request: Request) -> Response:
    """Whether round robin gives the user tickets."""
    is_away = forms.read(request).text("away") == "yes"
    caller, away_at = request.caller, request.now_us
    await request.write(
        lambda tx: store.set_away(
            tx, caller.tenant_id, caller.actor.id, away_at if is_away else None
        )
    )
    return render.redirect(request, _PATH)


@page
async def show_person(request: Request, user_id: str) -> Response:
    """How many tickets a person has, and to whom they can be handed over."""
    return await _person(request, user_id, None)


@page
async def hand_over(request: Request, user_id: str) -> Response:
    """Hand the unfinished tickets of a person over; of very many, the first ones."""
    to_id = forms.read(request).text("to") or None
    handed, after_id, write = 0, "", request.write

    async def step(tx: Tx) -> list[str]:
        return await actions.hand_over(
            tx, request.caller, user_id, to_id, after_id, now_us=request.now_us
        )

    try:
        while handed < _MOST_HANDED and (found := await write(step)):
            handed, after_id, write = handed + len(found), found[-1], request.write_more
    except ValidationFailed as error:
        return await _person(request, user_id, error)
    query = urlencode({"to": to_id or "", "handed": handed}) if handed >= _MOST_HANDED else ""
    return render.redirect(request, f"{_PATH}/people/{user_id}?{query}".rstrip("?"))


@page
async def note_input(request: Request) -> Response:
    """Somebody reads or writes in a page. What scripts ask for by themselves says nothing of it."""
    caller = request.caller
    request.state.seen_users.note(caller.tenant_id, caller.actor.id, request.now_us)
    return Response(204)


def sum_of(groups: Sequence[Group]) -> Load:
    """The load of the desk."""
    return rules.loads_by(groups, lambda _: None).get(None, Load())


async def _person(request: Request, user_id: str, error: ValidationFailed | None) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Assignee, list[str], list[Assignee]]:
        return (
            must_exist(await assignees.find_assignee(tx, tenant_id, user_id)),
            await store.list_unfinished(tx, tenant_id, user_id, "", _MOST_COUNTED + 1),
            await assignees.list_assignees(tx, tenant_id, _MAX_PEOPLE),
        )

    person, unfinished, people = await request.read(work)
    query = forms.read_query(request)
    return await forms.show(
        request,
        "team_now/person.html",
        error,
        person=person,
        count=min(len(unfinished), _MOST_COUNTED),
        is_cut=len(unfinished) > _MOST_COUNTED,
        to_id=query.text("to"),
        handed=query.text("handed") == str(_MOST_HANDED) and _MOST_HANDED,
        others=[each for each in people if each.is_active and each.id != user_id],
    )


async def _read(tx: Tx, request: Request) -> _Read:
    tenant_id = request.caller.tenant_id
    return _Read(
        await store.list_groups(tx, tenant_id),
        await store.list_waiting(tx, tenant_id),
        await store.list_first_replies(tx, tenant_id, request.now_us - _DAY_US),
        await assignees.list_assignees(tx, tenant_id, _MAX_PEOPLE),
        await teams.list_teams(tx, tenant_id),
        await store.read_presence(tx, tenant_id),
        await _count_due(tx, request) if await promises.has_policies(tx, tenant_id) else [],
        await course.list_hours(tx, tenant_id, request.now_us),
    )


async def _count_due(tx: Tx, request: Request) -> list[int]:
    filters = [each.filter(request.caller.actor.id, request.now_us) for each in _DUE]
    tenant_id = request.caller.tenant_id
    return [await lists.count_tickets(tx, tenant_id, each, store.MAX_TICKETS) for each in filters]


def _people(request: Request, read: _Read, loads: dict[str | None, Load]) -> list[Person]:
    """Active people and those who have open tickets, the most loaded first."""
    replies: dict[str | None, list[FirstReply]] = defaultdict(list)
    for each in read.replies:
        if each.after_us is not None:
            replies[each.assignee_id].append(each)
    seen_here = request.state.seen_users.by_tenant().get(request.caller.tenant_id, {})
    present_from = request.now_us - PRESENT_US
    found = []
    for user in read.people:
        load = loads.get(user.id, Load())
        if not (user.is_active or load.open):
            continue
        seen_at, away_at = read.presence.get(user.id, (None, None))
        is_present = max(seen_at or 0, seen_here.get(user.id, 0)) >= present_from
        own = replies[user.id]
        found.append(
            Person(
                user.id,
                user.name,
                is_present,
                away_at is not None,
                load,
                own,
                rules.median_us(own),
            )
        )
    return sorted(found, key=lambda each: (-each.load.waiting, -each.load.open, each.name))


def _teams(read: _Read) -> list[TeamLoad]:
    loads = rules.loads_by(read.groups, lambda group: group.team_id)
    replies: dict[str | None, list[FirstReply]] = defaultdict(list)
    for each in read.replies:
        replies[each.team_id].append(each)
    return [
        TeamLoad(each.id, each.name, loads.get(each.id, Load()), rules.median_us(replies[each.id]))
        for each in read.teams
    ]


def _position(after_us: int) -> int:
    """Where the mark of a first reply begins, 8 wide on a line of 144."""
    return round(136 * min(after_us / _SCALE_US, 1))
