"""Migrations create the schema that the code expects."""

import json
import shutil
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path

import msgspec
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from sealdesk.db import migrations, schema, schema_version
from sealdesk.db.migrate import sqlite_transaction
from sealdesk.db.schema.metadata import METADATA
from sealdesk.tickets.promises.types import Policy

_ADD_TENANT = text("INSERT INTO tenants (id, name, created_at) VALUES (:id, 'Acme', 1)")
_ADD_DELETED_MAILBOX = text("""
INSERT INTO mailboxes (tenant_id, id, address, address_identity, display_name, signature, receives,
    per_minute, is_paused, created_at, deleted_at, version)
VALUES (:tenant, :id, :address, :id, '', '', 'no', 60, 0, 1, :at, 1)
""")
_ADD_ADDRESS = text("""
INSERT INTO mailbox_directory (address_identity, tenant_id, mailbox_id, receives)
VALUES (:address, :tenant, :id, 'smtp')
""")
_ADD_TAG = "INSERT INTO ticket_tags (tenant_id, tag, ticket_id) VALUES ('a', ?, 't')"
_ADD_VIEW = """
INSERT INTO views (tenant_id, id, owner_id, name, name_identity, query, place, created_at)
VALUES ('a', ?1, '', ?2, ?2, '', 1, 1)
"""


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


def test_addresses_of_mailboxes_deleted_before_0045_stay_with_their_last_desk(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sealdesk.db"
    shutil.copy(template, path)
    deleted = [("Help@acme.test", "a", 1), ("help@acme.test", "b", 2), ("used@acme.test", "a", 3)]
    with sqlite_transaction(path) as connection:
        for tenant in "ab":
            connection.execute(_ADD_TENANT, {"id": tenant})
        for address, tenant, at in deleted:
            values = {"address": address, "tenant": tenant, "id": f"m{at}", "at": at}
            connection.execute(_ADD_DELETED_MAILBOX, values)
        connection.execute(_ADD_ADDRESS, {"address": "used@acme.test", "tenant": "b", "id": "m4"})
        connection.execute(text("DROP INDEX mailbox_directory_tenant"))
        with Operations.context(MigrationContext.configure(connection)):
            import_module("sealdesk.db.migrations.versions.0045_former_addresses").upgrade()
        rows = connection.execute(text("SELECT * FROM mailbox_directory ORDER BY 1")).all()
    found = [tuple(row[:4]) for row in rows]
    assert found == [("help@acme.test", "b", "m2", "former"), ("used@acme.test", "b", "m4", "smtp")]


def test_tags_and_names_from_before_0049_are_found_by_their_identity(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sealdesk.db"
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        _add_row(connection, "tenants", id="a")
        _add_row(connection, "customers", tenant_id="a", id="c")
        _add_row(connection, "tickets", tenant_id="a", id="t", customer_id="c")
        connection.executemany(_ADD_TAG, [("VIP",), ("vip",), ("cafe\u0301",)])
        connection.executemany(_ADD_VIEW, [("1", "new  one"), ("2", "new one"), ("3", "ol\u00add")])
        connection.execute("ALTER TABLE tag_renamings DROP COLUMN ticket_id")
    with sqlite_transaction(path) as migrated:
        with Operations.context(MigrationContext.configure(migrated)):
            import_module("sealdesk.db.migrations.versions.0049_identities").upgrade()
        tags = migrated.execute(text("SELECT tag FROM ticket_tags ORDER BY 1")).scalars().all()
        names = migrated.execute(text("SELECT name_identity FROM views ORDER BY id")).scalars()
        assert tags == ["caf\u00e9", "vip"]
        assert [*names] == ["new  one", "new one", "old"]


def test_an_aim_for_replies_from_before_0056_is_a_policy(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for tenant, settings in {
            "a": '{"reply_minutes": 90}',
            "b": '{"reply_minutes": null}',
        }.items():
            _add_row(connection, "tenants", id=tenant)
            _add_row(connection, "business_hours", tenant_id=tenant, settings=settings)
        for what in ("TABLE sla_policies", "TABLE sla_renewals", "INDEX tickets_due_at"):
            connection.execute(f"DROP {what}")
        connection.execute("DROP INDEX tickets_alert_at")
        for name in ("clocks", "due_at", "alert_at"):
            connection.execute(f"ALTER TABLE tickets DROP COLUMN {name}")
    with sqlite_transaction(path) as migrated:
        with Operations.context(MigrationContext.configure(migrated)):
            import_module("sealdesk.db.migrations.versions.0056_sla_policies").upgrade()
        (row,) = migrated.execute(text("SELECT * FROM sla_policies")).mappings()
        renewed = migrated.execute(text("SELECT tenant_id FROM sla_renewals")).scalars()
        assert [*renewed] == ["a"]
    fields = json.loads(row["settings"]) | {name: row[name] for name in row if name != "tenant_id"}
    del fields["settings"]
    policy = msgspec.convert(fields, Policy)
    assert (policy.first_response_minutes, policy.next_response_minutes) == (90, 90)
    assert (policy.position, policy.counts) == (1, "business")


def test_customers_merged_before_0067_have_their_external_id(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sealdesk.db"
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX customer_merges_external_id")
        connection.execute("ALTER TABLE customer_merges DROP COLUMN external_id")
        _add_row(connection, "tenants", id="a")
        for source, external_id in {"1": '"C-1"', "2": "null"}.items():
            customer = f'{{"external_id": {external_id}}}'
            _add_row(
                connection, "customer_merges", tenant_id="a", source_id=source, customer=customer
            )
    with sqlite_transaction(path) as migrated:
        with Operations.context(MigrationContext.configure(migrated)):
            import_module("sealdesk.db.migrations.versions.0067_merged_external_ids").upgrade()
        ids = migrated.execute(text("SELECT external_id FROM customer_merges ORDER BY source_id"))
        assert [*ids.scalars()] == ["C-1", None]


def _add_row(connection: sqlite3.Connection, table: str, **values: str) -> None:
    """Insert a row with these values, and 0 in all columns that need one."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    needed = {name: "0" for _, name, _, is_needed, _, _ in columns if is_needed}
    row = needed | values
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()])
