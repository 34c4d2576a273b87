"""The statements that functions build at run time: lists, their counts, rows by their ids."""

import asyncio
import sys
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from sealdesk.customers import store as customers
from sealdesk.db.engine import Dialect, Params, Tx
from sealdesk.feed import store as feed
from sealdesk.reports import store as reports
from sealdesk.reports.types import DIMENSIONS, FIELD, HAPPENINGS, Selection
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.attachments import store as attachments
from sealdesk.tickets.live import store as live
from sealdesk.tickets.live.types import Change
from sealdesk.tickets.macros import store as macros
from sealdesk.tickets.macros.types import OF_THE_DESK, Reader
from sealdesk.tickets.ticket.store import (
    assignees,
    counts,
    lists,
    reads,
    replies,
    selection,
    teams,
    tickets,
)
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.webhooks.store import delivery_log
from sealdesk.webhooks.types import DeliveryFilter
from tests.support.statements import SOURCE

_TENANT = "tenant"
_IDS = ["one", "other"]
_FIRST = PageRequest(25, None)
_FIELDS: dict[str, Any] = {
    "status": ("open", "closed"),
    "priority": ("low", "high"),
    "customer_id": "c",
    "customer_ids": ("c", "d"),
    "assignee_id": "a",
    "team_id": "t",
    "is_unassigned": True,
    "is_waiting": True,
    "is_snoozed": False,
    "tag": "t",
    "more_tags": ("u",),
    "follower_id": "f",
    "external_id": "x",
    "number": 7,
    "updated_after": 1,
}
_ORDERS = ("created_at", "updated_at", "priority", "waiting_since")
# Those that read the rows of other tables.
_MEMBERSHIPS = ("tag", "follower_id", "status", "is_snoozed")


class Built(NamedTuple):
    """What the examples ran. functions: named as in `statements()`."""

    sql: frozenset[str]
    functions: frozenset[str]


class _Recorder:
    """A transaction without a database: it keeps each statement, and finds nothing."""

    def __init__(self, dialect: Dialect, kept: set[str]) -> None:
        self.dialect = dialect
        self._kept = kept

    async def fetch_one(self, sql: str, _params: Params) -> None:
        self._kept.add(sql)

    async def fetch_all(self, sql: str, _params: Params) -> list[object]:
        self._kept.add(sql)
        return []

    async def fetch_page(
        self, sql: str, params: Params, _columns: Sequence[str], _max_bytes: int
    ) -> list[object]:
        return await self.fetch_all(sql, params)


@cache
def built_statements() -> Built:
    """The statements of examples of all such functions, on both databases."""
    sql: set[str] = set()
    functions: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            functions.add(f"{path.relative_to(SOURCE)} {frame.f_code.co_name}")

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        asyncio.run(_run_examples(sql))
    finally:
        sys.setprofile(previous)
    return Built(frozenset(sql), frozenset(functions))


async def _run_examples(kept: set[str]) -> None:
    for dialect in ("sqlite", "postgresql"):
        recorder: Any = _Recorder(dialect, kept)
        await _list_tickets(recorder)
        await _list_others(recorder)
        await _list_by_ids(recorder)


async def _list_tickets(tx: Tx) -> None:
    for filters in _filters():
        await lists.list_tickets(tx, _TENANT, filters, _FIRST)
    await lists.list_inbox(tx, _TENANT, Filter(), PageRequest(25, ["id"]))
    of_all = [Filter(**{name: value}) for name, value in _FIELDS.items()]
    for filters in of_all:
        await lists.list_by_ids(tx, _TENANT, _IDS, filters)
        await lists.count_tickets(tx, _TENANT, filters, 100)
        await lists.list_changed(tx, _TENANT, filters, [5, "id"], 25)
        await tx.fetch_all(selection.newest_ids(filters, {}), {})
    await counts.count_lists(tx, _TENANT, of_all)
    pairs = combinations(_MEMBERSHIPS, 2)
    await counts.count_lists(
        tx, _TENANT, [Filter(**{each: _FIELDS[each] for each in pair}) for pair in pairs]
    )


def _filters() -> list[Filter]:
    """Each filter in each order, and each two of some, led by each index that may lead them."""
    alone = [
        Filter(**{name: value}, sort_by=order)
        for (name, value), order in product(_FIELDS.items(), _ORDERS)
    ]
    led = [
        Filter(**{each: _FIELDS[each] for each in pair}, sort_by=order, index=index)
        for pair in combinations(_MEMBERSHIPS, 2)
        for order, index in product(_ORDERS[:2], (None, *pair))
    ]
    return [Filter(), *alone, *led]


async def _list_others(tx: Tx) -> None:
    for filters in (
        customers.Filter(),
        customers.Filter(words=("a",), newest=100),
        customers.Filter(email="a@b.example", external_id="x", updated_after=1),
    ):
        await customers.list_rows(tx, _TENANT, filters, _FIRST)
    for is_internal in (None, True):
        await replies.list_replies(
            tx, _TENANT, "ticket", _FIRST, is_internal=is_internal, newest_first=True
        )
    for types in (["ticket.created"], ["ticket.created", "reply.created"]):
        await feed.list_events(tx, _TENANT, types, 0, _FIRST)
    for wanted in (DeliveryFilter(), DeliveryFilter("failed", "ticket.created", 1, 2)):
        await delivery_log.list_deliveries(tx, _TENANT, "endpoint", _FIRST, wanted)
    dimensions = (*DIMENSIONS, f"{FIELD}carrier")
    for happening, dimension in product(HAPPENINGS, dimensions):
        selection = Selection(happening, 0, 1, dimension, "value")
        await reports.list_counted(tx, _TENANT, selection, [1, "ticket"], 2)
    for dimension in dimensions:
        await reports.list_ratings(tx, _TENANT, Selection("rated", 0, 1, dimension, "value"))
        await reports.count_unfinished(tx, _TENANT, [1, 0], dimension, "value")


async def _list_by_ids(tx: Tx) -> None:
    for find in (
        customers.list_by_ids,
        attachments.list_unlinked,
        assignees.find_assignees,
        teams.list_names,
        tickets.list_by_ids,
        live._list_numbers,
    ):
        await find(tx, _TENANT, _IDS)
    for reader in (OF_THE_DESK, Reader("user"), Reader("user", of_all_teams=True)):
        await macros.list_choices(tx, _TENANT, reader)
    await reads.list_reads(tx, _TENANT, "user", _IDS)
    await live._list_actors(tx, _TENANT, [Change("ticket", 1), Change("ticket", 2)])
