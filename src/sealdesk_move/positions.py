"""The positions of consumers, between one log of all events and a log of each tenant.

On one database a consumer has one position in the log of all events. On a distributed database it
has one in the feed of each tenant. So that it handles no event twice and leaves none out, a move
from one to the other gives new positions; the copy is compared with the source as it is shown here.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move.copy import Source
from sealdesk_move.tables import Event, Row, Table

_END = "sequencer"  # the name of the last position of the log
_PAGE_ROWS = 1000
# They are sorted in memory.
_MAX_WAITING = 100_000
Positions = dict[str, int]  # by the ID of the tenant


class EventSource(Source, Protocol):
    """A source that finds the events behind a position."""

    is_distributed: bool

    async def first_behind(self, log_position: int) -> Positions:
        """Of each tenant, the feed position of the first event behind a position of the log."""

    async def events_behind(self, tenant_id: str, position: int, limit: int) -> list[Event]:
        """The first events of a tenant behind a position of its feed, in order."""


class ConvertedSource:
    """A source with other rows in some tables. log: the log positions of events, by their keys."""

    def __init__(self, source: Source, rows: dict[str, list[Row]], log: Mapping[Row, int]) -> None:
        self._source = source
        self._rows = rows
        self._log = log

    async def count(self, table: Table) -> int:
        rows = self._rows.get(table.name)
        return await self._source.count(table) if rows is None else len(rows)

    async def pages(
        self, table: Table, after: Row | None = None
    ) -> AsyncGenerator[list[Row], None]:
        if table.name in self._rows:
            rows = sorted(self._rows[table.name], key=table.key_of)
            later = [row for row in rows if after is None or table.key_of(row) > after]
            for start in range(0, len(later), _PAGE_ROWS):
                yield later[start : start + _PAGE_ROWS]
            return
        async with aclosing(self._source.pages(table, after)) as pages:
            async for page in pages:
                yield self._renumbered(table, page) if table.name == "events" else page

    def _renumbered(self, table: Table, rows: list[Row]) -> list[Row]:
        place = table.columns.index("log_position")
        return [(*row[:place], self._log.get(table.key_of(row)), *row[place + 1 :]) for row in rows]


async def convert(
    source: EventSource, tables: tuple[Table, ...], *, to_distributed: bool
) -> Source:
    """The source with positions for its target. Raises Unusable where they cannot be exact."""
    if source.is_distributed == to_distributed:
        return source
    by_name = {table.name: table for table in tables}
    feeds = await _read(source, by_name["feed_positions"])
    ends = {row["tenant_id"]: row["last_position"] for row in feeds}
    if to_distributed:
        return await _convert_to_feeds(source, by_name, ends)
    return await _convert_to_log(source, by_name, ends)


async def _convert_to_feeds(
    source: EventSource, tables: dict[str, Table], ends: Positions
) -> ConvertedSource:
    rows = []
    for consumer in await _read(source, tables["log_positions"]):
        if consumer["name"] != _END:
            behind = await source.first_behind(consumer["position"])
            rows += [
                {
                    "tenant_id": tenant_id,
                    "name": consumer["name"],
                    "position": behind.get(tenant_id, end + 1) - 1,
                }
                for tenant_id, end in ends.items()
            ]
    return _converted(source, tables, {"log_positions": [], "consumer_positions": rows}, {})


async def _convert_to_log(
    source: EventSource, tables: dict[str, Table], ends: Positions
) -> ConvertedSource:
    reached: dict[str, Positions] = {}
    for row in await _read(source, tables["consumer_positions"]):
        reached.setdefault(row["name"], {})[row["tenant_id"]] = row["position"]
    waiting = in_order(await _list_waiting(source, ends, reached), reached)
    # The others were handled by all: a consumer that is new finds that they are missing.
    end = sum(ends.values())
    first = end - len(waiting)
    log: dict[Row, int] = {
        (event.tenant_id, event.id): first + number for number, event in enumerate(waiting, 1)
    }
    rows = [{"name": _END, "position": end}] * bool(ends)
    rows += [
        {"name": name, "position": first + count_handled(waiting, reached, name)}
        for name in reached
    ]
    return _converted(source, tables, {"log_positions": rows, "consumer_positions": []}, log)


def in_order(events: Iterable[Event], reached: Mapping[str, Positions]) -> list[Event]:
    """The events that most consumers have handled first, else by id; those of a tenant in order.

    reached: the positions of each consumer.
    """
    keys = []
    last_ids: dict[str, str] = {}
    for event in sorted(events):
        last = last_ids[event.tenant_id] = max(last_ids.get(event.tenant_id, ""), event.id)
        handled = sum(_has_handled(positions, event) for positions in reached.values())
        keys.append((-handled, last, event))
    return [event for _, _, event in sorted(keys)]


def count_handled(events: list[Event], reached: Mapping[str, Positions], name: str) -> int:
    """How many of these events a consumer has handled, which are the first of them.

    Raises Unusable if it has handled one that comes later.
    """
    handled = [_has_handled(reached[name], event) for event in events]
    count = sum(handled)
    if not all(handled[:count]):
        raise Unusable(
            f"the consumers of events ({', '.join(sorted(reached))}) have each handled some that"
            " others have not, which one log cannot show. Run `sealdesk worker` on the source until"
            " it has handled all events, and then the same command again"
        )
    return count


def _has_handled(positions: Positions, event: Event) -> bool:
    return positions.get(event.tenant_id, 0) >= event.position


async def _list_waiting(
    source: EventSource, ends: Positions, reached: Mapping[str, Positions]
) -> list[Event]:
    waiting: list[Event] = []
    for tenant_id, end in ends.items():
        first = min((positions.get(tenant_id, 0) for positions in reached.values()), default=0)
        if first < end:
            limit = _MAX_WAITING + 1 - len(waiting)
            waiting += await source.events_behind(tenant_id, first, limit)
        if len(waiting) > _MAX_WAITING:
            raise Unusable(
                f"more than {_MAX_WAITING:,} events wait for a consumer; run `sealdesk worker` on"
                " the source until it has handled them, and then the same command again"
            )
    return waiting


async def _read(source: Source, table: Table) -> list[dict[str, Any]]:
    async with aclosing(source.pages(table)) as pages:
        return [dict(zip(table.columns, row, strict=True)) async for page in pages for row in page]


def _converted(
    source: Source,
    tables: dict[str, Table],
    rows: dict[str, list[dict[str, Any]]],
    log: Mapping[Row, int],
) -> ConvertedSource:
    as_tuples: dict[str, list[Row]] = {
        name: [tuple(row[column] for column in tables[name].columns) for row in each]
        for name, each in rows.items()
    }
    return ConvertedSource(source, as_tuples, log)
