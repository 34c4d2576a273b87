"""What came and was resolved today, hour by hour, as reports count it."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.reports import figures, making, periods, plots, store, sums
from sealdesk.tickets.reports.plots import Plot
from sealdesk.tickets.reports.types import Range

_WIDTH = 600  # of half a page, so that its letters are as large as others


class Hour(NamedTuple):
    """An hour of today in the time zone of the desk."""

    label: str
    created: int
    resolved: int


async def list_hours(tx: Tx, tenant_id: str, now_us: int) -> list[Hour]:
    """The hours of today."""
    zone = making.zone_of(await hours_store.find(tx, tenant_id))
    day = periods.period_of("day", periods.today(now_us, zone))
    steps = periods.steps_of(day, "hour", zone)
    ranges = [Range(1, step.first, step.end) for step in steps]
    rows = await store.list_rows(tx, tenant_id, "desk", "", ranges)
    found = [figures.figures_of(sums.total_of(each)) for each in rows]
    return [
        Hour(f"{step.hour:02}:00", each.created, each.resolved)
        for step, each in zip(steps, found, strict=True)
    ]


def plot(hours: list[Hour]) -> Plot:
    return plots.bars(
        [[each.created for each in hours], [each.resolved for each in hours]],
        [each.label for each in hours],
        _WIDTH,
    )
