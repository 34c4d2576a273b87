"""On SQLite every change of what the look-up of a key reads replaces the stamp of keys."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy

import pytest

from sealdesk.api_keys import rules, store
from sealdesk.api_keys.types import ApiKey
from sealdesk.db.migrate import migrate
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive

HASH = b"h" * 32
KEY = ApiKey("t1", "k1", "Shop", "tk_live_", (), 1000, None, "off", None, None, None, b"s", 1, 1)
# The guard remembers by itself when it stored the last use.
NOT_STAMPED = {("api_keys", "last_used_at")}
REMOVALS = ("DELETE FROM api_key_directory", "DELETE FROM api_keys")


@pytest.fixture
def file(template: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database with one key."""
    with closing(connect(Path(copy(template, tmp_path / "sealdesk.db")))) as connection:
        connection.execute("INSERT INTO tenants VALUES ('t1', 'One', 1)")
        drive(store.add(SqliteTx(connection), KEY, HASH))
        yield connection


def stamp(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT stamp FROM key_stamp").fetchone()[0])


def columns_read(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """(table, column) of everything that the look-up of a key reads."""
    read: set[tuple[str, str]] = set()

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ:
            read.add((table or "", column or ""))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    assert drive(store.find_by_hash(SqliteTx(connection), HASH)) is not None
    connection.set_authorizer(None)
    return read


def test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp(
    file: sqlite3.Connection,
) -> None:
    read = columns_read(file)
    assert read >= {("api_key_directory", "key_hash"), ("api_keys", "revoked_at"), *NOT_STAMPED}
    for table, column in sorted(read - NOT_STAMPED):
        before = stamp(file)
        file.execute(f"UPDATE {table} SET {column} = {column}")
        assert stamp(file) != before, (table, column)


def test_an_added_key_replaces_the_stamp_with_each_of_its_rows(file: sqlite3.Connection) -> None:
    for removal in REMOVALS:
        file.execute(removal)
    stamps = [stamp(file)]
    tx = SqliteTx(file)
    drive(tx.execute_one(store._ADD, store._params(KEY)))
    stamps.append(stamp(file))
    of_key = {"key_hash": HASH, "tenant_id": KEY.tenant_id, "key_id": KEY.id}
    drive(tx.execute_one(store._ADD_TO_DIRECTORY, of_key))
    stamps.append(stamp(file))
    assert len({*stamps}) == 3


@pytest.mark.parametrize("removal", REMOVALS)
def test_a_removed_row_of_a_key_replaces_the_stamp(file: sqlite3.Connection, removal: str) -> None:
    before = stamp(file)
    file.execute(removal)
    assert stamp(file) != before


def test_a_replaced_row_of_a_key_replaces_the_stamp(file: sqlite3.Connection) -> None:
    before = stamp(file)
    file.execute("INSERT OR REPLACE INTO api_keys SELECT * FROM api_keys")
    assert stamp(file) != before


def test_a_use_of_a_key_leaves_the_stamp(file: sqlite3.Connection) -> None:
    before = stamp(file)
    drive(store.record_use(SqliteTx(file), KEY.tenant_id, KEY.id, rules.LAST_USED_STEP_US))
    assert file.execute("SELECT last_used_at FROM api_keys").fetchone()[0] is not None
    assert stamp(file) == before


def test_a_migration_replaces_the_stamp(template: Path, tmp_path: Path) -> None:
    path = Path(copy(template, tmp_path / "sealdesk.db"))
    with closing(connect(path)) as connection:
        before = stamp(connection)
        migrate(path)
        assert stamp(connection) != before
