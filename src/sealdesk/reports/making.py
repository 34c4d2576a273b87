"""Makes a report: reads its sums in one transaction, and adds them up."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sealdesk.db.engine import Database, Tx
from sealdesk.reports import dimensions, figures, periods, rules, store, sums
from sealdesk.reports.figures import Figures
from sealdesk.reports.query import Query
from sealdesk.reports.rules import ranges_of
from sealdesk.reports.types import AGES, Dimension
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.web.request import Request

_MAX_NAMES = 1_000


class _Read(NamedTuple):
    """What is read in one transaction: rows of sums. names, unfinished: see Report."""

    by_step: list[list[str]]
    earlier: list[str]
    by_value: Mapping[str, list[str]]
    names: Mapping[str, str]
    unfinished: list[int]
    is_incomplete: bool


class Report(NamedTuple):
    """A report. values: those of its dimension, each with its figures; the largest first.
    names: of teams, people and keys by ids, and of custom fields by dimension.

    unfinished: how many tickets are not finished now, for each of AGES.
    """

    steps: list[periods.Step]
    by_step: list[Figures]
    now: Figures
    earlier: Figures
    values: list[tuple[str, Figures]]
    names: Mapping[str, str]
    unfinished: list[int]
    is_incomplete: bool


async def read_zone(request: Request) -> ZoneInfo:
    """The time zone of the desk."""
    return zone_of(await request.fetch(hours_store.find))


def zone_of(hours: Hours | None) -> ZoneInfo:
    """The time zone of a desk with these business hours."""
    return ZoneInfo(hours.time_zone if hours else "UTC")


async def make(
    database: Database, tenant_id: str, query: Query, zone: ZoneInfo, now_us: int
) -> Report:
    """The report that is asked for."""
    steps = periods.steps_of(query.period, query.step, zone)
    hours = periods.hours_of(query.period, zone)
    earlier = periods.hours_of(periods.before(query.period), zone)
    every = [*((each.first, each.end) for each in steps), earlier]
    since = [rules.created_between(age, now_us)[0] for age in AGES]

    async def work(tx: Tx) -> _Read:
        of = (query.dimension, query.value)
        *by_step, before = await read_rows(tx, tenant_id, *of, every)
        return _Read(
            by_step,
            before,
            by_value := await _rows_by_value(tx, tenant_id, query, hours),
            {
                **await read_labels(tx, tenant_id),
                **await read_names(tx, tenant_id, query.by, [*by_value]),
                **await read_names(tx, tenant_id, query.dimension, [query.value]),
            },
            await store.count_unfinished(tx, tenant_id, since, query.dimension, query.value),
            await store.is_rebuilding(tx, tenant_id),
        )

    read = await database.read_unindexed(work, tenant_id)
    by_step = [await figures.add_up(rows) for rows in read.by_step]
    by_value = [
        (value, figures.figures_of(await figures.add_up(rows)))
        for value, rows in _largest(read.by_value)
    ]
    by_value.sort(key=lambda each: (-sum(each[1][:3]), each[0]))
    return Report(
        steps,
        [*map(figures.figures_of, by_step)],
        figures.figures_of(sums.together(by_step)),
        figures.figures_of(await figures.add_up(read.earlier)),
        by_value,
        read.names,
        read.unfinished,
        read.is_incomplete,
    )


async def read_rows(
    tx: Tx, tenant_id: str, dimension: Dimension, value: str, parts: Sequence[tuple[int, int]]
) -> list[list[str]]:
    """The sums in each of these parts, from an hour up to another, as JSON."""
    of_part = [ranges_of(*each) for each in parts]
    every = [*chain.from_iterable(of_part)]
    rows = iter(await store.list_rows(tx, tenant_id, dimension, value, every))
    return [[*chain.from_iterable(islice(rows, len(ranges)))] for ranges in of_part]


def _largest(by_value: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    """The values that are shown: if there are too many, those with the most new tickets."""
    if len(by_value) <= store.MAX_VALUES:
        return [*by_value.items()]
    by_created = sorted(by_value.items(), key=lambda each: (-sums.created_in(each[1]), each[0]))
    return by_created[: store.MAX_VALUES]


async def _rows_by_value(
    tx: Tx, tenant_id: str, query: Query, hours: tuple[int, int]
) -> Mapping[str, list[str]]:
    if query.by == "desk":
        return {}
    return await store.list_rows_by_value(tx, tenant_id, query.by, ranges_of(*hours))


async def read_names(
    tx: Tx, tenant_id: str, dimension: Dimension, values: Sequence[str]
) -> Mapping[str, str]:
    """The names of teams, people or keys; others are called by their values."""
    ids = [each for each in values if each][:_MAX_NAMES]
    if dimension == "team" and ids:
        return await teams.list_names(tx, tenant_id, ids)
    if dimension == "assignee" and ids:
        return await assignees.list_names(tx, tenant_id, ids)
    return await store.list_key_names(tx, tenant_id) if dimension == "key" and ids else {}


async def read_labels(tx: Tx, tenant_id: str) -> Mapping[str, str]:
    """What the custom fields are called that are counted, by dimension."""
    return {each.dimension: each.label for each in await dimensions.list_fields(tx, tenant_id)}
