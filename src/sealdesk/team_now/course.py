"""What came and was resolved today and in the days before, as reports count it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sealdesk.db.engine import Tx
from sealdesk.reports import figures, making, periods, plots, store, sums
from sealdesk.reports.figures import Figures
from sealdesk.reports.periods import Period, Step
from sealdesk.reports.plots import Plot
from sealdesk.reports.query import Query
from sealdesk.reports.rules import ranges_of
from sealdesk.tickets.hours import store as hours_store

DAYS = 7  # of the small lines, the last of which is today
_SIZE = 600, 150  # of half a page, so that its letters are as large as others


class Hour(NamedTuple):
    """An hour of today in the time zone of the desk. behind: the report of it."""

    label: str
    created: int
    resolved: int
    behind: Query


class TeamCourse(NamedTuple):
    """How many tickets of a team were created on each day, and which share of today's promises of
    SLA policies was kept."""

    created: list[int]
    kept_percent: int | None


class Course(NamedTuple):
    """The hours of today, each day up to today, and the teams that had tickets, by their ids."""

    hours: list[Hour]
    days: list[Figures]
    today: Query
    teams: Mapping[str, TeamCourse]

    def plot(self) -> Plot:
        """The hours as bars."""
        return plots.bars(
            [[each.created for each in self.hours], [each.resolved for each in self.hours]],
            [each.label for each in self.hours],
            *_SIZE,
        )


class Rows(NamedTuple):
    """The stored sums of a course. by_team: of each day, by team."""

    hours: list[Step]
    by_hour: list[list[str]]
    by_day: list[list[str]]
    by_team: list[dict[str, list[str]]]
    today: Query


async def read(tx: Tx, tenant_id: str, team_id: str, now_us: int) -> Rows:
    """The sums of the desk, or of a team."""
    zone = making.zone_of(await hours_store.find(tx, tenant_id))
    of = ("team", team_id) if team_id else ("desk", "")
    today = periods.period_of("day", periods.today(now_us, zone))
    hours, days = periods.steps_of(today, "hour", zone), _days(today, zone)
    parts = [(each.first, each.end) for each in (*hours, *days)]
    rows = await making.read_rows(tx, tenant_id, *of, parts)
    by_team = [
        await store.list_rows_by_value(tx, tenant_id, "team", ranges_of(day.first, day.end))
        for day in days
    ]
    query = Query(today, "hour", "assignee" if team_id else "team", *of)
    return Rows(hours, rows[: len(hours)], rows[len(hours) :], by_team, query)


async def add_up(rows: Rows) -> Course:
    """The course from its sums."""
    hours = [
        _hour(step, each, rows.today) for step, each in zip(rows.hours, rows.by_hour, strict=True)
    ]
    days = [figures.figures_of(await figures.add_up(each)) for each in rows.by_day]
    teams = {}
    for team_id in set[str]().union(*rows.by_team):
        of_days = [day.get(team_id, []) for day in rows.by_team]
        kept = figures.figures_of(await figures.add_up(of_days[-1])).kept_percent
        teams[team_id] = TeamCourse([sums.created_in(each) for each in of_days], kept)
    return Course(hours, days, rows.today, teams)


def _hour(step: Step, rows: Sequence[str], today: Query) -> Hour:
    found = figures.figures_of(sums.total_of(rows))
    behind = today._replace(hour=step.first)
    return Hour(f"{step.hour:02}:00", found.created, found.resolved, behind)


def _days(today: Period, zone: ZoneInfo) -> list[Step]:
    first = today.first - timedelta(days=DAYS - 1)
    return periods.steps_of(Period("own", first, today.end), "day", zone)
