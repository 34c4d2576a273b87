"""On PostgreSQL every change of what the look-up of a key reads replaces the stamp of keys."""

from collections.abc import Iterator

import asyncpg
import pytest

from tests.support.databases import Template
from tests.support.tenant_rows import run

# The guard remembers by itself when it stored the last use.
NOT_STAMPED = {("api_keys", "last_used_at")}
_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_name IN ('api_keys', 'api_key_directory') ORDER BY 1, 2
"""


@pytest.fixture(scope="module")
def owner_url(postgres_template: Template) -> Iterator[str]:
    with postgres_template.copied() as env:
        yield env["SEALDESK_OWNER_DATABASE_URL"]


async def _is_replaced_by(url: str, sql: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        before = await connection.fetchval("SELECT stamp FROM key_stamp")
        await connection.execute(sql)
        return bool(await connection.fetchval("SELECT stamp FROM key_stamp") != before)
    finally:
        await connection.close()


async def _columns(url: str) -> set[tuple[str, str]]:
    connection = await asyncpg.connect(url)
    try:
        return {(row[0], row[1]) for row in await connection.fetch(_COLUMNS)}
    finally:
        await connection.close()


def test_a_change_of_each_column_replaces_the_stamp(owner_url: str) -> None:
    columns = run(_columns(owner_url))
    assert columns >= {("api_key_directory", "key_hash"), ("api_keys", "revoked_at"), *NOT_STAMPED}
    for table, column in sorted(columns):
        is_replaced = run(_is_replaced_by(owner_url, f"UPDATE {table} SET {column} = {column}"))
        assert is_replaced is ((table, column) not in NOT_STAMPED), (table, column)


@pytest.mark.parametrize("table", ["api_keys", "api_key_directory"])
@pytest.mark.parametrize("change", ["INSERT INTO {0} SELECT * FROM {0}", "DELETE FROM {0}"])
def test_added_and_removed_keys_replace_the_stamp(owner_url: str, table: str, change: str) -> None:
    assert run(_is_replaced_by(owner_url, change.format(table)))


@pytest.mark.parametrize("table", ["api_keys", "api_key_directory"])
def test_emptied_tables_of_keys_replace_the_stamp(owner_url: str, table: str) -> None:
    assert run(_is_replaced_by(owner_url, f"TRUNCATE {table} CASCADE"))
