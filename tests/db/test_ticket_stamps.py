"""On SQLite every change of what a tenant's lists of tickets read replaces the tenant's stamp."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy

import pytest

from sealdesk.customers import store as customers
from sealdesk.db.migrate import migrate
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter

# Every filter; each also alone, as it chooses other statements and indexes.
FILTERS = {
    "status": ("open",),
    "priority": ("urgent",),
    "number": 1,
    "customer_id": "c1",
    "assignee_id": "u1",
    "is_unassigned": True,
    "team_id": "g1",
    "is_waiting": True,
    "is_snoozed": True,
    "follower_id": "u1",
    "tag": "a",
    "more_tags": ("b",),
    "external_id": "x",
    "rating": 1,
    "created_after": 1,
    "created_before": 2,
    "updated_after": 1,
    "updated_before": 2,
    "due_before": 3,
    "sort_by": "updated_at",
    "newest_first": False,
}
TABLES = {"tickets", "ticket_tags", "ticket_followers", "customers"}


@pytest.fixture
def file(template: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database in which two tenants have a row in each of these tables."""
    with closing(connect(Path(copy(template, tmp_path / "sealdesk.db")))) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for tenant_id in ("t1", "t2"):
            for table in sorted(TABLES):
                add_row(connection, table, tenant_id)
        yield connection


def add_row(connection: sqlite3.Connection, table: str, tenant_id: str) -> None:
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    names = ", ".join(column["name"] for column in columns)
    values = [tenant_id if column["name"] == "tenant_id" else b"1" for column in columns]
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def stamps(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(map(tuple, connection.execute("SELECT tenant_id, stamp FROM ticket_stamps")))


def columns_read(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """(table, column) of everything that the lists read, with every filter."""
    read: set[tuple[str, str]] = set()

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and column:
            read.add((table or "", column))
        return sqlite3.SQLITE_OK

    tx, page = SqliteTx(connection), PageRequest(25, None)
    filters = [Filter(), *(Filter(**{name: value}) for name, value in FILTERS.items())]  # type: ignore[arg-type]
    filters.append(Filter(sort_by="due_at"))
    connection.set_authorizer(note)
    for each in filters:
        drive(lists.list_tickets(tx, "t1", each, page))
    drive(customers.find_by_email(tx, "t1", "nobody@example.test"))
    connection.set_authorizer(None)
    return read


def test_every_filter_of_the_api_is_among_those_that_are_tried() -> None:
    assert {*FILTERS} == {*Filter.__struct_fields__} - {"index", "customer_ids"}


def test_a_change_of_each_column_that_lists_read_replaces_the_stamp_of_its_tenant_only(
    file: sqlite3.Connection,
) -> None:
    # An address changes only with the row of its customer.
    read = {each for each in columns_read(file) if each[0] != "customer_addresses"}
    assert {table for table, _ in read} == TABLES
    for table, column in sorted(read - {(table, "tenant_id") for table in TABLES}):
        before = stamps(file)
        file.execute(f"UPDATE {table} SET {column} = {column} WHERE tenant_id = 't1'")
        after = stamps(file)
        assert after["t1"] != before["t1"], (table, column)
        assert after["t2"] == before["t2"], (table, column)


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_row_that_is_deleted_or_added_replaces_the_stamp(
    file: sqlite3.Connection, table: str
) -> None:
    seen = [stamps(file)]
    file.execute(f"DELETE FROM {table} WHERE tenant_id = 't1'")
    seen.append(stamps(file))
    add_row(file, table, "t1")
    seen.append(stamps(file))
    assert len({each["t1"] for each in seen}) == 3
    assert len({each["t2"] for each in seen}) == 1


def test_a_migration_replaces_the_stamps(template: Path, tmp_path: Path) -> None:
    path = Path(copy(template, tmp_path / "sealdesk.db"))
    with closing(connect(path)) as connection:
        connection.execute("INSERT INTO ticket_stamps VALUES ('t1', 1)")
        connection.commit()
        migrate(path)
        assert stamps(connection)["t1"] != 1
