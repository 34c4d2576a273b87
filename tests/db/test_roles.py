"""Policies, rights and collation of a migrated PostgreSQL database."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from sealdesk.db import schema
from sealdesk.db.migrate import postgres_transaction
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import roles
from sealdesk.db.schema import metadata
from sealdesk.db.schema.metadata import METADATA
from tests.support.databases import Template
from tests.support.statements import statements
from tests.support.tenant_rows import of_tenants, run

Env = dict[str, str]
_RELATIONS = "pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'"
_OF_TENANT = (
    "(tenant_id = ( SELECT NULLIF(current_setting('sealdesk.tenant_id'::text, true), ''::text)"
    ' AS "nullif"))'
)
SERVED = [
    found
    for found in statements()
    if not (found.is_of_worker or found.function or found.is_of_index)
]


@pytest.fixture(scope="module")
def env(postgres_template: Template) -> Iterator[Env]:
    with postgres_template.copied() as env:
        yield env


@pytest.fixture
def own_env(postgres_template: Template) -> Iterator[Env]:
    with postgres_template.copied() as env:
        yield env


def _look(template: Template, env: Env, sql: str) -> list[list[str]]:
    database = env["SEALDESK_DATABASE_URL"].rpartition("/")[2]
    return [line.split("|") for line in template.access.sql(sql, database)]


def _migrate(env: Env) -> None:
    schema_version.migrate_postgres(
        env["SEALDESK_OWNER_DATABASE_URL"],
        runtime_url=env["SEALDESK_DATABASE_URL"],
        worker_url=env["SEALDESK_WORKER_DATABASE_URL"],
    )


def _state(template: Template, env: Env) -> list[list[list[str]]]:
    return [
        _look(template, env, _COLUMNS),
        _look(template, env, _POLICIES),
        _look(template, env, _RIGHTS),
        _look(template, env, _INDEXES),
    ]


_COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable, collation_name
FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2
"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
_POLICIES = """
SELECT tablename, policyname, array_to_string(roles, ','), permissive, cmd, qual,
    coalesce(with_check, '') FROM pg_policies WHERE schemaname = 'public' ORDER BY 1, 2
"""
_RIGHTS = f"""
SELECT c.relname, a.grantee::regrole, string_agg(a.privilege_type, ' ' ORDER BY a.privilege_type)
FROM (SELECT * FROM {_RELATIONS}) c, aclexplode(c.relacl) a WHERE a.grantee <> c.relowner
GROUP BY 1, 2 ORDER BY 1, 2
"""


def test_row_level_security_is_forced_on_every_tenants_table(
    postgres_template: Template, env: Env
) -> None:
    sql = f"SELECT relname FROM {_RELATIONS} AND relrowsecurity AND relforcerowsecurity"
    assert sorted(name for (name,) in _look(postgres_template, env, sql)) == sorted(of_tenants())


def test_policies_are_exactly_these(postgres_template: Template, env: Env) -> None:
    worker = postgres_template.worker[0]
    expected = []
    for name in of_tenants():
        expected.append([name, "owner", "owner", "PERMISSIVE", "ALL", "true", ""])
        expected.append([name, "tenant", "public", "PERMISSIVE", "ALL", _OF_TENANT, ""])
        if schema.TABLES[name].worker:
            expected.append([name, "worker", worker, "PERMISSIVE", "ALL", "true", ""])
    assert _look(postgres_template, env, _POLICIES) == sorted(expected)


def test_server_role_has_only_the_rights_of_its_statements(
    postgres_template: Template, env: Env
) -> None:
    needed = {name: {"SELECT", "INSERT"} for name in metadata.tables}
    needed |= {schema.VERSION_TABLE: {"SELECT"}, schema.KEY_STAMP: {"SELECT"}}
    for statement in SERVED:
        needed[statement.tables[0]].add(statement.verb)
        if "DO UPDATE" in statement.sql:
            needed[statement.tables[0]].add("UPDATE")
    needed["ticket_numbers"].add("UPDATE")  # by Tx.increment_and_fetch
    assert _rights(postgres_template, env, postgres_template.runtime[0]) == needed


def _rights(template: Template, env: Env, role: str) -> dict[str, set[str]]:
    rows = _look(template, env, _RIGHTS)
    return {table: set(rights.split()) for table, grantee, rights in rows if grantee == role}


def test_worker_role_has_only_the_rights_of_its_statements(
    postgres_template: Template, env: Env
) -> None:
    expected = {name: {*table.worker} for name, table in schema.TABLES.items() if table.worker}
    expected |= {schema.VERSION_TABLE: {"SELECT"}}
    assert _rights(postgres_template, env, postgres_template.worker[0]) == expected


def test_other_roles_have_no_rights(postgres_template: Template, env: Env) -> None:
    grantees = {grantee for _, grantee, _ in _look(postgres_template, env, _RIGHTS)}
    assert grantees == {postgres_template.runtime[0], postgres_template.worker[0]}


def test_roles_have_no_special_attributes(postgres_template: Template, env: Env) -> None:
    names = f"'{postgres_template.runtime[0]}', '{postgres_template.worker[0]}'"
    powers = "rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication"
    sql = f"SELECT rolname FROM pg_roles WHERE rolname IN ({names}) AND ({powers})"
    assert _look(postgres_template, env, sql) == []


def test_text_is_sorted_by_its_bytes(postgres_template: Template, env: Env) -> None:
    columns = _look(postgres_template, env, _COLUMNS)
    others = [row for row in columns if row[2] in ("text", "character varying") and row[4] != "C"]
    assert [row[0] for row in others] == [schema.VERSION_TABLE]


def _is_described(name: str | None, *_: object) -> bool:
    """The indexes of words and the stamp of keys are made by migrations only."""
    own = ("search_documents_words", "customer_documents_words", schema.KEY_STAMP)
    return name not in own


def test_migrations_create_the_tables_of_the_schema(env: Env) -> None:
    def compare(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"include_name": _is_described})
        return list(compare_metadata(context, METADATA))

    assert run(_on(env, compare)) == []


async def _on(env: Env, work: object) -> object:
    async with postgres_transaction(env["SEALDESK_OWNER_DATABASE_URL"]) as connection:
        return await connection.run_sync(work)  # type: ignore[arg-type]


def test_migrating_again_changes_nothing(postgres_template: Template, own_env: Env) -> None:
    before = _state(postgres_template, own_env)
    _migrate(own_env)
    assert _state(postgres_template, own_env) == before


@pytest.mark.prove
def test_two_migrations_at_once_end_in_one_schema(postgres_template: Template, env: Env) -> None:
    name = f"{postgres_template.name}_twice"
    postgres_template.access.create_database(name)
    new = postgres_template.env(name)
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_migrate, [new, new]))
        assert _state(postgres_template, new) == _state(postgres_template, env)
    finally:
        postgres_template.access.drop_database(name)


def test_a_development_schema_is_not_migrated(postgres_template: Template, own_env: Env) -> None:
    database = own_env["SEALDESK_DATABASE_URL"].rpartition("/")[2]
    postgres_template.access.sql("UPDATE alembic_version SET version_num = '0042'", database)
    before = _state(postgres_template, own_env)
    with pytest.raises(Unusable, match=r"nothing was changed: it has schema 0042 .* check out"):
        _migrate(own_env)
    assert _state(postgres_template, own_env) == before


def test_owner_cannot_be_the_server_role(env: Env) -> None:
    owner = env["SEALDESK_OWNER_DATABASE_URL"]
    with pytest.raises(Unusable, match="owner of the tables and must not serve"):
        schema_version.migrate_postgres(owner, runtime_url=owner, worker_url="")


def test_a_role_does_not_show_its_password() -> None:
    role = roles.read_role("postgresql://desk:s3cret@host/base")
    assert role.password == "s3cret"
    assert "s3cret" not in repr(role)
