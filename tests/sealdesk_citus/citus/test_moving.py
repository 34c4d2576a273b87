"""`sealdesk move` into a distributed database and out of it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import maintenance_checks, preflight
from sealdesk_move import copy, positions, sessions
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.copy import Summary
from tests.cli.terminal import Terminal
from tests.sealdesk_move.moving import dump
from tests.support.citus import distributed_database, empty_database
from tests.support.databases import Template
from tests.support.tenant_rows import FilledDatabase, filled_database, run

Env = dict[str, str]
# The last five of each tenant wait for a consumer.
_EVENTS = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at, position, log_position)
SELECT '{tenant}', lpad(i::text, 9, '0'), 'made', decode(md5(i::text), 'hex'), U&'\\FFFF' || i, i,
    i + 1, CASE WHEN i > 2995 THEN 5993 + (i - 2996) * 2 + {number} END
FROM generate_series(1, 3000) i
"""
_POSITIONS = (
    "UPDATE events SET log_position = NULL WHERE position = 1",
    "UPDATE feed_positions f SET last_position ="
    " (SELECT max(position) FROM events e WHERE e.tenant_id = f.tenant_id)",
    "DELETE FROM log_positions",
    "DELETE FROM consumer_positions",
    "INSERT INTO log_positions (name, position) VALUES"
    " ('sequencer', 6003), ('webhooks', 5993), ('mail', 6000)",
    "UPDATE event_outbox SET id = 'waits-' || id",
)
_NODES = "SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE noderole = 'primary' LIMIT 100"


@pytest.fixture(scope="module")
def source(postgres_template: Template) -> Iterator[FilledDatabase]:
    """Three tenants with a row in each table, of which two have many events."""
    with filled_database(postgres_template) as filled:
        for number, tenant in enumerate(sorted(filled.tenants)[:2], 1):
            filled.sql(_EVENTS.format(tenant=tenant, number=number))
        filled.sql(*_POSITIONS)
        yield filled


@pytest.fixture(scope="module")
def target(source: FilledDatabase) -> Iterator[Env]:
    """A distributed database, to which the source was moved."""
    with distributed_database() as env:
        move_with_interruptions(source.owner, env["SEALDESK_OWNER_DATABASE_URL"])
        yield env


class Interrupted(Exception):
    """Ends a move at any page."""


class Progress:
    """Ends the move after so many pages that were copied."""

    def __init__(self, pages: int) -> None:
        self._left = pages
        self._stage = ""

    def begin(self, stage: str, table: str, done: int, total: int) -> None:
        self._stage = stage

    def advance(self, rows: int) -> None:
        self._left -= self._stage == "copy"
        if not self._left:
            raise Interrupted


async def move(source: str, target: str, pages: int = -1) -> dict[str, Summary]:
    async with (
        sessions.open_source(source) as (ours, tables),
        sessions.open_target(target) as (theirs, _),
    ):
        shown = await positions.convert(ours, tables, to_distributed=theirs.is_distributed)
        return await copy.move(shown, theirs, tables, Progress(pages))


def move_with_interruptions(source: str, target: str) -> None:
    for pages in (1, 15, 30):
        with pytest.raises(Interrupted):
            run(move(source, target, pages))
        with pytest.raises(Unusable, match="holds an unfinished move"):
            run(preflight.check(target))
    run(move(source, target))


def to_file(url: str, path: Path) -> list[str]:
    """What a move out of this database writes into an SQLite file."""
    Terminal(path.with_name("data")).out("move", "--from", url, "--to", f"sqlite:///{path}")
    return dump(path)


def test_a_move_in_and_out_copies_every_row(
    source: FilledDatabase, target: Env, tmp_path: Path, postgres_template: Template
) -> None:
    expected = to_file(source.owner, tmp_path / "source.db")
    owner = target["SEALDESK_OWNER_DATABASE_URL"]
    assert to_file(owner, tmp_path / "target.db") == expected
    with postgres_template.copied() as env:
        plain = env["SEALDESK_OWNER_DATABASE_URL"]
        move_with_interruptions(owner, plain)
        assert to_file(plain, tmp_path / "plain.db") == expected


def test_a_file_is_moved_by_the_command(source: FilledDatabase, tmp_path: Path) -> None:
    before = to_file(source.owner, tmp_path / "source.db")
    with distributed_database() as env:
        shell = Terminal(tmp_path / "data", **env)
        owner = env["SEALDESK_OWNER_DATABASE_URL"]
        shell.out("move", "--from", f"sqlite:///{tmp_path}/source.db", "--to", owner)
        assert to_file(owner, tmp_path / "back.db") == before


def test_pages_of_a_large_table_are_bounded_and_in_order(
    target: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BatchSize, "adapt", lambda batch, page: setattr(batch, "rows", 70))

    async def look() -> None:
        async with sessions.open_source(target["SEALDESK_OWNER_DATABASE_URL"]) as (found, tables):
            (events,) = [table for table in tables if table.name == "events"]
            pages = [rows async for rows in found.pages(events)]
            keys = [events.key_of(row) for rows in pages for row in rows]
            assert keys == sorted(keys)
            assert len(keys) == await found.count(events) == 6003
            assert {len(rows) for rows in pages[1:-1]} <= {*range(70, 140)}
            middle = keys[3100]
            behind = [row async for rows in found.pages(events, middle) for row in rows]
            assert [events.key_of(row) for row in behind] == keys[3101:]

    run(look())


def test_each_node_has_the_mark_until_the_end(source: FilledDatabase) -> None:
    with distributed_database() as env:
        owner = env["SEALDESK_OWNER_DATABASE_URL"]
        with pytest.raises(Interrupted):
            run(move(source.owner, owner, 20))
        for url in urls_of_nodes(owner):
            with pytest.raises(Unusable, match="holds an unfinished move"):
                run(preflight.check(url))
        # As if the move had ended before every node had its mark.
        last = urls_of_nodes(owner)[-1]
        run(execute(last, "COMMENT ON TABLE alembic_version IS NULL"))
        with pytest.raises(Interrupted):
            run(move(source.owner, owner, 1))
        with pytest.raises(Unusable, match="holds an unfinished move"):
            run(preflight.check(last))
        run(move(source.owner, owner))
        for url in urls_of_nodes(owner):
            with pytest.raises(Unusable, match="owns the tables"):
                run(preflight.check(url))


def test_a_session_on_another_node_is_found(target: Env) -> None:
    owner, worker = target["SEALDESK_OWNER_DATABASE_URL"], target["SEALDESK_WORKER_DATABASE_URL"]
    node = urlsplit(urls_of_nodes(owner)[-1]).netloc.rpartition("@")[2]

    async def look() -> None:
        connection = await asyncpg.connect(owner)
        other = await asyncpg.connect(at_node(worker, node))
        with pytest.raises(Unusable, match=r"in use by a session as .*_worker \(1\)"):
            await maintenance_checks.check_unused(connection)
        await other.close()
        await connection.close()

    run(look())


def test_transactions_that_have_not_ended_on_a_node_are_found(target: Env) -> None:
    owner = target["SEALDESK_OWNER_DATABASE_URL"]
    last = urls_of_nodes(owner)[-1]
    prepare = "BEGIN; CREATE TABLE waits (id text); PREPARE TRANSACTION 'x'"
    run(execute(last, "SET citus.enable_ddl_propagation = off", prepare))
    try:
        with pytest.raises(Unusable, match="1 prepared transactions wait"):
            run(move(owner, owner))
    finally:
        run(execute(last, "ROLLBACK PREPARED 'x'"))


def test_writes_from_any_node_wait_while_the_source_is_read(target: Env) -> None:
    owner = target["SEALDESK_OWNER_DATABASE_URL"]

    urls = urls_of_nodes(owner)

    async def look() -> None:
        async with sessions.open_source(owner):
            for url in urls:
                with pytest.raises(asyncpg.LockNotAvailableError):
                    await execute(url, "SET lock_timeout = '100ms'", "DELETE FROM audit")

    run(look())


def test_a_database_without_tables_is_refused(source: FilledDatabase, tmp_path: Path) -> None:
    with empty_database() as env:
        owner = env["SEALDESK_OWNER_DATABASE_URL"]
        shell = Terminal(tmp_path / "data", **env)
        refusal = shell.refused("move", "--from", source.owner, "--to", owner)
        assert "first run `sealdesk migrate --distribute`" in refusal


async def execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def urls_of_nodes(url: str) -> list[str]:
    async def look() -> list[str]:
        connection = await asyncpg.connect(url)
        rows = await connection.fetch(_NODES)
        await connection.close()
        return sorted(at_node(url, row[0]) for row in rows)

    return asyncio.run(look())


def at_node(url: str, node: str) -> str:
    parts = urlsplit(url)
    who = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{who}@{node}"))
