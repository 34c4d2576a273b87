"""SQLite as the source or target of a move: an existing file, or a new one."""

import fcntl
import os
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sealdesk.db import schema
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.db.sqlite.connection import connect
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.tables import Event, Row, Table

_MOVE_TABLE = "sealdesk_move"  # a table of the target file until the move is complete
# On SQLite no sequencer gives events their positions: a move gives them to those that wait.
_PLACE_EVENTS = (
    """
INSERT INTO feed_positions (tenant_id, last_position, pruned_position)
SELECT tenant_id, count(*), 0 FROM event_outbox WHERE true GROUP BY tenant_id
ON CONFLICT (tenant_id) DO UPDATE SET last_position = last_position + excluded.last_position
""",
    """
INSERT INTO log_positions (name, position)
SELECT 'sequencer', count(*) FROM event_outbox WHERE true HAVING count(*) > 0
ON CONFLICT (name) DO UPDATE SET position = position + excluded.position
""",
    """
INSERT INTO events (tenant_id, id, type, object, changes, created_at, position, log_position)
SELECT o.tenant_id, o.id, o.type, o.object, o.changes, o.created_at,
    f.last_position + 1 - row_number() OVER (PARTITION BY o.tenant_id ORDER BY o.id DESC),
    l.position + 1 - row_number() OVER (ORDER BY o.id DESC, o.tenant_id DESC)
FROM event_outbox o JOIN feed_positions f ON f.tenant_id = o.tenant_id
JOIN log_positions l ON l.name = 'sequencer'
""",
    "DELETE FROM event_outbox",
)
_FIRST_BEHIND = """
SELECT tenant_id, min(position) FROM events WHERE log_position > ? GROUP BY tenant_id
"""
_EVENTS_BEHIND = """
SELECT tenant_id, position, id FROM events WHERE tenant_id = ? AND position > ?
ORDER BY position LIMIT ?
"""
_FIND_MOVE_TABLE = "SELECT name FROM sqlite_master WHERE name = ? LIMIT 1"


class SqliteSource:
    """The file that a move reads."""

    is_distributed = False

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def check(self, wanted: tuple[Table, ...]) -> None:
        """Raises Unusable unless the file has exactly these tables."""
        names = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " LIMIT 1000"
        )
        ours = {n: self._columns(n) for (n,) in names if not _is_skipped(n)}
        theirs = {table.name: set(table.columns) for table in wanted}
        odd = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
        if odd:
            raise Unusable(
                f"the two databases do not have the same tables: {', '.join(odd)}; the one on"
                " PostgreSQL must hold nothing but Sealdesk"
            )

    def _columns(self, name: str) -> set[str]:
        return {row[1] for row in self._connection.execute(f"PRAGMA table_info({name})")}

    async def count(self, table: Table) -> int:
        return int(self._connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])

    async def pages(
        self, table: Table, after: Row | None = None
    ) -> AsyncGenerator[list[Row], None]:
        key = ", ".join(table.key)
        marks = ", ".join("?" * len(table.key))
        condition = "" if after is None else f"WHERE ({key}) > ({marks})"
        cursor = self._connection.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} {condition} ORDER BY {key}",
            after or (),
        )
        with closing(cursor):
            batch = BatchSize()
            while rows := cursor.fetchmany(batch.rows):
                batch.adapt(rows)
                yield rows

    async def first_behind(self, log_position: int) -> dict[str, int]:
        return dict(self._connection.execute(_FIRST_BEHIND, (log_position,)))

    async def events_behind(self, tenant_id: str, position: int, limit: int) -> list[Event]:
        rows = self._connection.execute(_EVENTS_BEHIND, (tenant_id, position, limit))
        return [Event(*row) for row in rows]


class SqliteTarget(SqliteSource):
    """The new file that a move writes."""

    async def last_key(self, table: Table) -> Row | None:
        order = ", ".join(f"{name} DESC" for name in table.key)
        row: Row | None = self._connection.execute(
            f"SELECT {', '.join(table.key)} FROM {table.name} ORDER BY {order} LIMIT 1"
        ).fetchone()
        return row

    async def add(self, table: Table, rows: list[Row]) -> None:
        marks = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})"
        with self._transaction():
            self._connection.executemany(sql, rows)

    async def mark(self) -> str | None:
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {_MOVE_TABLE} (fingerprint)")
        row = self._connection.execute(f"SELECT fingerprint FROM {_MOVE_TABLE} LIMIT 1").fetchone()
        return None if row is None else str(row[0])

    async def set_mark(self, fingerprint: str) -> None:
        self._connection.execute(f"INSERT INTO {_MOVE_TABLE} VALUES (?)", (fingerprint,))

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        with self._transaction():
            for table in reversed(wanted):
                self._connection.execute(f"DELETE FROM {table.name}")
            self._connection.execute(f"DELETE FROM {_MOVE_TABLE}")

    async def finish(self) -> None:
        self._connection.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            for statement in _PLACE_EVENTS:
                self._connection.execute(statement)
            self._connection.execute(f"DROP TABLE IF EXISTS {_MOVE_TABLE}")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _is_skipped(name: str) -> bool:
    left_out = (schema.VERSION_TABLE, _MOVE_TABLE, *schema.REBUILT)
    return name in left_out or name.startswith(schema.SQLITE_PREFIXES)


def check_source(path: Path) -> None:
    """Raises Unusable unless the file has the current schema."""
    found = schema_version.schema_version(path)
    if found is None:
        raise Unusable(f"there is no installation in {path}; name one with --from")
    if found != KNOWN_VERSIONS[-1]:
        raise Unusable(
            f"{path} has schema {found} and not {KNOWN_VERSIONS[-1]}; run `sealdesk migrate`"
        )


@contextmanager
def open_source(path: Path) -> Iterator[SqliteSource]:
    """Open a file for reading, locked against changes. Raises Unusable, sqlite3.Error."""
    check_source(path)
    with closing(connect(path)) as connection:
        connection.row_factory = None
        # Other writers wait and then fail: a key revoked now would stay valid in the copy.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA query_only = ON")
        if connection.execute(_FIND_MOVE_TABLE, (_MOVE_TABLE,)).fetchone():
            raise Unusable(f"{path} holds an unfinished move, which is not a source")
        yield SqliteSource(connection)
        connection.execute("ROLLBACK")


@contextmanager
def open_target(path: Path) -> Iterator[SqliteTarget]:
    """Open a new file, which has a temporary name until the move is complete. Raises Unusable."""
    if path.exists():
        raise Unusable(f"{path} is there already, and nothing was changed; name a new file")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.moving")
    lock_path = path.with_name(f"{path.name}.moving.lock")
    with lock_path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unusable(f"another `sealdesk move` writes {path}; let it end") from error
        schema_version.ensure_current(part)
        with closing(connect(part, is_checkpointer=True)) as connection:
            connection.row_factory = None
            # If a power failure loses a page, the next attempt copies it again.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield SqliteTarget(connection)
        _publish(part, path)
        lock_path.unlink()


def _publish(part: Path, path: Path) -> None:
    os.link(part, path)  # unlike a rename it never replaces a file
    part.unlink()
    part.with_name(f"{part.name}.migrate-lock").unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
