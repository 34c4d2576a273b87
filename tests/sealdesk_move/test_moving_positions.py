"""A move gives consumers the positions of its target: none handles an event twice or leaves it out.

A distributed database has a log for each tenant, others have one for all; both are given as rows.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move import positions
from sealdesk_move.copy import Source
from sealdesk_move.positions import count_handled, in_order
from sealdesk_move.sqlite import SqliteSource
from sealdesk_move.tables import Event, Row, Table

_TEXT = ("text", "text", "bigint")
EVENTS = Table(
    "events",
    ("tenant_id", "id", "position", "log_position"),
    ("text", "text", "bigint", "bigint"),
    ("tenant_id", "id"),
)
FEEDS = Table("feed_positions", ("tenant_id", "last_position"), _TEXT[1:], ("tenant_id",))
LOG = Table("log_positions", ("name", "position"), _TEXT[1:], ("name",))
CONSUMERS = Table(
    "consumer_positions", ("tenant_id", "name", "position"), _TEXT, ("tenant_id", "name")
)
TABLES = (EVENTS, FEEDS, LOG, CONSUMERS)
# Three tenants: a has events 3 and 4 left, b all of its two, c none.
FEEDS_OF = [("a", 4), ("b", 2), ("c", 3)]
ORDER = [("a", 3), ("b", 1), ("a", 4), ("b", 2)]


class TenantLogs(SqliteSource):
    """A file whose rows are those of a distributed database."""

    is_distributed = True


@pytest.fixture
def connection(template: Path, tmp_path: Path) -> Any:
    path = tmp_path / "sealdesk.db"
    path.write_bytes(template.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        for tenant_id, last in FEEDS_OF:
            connection.execute("INSERT INTO tenants VALUES (?, 'Acme', 1)", (tenant_id,))
            connection.execute("INSERT INTO feed_positions VALUES (?, ?, 0)", (tenant_id, last))
            for position in range(1, last + 1):
                add_event(connection, tenant_id, position)
        yield connection


def add_event(connection: sqlite3.Connection, tenant_id: str, position: int) -> None:
    place = ORDER.index((tenant_id, position)) + 6 if (tenant_id, position) in ORDER else None
    connection.execute(
        "INSERT INTO events (tenant_id, id, type, object, changes, created_at, position,"
        " log_position) VALUES (?, ?, 'made', x'', '{}', 1, ?, ?)",
        (tenant_id, f"{place or position}{tenant_id}", position, place),
    )


def rows_of(source: Source, table: Table) -> list[Row]:
    async def read() -> list[Row]:
        pages: AsyncGenerator[list[Row], None] = source.pages(table)
        rows = [row async for page in pages for row in page]
        assert len(rows) == await source.count(table)
        return rows

    return asyncio.run(read())


def convert(source: SqliteSource, *, to_distributed: bool) -> Source:
    return asyncio.run(positions.convert(source, TABLES, to_distributed=to_distributed))


def store(connection: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    places = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)


def test_a_position_in_the_log_becomes_one_in_each_feed(connection: sqlite3.Connection) -> None:
    store(connection, "log_positions", [("sequencer", 9), ("webhooks", 6), ("mail", 9)])
    moved = convert(SqliteSource(connection), to_distributed=True)
    assert rows_of(moved, CONSUMERS) == [
        ("a", "mail", 4), ("a", "webhooks", 3), ("b", "mail", 2), ("b", "webhooks", 0),
        ("c", "mail", 3), ("c", "webhooks", 3),
    ]  # fmt: skip
    assert rows_of(moved, LOG) == []
    assert {row[3] for row in rows_of(moved, EVENTS)} == {None}


def test_positions_in_feeds_become_one_in_the_log(connection: sqlite3.Connection) -> None:
    reached = {"mail": (4, 1, 3), "webhooks": (3, 0, 3)}
    rows = [
        (tenant_id, name, position)
        for name, each in reached.items()
        for tenant_id, position in zip("abc", each, strict=True)
    ]
    store(connection, "consumer_positions", rows)
    moved = convert(TenantLogs(connection), to_distributed=False)
    # Of the nine events three wait: mail has handled two of them, webhooks none.
    assert rows_of(moved, LOG) == [("mail", 8), ("sequencer", 9), ("webhooks", 6)]
    assert rows_of(moved, CONSUMERS) == []
    log = {row[1]: row[3] for row in rows_of(moved, EVENTS) if row[3]}
    assert log == {"7b": 7, "8a": 8, "9b": 9}


def test_both_ways_give_the_same_rows_again(connection: sqlite3.Connection) -> None:
    names = [("mail", 8), ("sequencer", 9), ("webhooks", 5)]
    store(connection, "log_positions", names)
    before = rows_of(SqliteSource(connection), EVENTS)
    there = convert(SqliteSource(connection), to_distributed=True)
    consumers = rows_of(there, CONSUMERS)
    connection.execute("UPDATE events SET log_position = NULL")
    connection.execute("DELETE FROM log_positions")
    store(connection, "consumer_positions", consumers)
    back = convert(TenantLogs(connection), to_distributed=False)
    assert rows_of(back, LOG) == names
    assert rows_of(back, EVENTS) == before


def test_rows_behind_a_key_continue_an_interrupted_copy(connection: sqlite3.Connection) -> None:
    store(connection, "log_positions", [("sequencer", 9), ("webhooks", 6)])
    moved = convert(SqliteSource(connection), to_distributed=True)

    async def read() -> list[Row]:
        return [row async for page in moved.pages(CONSUMERS, ("a", "webhooks")) for row in page]

    assert asyncio.run(read()) == [("b", "webhooks", 0), ("c", "webhooks", 3)]


def test_databases_of_one_kind_keep_their_positions(connection: sqlite3.Connection) -> None:
    source = SqliteSource(connection)
    assert convert(source, to_distributed=False) is source


def test_consumers_that_left_out_each_others_events_are_named() -> None:
    events = [Event("a", 1, "1"), Event("b", 1, "2")]
    reached = {"mail": {"a": 1}, "webhooks": {"b": 1}}
    with pytest.raises(Unusable, match=r"Run `sealdesk worker` on the source until"):
        count_handled(in_order(events, reached), reached, "webhooks")


def test_events_that_were_handled_come_first_in_the_log() -> None:
    events = [Event("a", 1, "1"), Event("b", 1, "2")]
    reached = {"mail": {"b": 1}, "webhooks": {}}
    ordered = in_order(events, reached)
    assert ordered == [events[1], events[0]]
    assert [count_handled(ordered, reached, name) for name in reached] == [1, 0]


def test_events_of_a_tenant_stay_in_the_order_of_its_feed() -> None:
    events = [Event("a", 1, "9"), Event("a", 2, "1"), Event("b", 1, "5")]
    assert in_order(events, {"mail": {}}) == [events[2], events[0], events[1]]


def test_too_many_waiting_events_are_refused(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "_MAX_WAITING", 8)
    with pytest.raises(Unusable, match="more than 8 events wait for a consumer"):
        convert(TenantLogs(connection), to_distributed=False)
