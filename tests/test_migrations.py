"""Migrations create the schema that the code expects."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from sealdesk.db import migrations, schema
from sealdesk.db.migrate import sqlite_transaction
from sealdesk.db.migrations import schema_version
from sealdesk.db.schema.metadata import METADATA


def _is_described(name: str | None, *_: object) -> bool:
    """The index of words and the stamp of keys are SQLite's alone."""
    return not (name or "").startswith(schema.SQLITE_PREFIXES)


def _definition(path: Path) -> dict[str, object]:
    """The tables and indexes of a database, in a normalised order."""
    connection = sqlite3.connect(path)
    found: dict[str, object] = {}
    for kind, name, sql in connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name <> 'alembic_version'"
    ).fetchall():
        if kind == "index":
            found[name] = " ".join(sql.split()) if sql else None
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
        assert compare_metadata(context, METADATA) == []


def test_migrations_and_schema_create_the_same_database(template: Path, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'direct.db'}")
    METADATA.create_all(engine)
    engine.dispose()
    made = _definition(template)
    own = {name for name in made if not _is_described(name)}
    assert {name: made[name] for name in made.keys() - own} == _definition(tmp_path / "direct.db")
    assert own.issuperset(schema.SQLITE_PREFIXES)


def test_known_versions_are_the_migrations_in_order() -> None:
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent)).walk_revisions()
    assert [script.revision for script in scripts] == [*reversed(schema_version.KNOWN_VERSIONS)]


def test_an_empty_installation_begins_with_an_empty_log(template: Path) -> None:
    with closing(sqlite3.connect(template)) as connection:
        for table in ("log_positions", "search_rebuilds"):
            assert connection.execute(f"SELECT * FROM {table}").fetchall() == []


def test_segments_of_the_search_are_merged_sixteen_at_a_time(template: Path) -> None:
    with closing(sqlite3.connect(template)) as connection:
        for name in ("search_index", "search_index_customers"):
            rows = connection.execute(f"SELECT v FROM {name}_config WHERE k = 'usermerge'")
            assert rows.fetchall() == [(16,)]
