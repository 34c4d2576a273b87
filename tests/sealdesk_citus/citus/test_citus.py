"""A database that is distributed over nodes of Citus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg
import pytest

from sealdesk.db import schema
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import preflight
from sealdesk.db.schema import metadata
from sealdesk.db.schema.definitions import BY_TENANT
from sealdesk_citus import nodes
from tests.cli.terminal import Terminal
from tests.support.citus import SHARDS, migrate
from tests.support.service import random_key
from tests.support.tenant_rows import FilledDatabase, of_tenants, row_of, run

Env = dict[str, str]
# The role that serves may not ask several shards; here it tries.
_ALL_SHARDS = "SET citus.multi_task_query_log_level = 'off'"
_KINDS = "SELECT table_name::text AS name, colocation_id, shard_count FROM citus_tables"


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url, statement_cache_size=0)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def _of_tenant(connection: asyncpg.Connection, tenant: str) -> AsyncIterator[None]:
    """A transaction of a tenant on all nodes."""
    async with connection.transaction():
        await connection.execute("SET LOCAL citus.propagate_set_commands = 'local'")
        await connection.execute(f"SET LOCAL sealdesk.tenant_id = '{tenant}'")
        yield


def test_distributing_again_changes_nothing(env: Env) -> None:
    async def look() -> list[tuple[str, int, int]]:
        async with _connected(env["SEALDESK_OWNER_DATABASE_URL"]) as connection:
            return sorted((row[0], row[1], row[2]) for row in await connection.fetch(_KINDS))

    before = run(look())
    assert migrate(env) == []
    assert run(look()) == before
    assert len(before) == len(metadata.tables) + 2
    of_tenant = [row for row in before if row[0] in of_tenants()]
    # A tenant that was isolated has a shard more.
    ((_, shards),) = {row[1:] for row in of_tenant}
    assert shards >= SHARDS


@pytest.mark.parametrize(
    ("role", "is_worker"),
    [("SEALDESK_DATABASE_URL", False), ("SEALDESK_WORKER_DATABASE_URL", True)],
)
def test_the_roles_may_serve(env: Env, role: str, is_worker: bool) -> None:
    run(preflight.check(env[role], is_worker=is_worker))


@pytest.mark.parametrize(
    ("role", "fault"),
    [
        ("SEALDESK_OWNER_DATABASE_URL", "owns the tables"),
        ("SEALDESK_WORKER_DATABASE_URL", "of all tenants"),
    ],
)
def test_a_role_that_sees_all_tenants_may_not_serve(env: Env, role: str, fault: str) -> None:
    with pytest.raises(Unusable, match=fault):
        run(preflight.check(env[role]))


@pytest.mark.parametrize("name", of_tenants())
def test_unfiltered_statements_reach_only_rows_of_the_tenant(
    filled: FilledDatabase, name: str
) -> None:
    own, foreign, _ = filled.tenants
    column = BY_TENANT.column
    other = next(key.name for key in metadata.tables[name].columns if key.name != column)
    rights = schema.TABLES[name].runtime
    changes = [f"UPDATE {name} SET {other} = {other}"] * ("UPDATE" in rights)
    changes += [f"DELETE FROM {name}"] * ("DELETE" in rights)
    values = row_of(metadata.tables[name], foreign)
    places = ", ".join(f"${number + 1}" for number in range(len(values)))
    added = f"INSERT INTO {name} ({', '.join(values)}) VALUES ({places})"

    async def work() -> None:
        async with _connected(filled.runtime) as connection:
            await connection.execute(_ALL_SHARDS)
            async with _of_tenant(connection, own):
                seen = await connection.fetch(f"SELECT DISTINCT {column} FROM {name}")
                assert [row[0] for row in seen] == [own]
            assert await connection.fetch(f"SELECT * FROM {name}") == []
            for change in changes:
                with suppress(asyncpg.ForeignKeyViolationError):
                    async with _of_tenant(connection, own):
                        assert int((await connection.execute(change)).split()[-1]) == 1
                        raise asyncpg.ForeignKeyViolationError("taken back")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with _of_tenant(connection, own):
                    await connection.execute(added, *values.values())

    before = filled.contents(foreign)
    run(work())
    assert filled.contents(foreign) == before

    async def seen_by_owner() -> int:
        async with _connected(filled.owner) as connection:
            return int(await connection.fetchval(f"SELECT count(*) FROM {name}"))

    assert run(seen_by_owner()) >= 3, "the owner must see all"


@pytest.mark.parametrize("kind", ["ticket", "customer"])
def test_the_search_finds_rows_of_the_tenant_and_refuses_others(
    filled: FilledDatabase, kind: str
) -> None:
    own, foreign, _ = filled.tenants
    search = f"SELECT {kind}_id FROM search_{kind}s($1, $2::text::tsquery, '~', 25)"

    async def find(tenant: str) -> list[str]:
        async with _connected(filled.runtime) as connection, _of_tenant(connection, own):
            rows = await connection.fetch(search, tenant, f"'mark-{tenant}'")
            return [row[0] for row in rows]

    assert run(find(own)) == [f"mark-{own}"]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        run(find(foreign))


def test_a_tenant_is_isolated_and_moved_while_it_is_written(filled: FilledDatabase) -> None:
    tenant, stored, copied = filled.tenants[2], [0], []
    insert = (
        "INSERT INTO audit (tenant_id, id, action, actor_kind, actor_id, actor_name, address,"
        " details, created_at) VALUES ($1, $2, 'a', 'k', 'i', 'n', 'x', '{}', 1)"
    )

    async def write(has_ended: asyncio.Event) -> None:
        async with _connected(filled.runtime) as connection:
            while not has_ended.is_set():
                async with _of_tenant(connection, tenant):
                    await connection.execute(insert, tenant, f"written-{stored[0]:09}")
                stored[0] += 1

    async def move() -> None:
        async with nodes.opened(filled.owner) as owner:
            places = [node.node for node in await nodes.list_nodes(owner, 0.1) if node.bytes]
            shard = await nodes.isolate(owner, tenant)
            found = await nodes.list_shards(owner)
            (place,) = [row["node"] for row in found if row["shard"] == shard]
            target = next(node for node in places if node not in (place, places[0]))
            report = lambda done, total: copied.append((done, total))  # noqa: E731
            assert await nodes.move(owner, filled.owner, shard, target, report)
            assert not await nodes.move(owner, filled.owner, shard, target, report)

    async def both() -> int:
        has_ended = asyncio.Event()
        writing = asyncio.ensure_future(write(has_ended))
        await move()
        has_ended.set()
        await writing
        sql = "SELECT count(*) FROM audit WHERE tenant_id = $1 AND id LIKE 'written-%'"
        async with _connected(filled.owner) as connection:
            return int(await connection.fetchval(sql, tenant))

    assert run(both()) == stored[0] > 0


def test_the_commands_see_the_nodes(env: Env, filled: FilledDatabase, tmp_path: Path) -> None:
    shell = Terminal(tmp_path / "data", **env)
    found = shell.json("nodes", "list")
    assert len(found["nodes"]) > 1
    assert {row["shard"] for row in found["largest_tenants"]} <= {
        row["shard"] for row in found["shards"]
    }
    findings = shell.json("nodes", "doctor")
    assert {each["state"] for each in findings} == {"good"}, findings
    assert "Distributed 0 tables" in shell.out("migrate", "--distribute")


def test_a_backup_in_one_file_is_refused(env: Env, tmp_path: Path) -> None:
    keys = {"SEALDESK_MASTER_KEY": random_key(), "SEALDESK_JWT_SECRET": random_key()}
    done = Terminal(tmp_path / "data", **env, **keys).run("backup", str(tmp_path / "backup"))
    assert done.returncode
    assert "distributed over nodes with Citus" in done.stderr


def test_an_epoch_begins_after_a_recovery_of_all_nodes(env: Env, tmp_path: Path) -> None:
    shell = Terminal(tmp_path, **{**env, "SEALDESK_MASTER_KEY": random_key()})
    assert "A new epoch has begun" in shell.out("restore", "--epoch-only")
