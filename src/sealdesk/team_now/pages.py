"""The page "Team now": who waits longest, and what each person and team has to do."""

from collections.abc import Sequence
from urllib.parse import urlencode

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ValidationFailed, must_exist
from sealdesk.reports import plots
from sealdesk.resources import csv_file
from sealdesk.team_now import actions, course, reading, rules, store
from sealdesk.team_now.types import Group, Load, Person, TeamLoad
from sealdesk.tickets.pages.first_steps import find_first_steps
from sealdesk.tickets.pages.inbox_rows import show_due
from sealdesk.tickets.pages.timeline import avatar
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.views.inbox_query import NOBODY
from sealdesk.web.operation import page
from sealdesk.web.pages import durations, forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/team-now"
ROOM = Room("team_now", nav_item=NavItem(_PATH, gettext_noop("Team now"), section="main"))
_MOST_HANDED = 500  # by one form
_MOST_COUNTED = 1_000
_MAX_DOTS = 20  # first replies of a person that have a mark
_SCALE_US = 8 * 3600 * 1_000_000  # of the marks: later replies stand at the end
_CSV = b"text/csv; charset=utf-8"
_COLUMNS = """
    kind name waiting open unassigned first_replies first_reply_median_seconds presence
""".split()


@page
async def show_team_now(request: Request) -> Response:
    """The open tickets of the desk, or of a team, by who has them."""
    read = await reading.read(request)
    total = sum_of(read.groups)
    people = reading.people_of(request, read)
    me = next((each for each in people if each.id == request.caller.actor.id), None)
    days = await course.add_up(read.course)
    return await render.page(
        request,
        "team_now/team_now.html",
        total=total,
        is_cut=total.open >= store.MAX_TICKETS,
        waiting=[(each, show_due(each.due, request.now_us)[:1]) for each in read.waiting],
        people=people,
        teams=reading.teams_of(read),
        team=read.team,
        all_teams=read.teams,
        names={each.id: each.label for each in read.people},
        team_names={each.id: each.name for each in read.teams},
        replies=read.replies,
        replied_count=sum(each.after_us is not None for each in read.replies),
        median_us=rules.median_us(read.replies),
        now=clock.iso(request.now_us),
        now_us=request.now_us,
        most_open=max((each.load.open for each in people), default=0),
        reader_id=request.caller.actor.id,
        is_away=me.presence == "away" if me and me.id in read.presence else None,
        nobody=NOBODY,
        query=read.query,
        avatar=avatar,
        due=[*zip(read.due, reading.due_queries(read.query), strict=False)],
        due_text=durations.due_text,
        position=_position,
        max_dots=_MAX_DOTS,
        course=days,
        line=plots.line,
        steps=await find_first_steps(request),
    )


@page
async def download_team_now(request: Request) -> Response:
    """The people and the teams of the page as a CSV file."""
    read = await reading.read(request)
    rows = [
        _row("person", each, len(each.replies), each.presence)
        for each in reading.people_of(request, read)
    ]
    rows += [_row("team", each, each.reply_count, "") for each in reading.teams_of(read)]
    return render.download(csv_file.encode(_COLUMNS, rows), _CSV, "team-now.csv")


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
            await assignees.list_assignees(tx, tenant_id, reading.MAX_PEOPLE),
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


def _row(kind: str, each: Person | TeamLoad, replies: int, presence: str) -> list[str]:
    load, median_us = each.load, each.median_us
    median_s = "" if median_us is None else str(median_us // 1_000_000)
    counts = map(str, (load.waiting, load.open, load.unassigned, replies))
    return [kind, each.name, *counts, median_s, presence]


def _position(after_us: int) -> int:
    """Where the mark of a first reply begins, 8 wide on a line of 144."""
    return round(136 * min(after_us / _SCALE_US, 1))
