"""Fills databases to move, and dumps them to compare."""

import sqlite3
from contextlib import closing
from pathlib import Path

MANY = 5_000
# Values that test order, empty values, limits and types; U+FFFF and U+10000 have another order in
# UTF-16.
_ODD = (
    ("é", "", b"", "a\nb\t\"'\\N", 2**63 - 1),
    ("\uffff", "x", b"\0\xff", "{}", -(2**63)),
    ("\U00010000", "🙂", b"\\x00", "NULL", 0),
    ("Z", "ß", b"'", "%s $1", 1),
    ("a b", "\x01\x7f", bytes(range(256)), "\r\n", -1),
)

_INSERT = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at) VALUES (?, ?, ?, ?, ?, ?)
"""
# Every change of a key replaces it by a random number, also the one that copies the keys.
_OF_ITSELF = (
    'INSERT INTO "key_stamp"',
    'INSERT INTO "ticket_stamps"',
    "'oldest_reader'",
    "installation_notes",
)


def add_many(path: Path, count: int = MANY) -> None:
    """Add many events to the first tenant of a database, and some with unusual values."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO events (tenant_id, id, type, object, changes, created_at)"
            " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " SELECT (SELECT min(id) FROM tenants), printf('%08d', i), 'made', randomblob(200),"
            " hex(randomblob(20)), i FROM n",
            (count,),
        )
        (tenant_id,) = connection.execute("SELECT min(id) FROM tenants").fetchone()
        for row in _ODD:
            connection.execute(_INSERT, (tenant_id, *row))


def dump(path: Path) -> list[str]:
    """Return the content of an SQLite file as sorted statements.

    Without what each database has of its own: the stamps of its keys and tickets, its notes, and
    when it was migrated.
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return sorted(
            each for each in connection.iterdump() if not any(own in each for own in _OF_ITSELF)
        )
