"""Migrations create the schema that the code expects, and can be downgraded."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from sealdesk.db import schema_version, tables
from sealdesk.db.migrate import make_config, migrate, sqlite_transaction
from sealdesk.db.schema import metadata


def _is_described(name: str | None, *_: object) -> bool:
    """The index of words and the stamp of keys are SQLite's alone."""
    return not (name or "").startswith(tables.SQLITE_PREFIXES)


def _definition(path: Path) -> dict[str, object]:
    """The tables and indexes of a database, in a normalised order."""
    connection = sqlite3.connect(path)
    found: dict[str, object] = {}
    for kind, name, sql in connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name <> 'alembic_version'"
    ).fetchall():
        if kind == "index":
            found[name] = sql
            continue
        found[name] = (
            sorted(row[1:] for row in connection.execute(f"PRAGMA table_info({name})")),
            sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({name})")),
        )
    connection.close()
    return found


def test_migrations_create_the_tables_of_the_schema(template: Path) -> None:
    with sqlite_transaction(template) as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _is_described})
        assert compare_metadata(context, metadata) == []


def test_migrations_and_schema_create_the_same_database(template: Path, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'direct.db'}")
    metadata.create_all(engine)
    engine.dispose()
    made = _definition(template)
    own = {name for name in made if not _is_described(name)}
    assert {name: made[name] for name in made.keys() - own} == _definition(tmp_path / "direct.db")
    assert own.issuperset(tables.SQLITE_PREFIXES)


def test_known_versions_are_the_migrations_in_order(template: Path) -> None:
    with sqlite_transaction(template) as connection:
        scripts = ScriptDirectory.from_config(make_config(connection)).walk_revisions()
    assert [script.revision for script in scripts] == [*reversed(schema_version.KNOWN_VERSIONS)]


def test_migrations_can_be_downgraded_and_applied_again(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    migrate(path)
    before = _definition(path)
    with sqlite_transaction(path) as connection:
        command.downgrade(make_config(connection), "base")
    assert _definition(path) == {}
    migrate(path)
    assert _definition(path) == before


_AT_0005 = """
INSERT INTO tenants VALUES ('t1', 'One', 1), ('t2', 'Two', 1), ('t3', 'Three', 1);
INSERT INTO events VALUES
    ('t1', 'a', 'ticket.created', x'', '{}', 1, 1), ('t1', 'b', 'ticket.created', x'', '{}', 1, 2),
    ('t2', 'c', 'ticket.created', x'', '{}', 1, 1), ('t1', 'd', 'ticket.created', x'', '{}', 1, 3),
    ('t2', 'e', 'ticket.created', x'', '{}', 1, NULL);
INSERT INTO feed_positions VALUES ('t1', 3, 0), ('t2', 1, 0), ('t3', 0, 0);
INSERT INTO search_progress VALUES ('t1', NULL, 1), ('t2', NULL, 1), ('t3', NULL, 0);
INSERT INTO customer_progress VALUES ('t1', NULL, 2), ('t2', 'x', 0);
"""


def test_the_log_begins_with_the_events_that_the_search_has_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    with sqlite_transaction(path) as connection:
        command.upgrade(make_config(connection), "0005")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_AT_0005)
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, log_position FROM events ORDER BY id").fetchall()
        assert rows == [("a", None), ("b", 1), ("c", 3), ("d", 2), ("e", 4)]
        rows = connection.execute("SELECT * FROM log_positions ORDER BY name").fetchall()
        # Webhooks have had all that had a position in the feed.
        assert rows == [("sequencer", 4), ("webhooks", 3)]
        rows = connection.execute("SELECT * FROM feed_positions ORDER BY tenant_id").fetchall()
        assert rows == [("t1", 3, 0), ("t2", 2, 0), ("t3", 0, 0)]
        rows = connection.execute("SELECT position FROM events WHERE id = 'e'").fetchall()
        assert rows == [(2,)]
        rows = connection.execute("SELECT * FROM search_rebuilds ORDER BY consumer").fetchall()
        # Migration 0024 has the index of tickets made anew.
        assert rows == [("customer_search", "t2", "x")]


def test_an_empty_installation_begins_with_an_empty_log(template: Path) -> None:
    with closing(sqlite3.connect(template)) as connection:
        for table in ("log_positions", "search_rebuilds"):
            assert connection.execute(f"SELECT * FROM {table}").fetchall() == []


def test_segments_of_the_search_are_merged_sixteen_at_a_time(template: Path) -> None:
    with closing(sqlite3.connect(template)) as connection:
        for name in ("search_index", "search_index_customers"):
            rows = connection.execute(f"SELECT v FROM {name}_config WHERE k = 'usermerge'")
            assert rows.fetchall() == [(16,)]


_KNOWN_ADDRESSES = """
INSERT INTO tenants VALUES ('t', 'One', 1);
INSERT INTO users VALUES ('t', 'u', 'a@example.test', 'A', 'agent', NULL, true, 7, 1);
INSERT INTO user_addresses VALUES
    ('t', 'u', '192.0.2.1', 1), ('t', 'u', '2001:db8:1:2:3::4', 2),
    ('t', 'u', '2001:db8:1:2::5', 3), ('t', 'u', '::ffff:192.0.2.9', 4);
"""


def test_addresses_of_log_ins_become_networks(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    with sqlite_transaction(path) as connection:
        command.upgrade(make_config(connection), "0008")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_KNOWN_ADDRESSES)
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT address FROM user_addresses ORDER BY address").fetchall()
        assert rows == [("192.0.2.1",), ("192.0.2.9",), ("2001:db8:1:2::/64",)]
        assert connection.execute("SELECT token_version FROM users").fetchall() == [(7,)]


_AT_0010 = """
INSERT INTO tenants VALUES ('t', 'One', 1);
INSERT INTO users VALUES ('t', 'u', 'Ada@example.test', 'Ada', 'agent', 'hash', true, 0, 1),
    ('t', 'v', 'Bo@example.test', 'Bo', 'agent', NULL, true, 0, 1);
INSERT INTO user_directory VALUES ('ada@example.test', 't', 'u'), ('bo@example.test', 't', 'v');
"""


def test_invited_users_no_longer_hold_their_address(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    with sqlite_transaction(path) as connection:
        command.upgrade(make_config(connection), "0010")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_AT_0010)
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, email_identity FROM users ORDER BY id").fetchall()
        assert rows == [("u", "ada@example.test"), ("v", "bo@example.test")]
        assert connection.execute("SELECT user_id FROM user_directory").fetchall() == [("u",)]
    with sqlite_transaction(path) as connection:
        command.downgrade(make_config(connection), "0010")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT user_id FROM user_directory ORDER BY user_id").fetchall()
        assert rows == [("u",), ("v",)]


_AT_0019 = """
INSERT INTO tenants VALUES ('t', 'One', 1);
INSERT INTO customers VALUES ('t', 'c', 'a@x', 'a@x', NULL, NULL, NULL, NULL, '{}', x'', 1, 1, 1);
INSERT INTO users (tenant_id, id, email, name, role, is_active, token_version, created_at)
    VALUES ('t', 'u', 'u@x', 'U', 'agent', 1, 0, 1);
"""
_TICKET = """
INSERT INTO tickets (tenant_id, id, number, subject, description, status, priority, source,
    customer_id, tags, custom_fields, reply_count, created_at, updated_at, first_response_at,
    version, document)
VALUES ('t', ?, ?, '', '', ?, 1, 'api', 'c', '[]', '{}', ?, 10, 10, ?, 1, x'')
"""
_REPLY = "INSERT INTO replies VALUES ('t', ?, ?, '', ?, ?, 'a', NULL, ?)"


def test_unfinished_tickets_of_earlier_versions_know_who_waits(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    with sqlite_transaction(path) as connection:
        command.upgrade(make_config(connection), "0019")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_AT_0019)
        tickets = [
            *(("asked", "open", 2, 20), ("answered", "pending", 2, 20), ("noted", "open", 0, None)),
            *(("new", "on_hold", 0, None), ("again", "open", 1, None), ("closed", "closed", 1, 20)),
        ]
        for number, (ticket_id, status, replies, response) in enumerate(tickets):
            connection.execute(_TICKET, (ticket_id, number, status, replies, response))
        for reply in (
            *(("asked", "1", 0, "agent", 20), ("asked", "2", 0, "customer", 30)),
            *(("answered", "1", 0, "customer", 15), ("answered", "2", 0, "api_key", 20)),
            *(("noted", "1", 1, "agent", 20), ("again", "1", 0, "customer", 20)),
            ("closed", "1", 0, "agent", 20),
        ):
            connection.execute(_REPLY, reply)
        connection.commit()
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT id, last_reply_by, last_customer_reply_at, waiting_since FROM tickets"
        assert {row[0]: row[1:] for row in connection.execute(sql).fetchall()} == {
            "asked": ("customer", 30, 30),
            "answered": ("api_key", 15, None),
            "noted": (None, None, 10),
            "new": (None, None, 10),
            "again": ("customer", 20, 10),
            "closed": (None, None, None),
        }
        read = connection.execute("SELECT tenant_id, user_id, ticket_id FROM reads").fetchall()
        assert read == [("t", "u", "")]
