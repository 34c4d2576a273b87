"""Migrations: they make the schema that the code expects, and can be taken back."""

import sqlite3
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
    """The index of words is SQLite's alone."""
    return not (name or "").startswith(tables.SQLITE_INDEX_PREFIX)


def _definition(path: Path) -> dict[str, object]:
    """What the database is made of, whatever the order in which it was written down."""
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


def test_migrations_make_the_tables_of_the_schema(template: Path) -> None:
    with sqlite_transaction(template) as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _is_described})
        assert compare_metadata(context, metadata) == []


def test_migrations_make_what_the_schema_itself_would(template: Path, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'direct.db'}")
    metadata.create_all(engine)
    engine.dispose()
    made = _definition(template)
    index = {name for name in made if not _is_described(name)}
    assert {name: made[name] for name in made.keys() - index} == _definition(tmp_path / "direct.db")
    assert tables.SQLITE_INDEX_PREFIX in index


def test_known_versions_are_the_migrations_in_order(template: Path) -> None:
    with sqlite_transaction(template) as connection:
        scripts = ScriptDirectory.from_config(make_config(connection)).walk_revisions()
    assert [script.revision for script in scripts] == [*reversed(schema_version.KNOWN_VERSIONS)]


def test_migrations_can_be_taken_back_and_made_again(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    migrate(path)
    before = _definition(path)
    with sqlite_transaction(path) as connection:
        command.downgrade(make_config(connection), "base")
    assert _definition(path) == {}
    migrate(path)
    assert _definition(path) == before
