"""The benchmark on PostgreSQL, with numbers so small that it measures nothing."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
import msgspec
import pytest
from bench import (
    cluster,
    data,
    measure_pages,
    measure_postgres,
    measure_webhooks,
    postgres_data,
    servers,
)
from bench.build import BenchKey
from bench.clients import ExpectedResponse, send_all
from bench.cluster import CONVENTIONAL, DATABASE, Cluster
from bench.data import Data
from bench.plan import TINY
from bench.postgres_data import PostgresData
from bench.requests import CREATED, TICKETS, Signer, Workload
from bench.servers import Cores, Server

from sealdesk import ids
from sealdesk.db.sqlite.connection import connect
from tests.servers import NotHere, not_run, server_directory
from tests.servers.binaries import find_postgres

# Its clusters and services take their time to start where much else runs.
pytestmark = pytest.mark.timeout(300)

_WRITTEN = ("tickets", "customers")  # by measuring
_ALL = TINY.big_tickets + TINY.small_tickets + TINY.other_tickets


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    try:
        find_postgres()
    except NotHere as absence:
        not_run(str(absence))
    with server_directory() as directory:
        yield directory


@pytest.fixture(scope="module")
def rows(home: Path) -> Data:
    return data.prepare(TINY, home)


@pytest.fixture(scope="module")
def stored(home: Path, rows: Data) -> PostgresData:
    built = postgres_data.prepare(TINY, rows, home)
    # A cluster runs once at a time, and measuring starts one of its own.
    subprocess.run(["cp", "-a", built.directory, _copy(home)], check=True)
    return built


def _copy(home: Path) -> Path:
    directory = home / "copy"
    directory.mkdir(mode=0o711, exist_ok=True)
    return directory


@pytest.fixture(scope="module")
def running(stored: PostgresData, rows: Data) -> Iterator[tuple[Cluster, Server]]:
    """The cluster, and the conventional service on it."""
    with ExitStack() as stack:
        cores = stack.enter_context(Cores())
        database = stack.enter_context(cluster.running_cluster(stored.directory, stored.passwords))
        directory = rows.settings.data_dir
        other = servers.conventional_service(database.conventional_url, directory, cores)
        yield database, stack.enter_context(other)


@pytest.mark.prove
def test_bench_measures_every_figure_on_postgresql_and_leaves_the_data_as_it_was(
    home: Path, rows: Data, stored: PostgresData
) -> None:
    found = postgres_data.prepare(TINY, rows, _copy(home))
    results = measure_postgres.measure(TINY, rows, found, lambda _: None)

    assert len(results.figures) == 7
    assert all(figure.values or figure.lacking for figure in results.figures)
    assert all(round_.database_us is not None for kept in results.rates.values() for round_ in kept)
    again = postgres_data.prepare(TINY, rows, _copy(home))
    assert found == again
    assert found.passwords == stored.passwords
    with cluster.running_cluster(again.directory, again.passwords) as database:
        for schema in ("public", CONVENTIONAL):
            assert database.sql(f"SELECT count(*) FROM {schema}.tickets", DATABASE) == [str(_ALL)]


@pytest.mark.prove
def test_bench_measures_every_figure_of_events_and_webhooks_on_postgresql(
    home: Path, rows: Data, stored: PostgresData
) -> None:
    found = postgres_data.prepare(TINY, rows, _copy(home))
    results = measure_webhooks.on_postgres(TINY, rows, found, lambda _: None)

    assert len(results.figures) == 8
    assert all(figure.values for figure in results.figures)
    with cluster.running_cluster(found.directory, found.passwords) as database:
        left = database.sql("SELECT datname FROM pg_database WHERE datname LIKE 'webhooks%'")
    assert left == []


@pytest.mark.prove
def test_bench_measures_the_inbox_on_postgresql(
    home: Path, rows: Data, stored: PostgresData
) -> None:
    found = postgres_data.prepare(TINY, rows, _copy(home))
    results = measure_pages.on_postgres(TINY, rows, found, lambda _: None)

    assert len(results.figures) == 9
    assert all(min(figure.values) > 0 for figure in results.figures)
    assert all(round_.database_us is not None for kept in results.rates.values() for round_ in kept)


@pytest.mark.parametrize("kind", [measure_pages, measure_postgres, measure_webhooks])
def test_bench_says_why_there_are_no_figures_on_postgresql(kind: ModuleType) -> None:
    results = kind.not_measured(TINY, "there is none")

    assert {figure.verdict for figure in results.figures} == {"not measured"}
    assert {figure.lacking for figure in results.figures} == {"there is none"}


def test_the_conventional_stack_goes_on_behind_its_cursor(
    running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = running
    work = Workload(TINY, rows)
    first = work.read(server, TICKETS)
    second = work.read(server, f"{TICKETS}?cursor={first['meta']['next_cursor']}")

    of_big = f"SELECT id FROM {CONVENTIONAL}.tickets WHERE tenant_id = '{rows.big}'"
    newest = database.sql(f"{of_big} ORDER BY created_at DESC, id DESC LIMIT 50", DATABASE)
    assert [ticket["id"] for ticket in [*first["data"], *second["data"]]] == newest


def test_the_conventional_stack_stores_ticket_customer_and_event_together(
    running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = running
    work = Workload(TINY, rows)
    request = work.in_one_tenant(work.new_tickets())(1)
    ticket = _decoded(send_all(server.port, request, CREATED, 1).body)["data"]
    again = work.big.posts(work.new_tickets())(1)
    send_all(server.port, again, CREATED, 1)

    one = f"SELECT subject, customer_id FROM {CONVENTIONAL}.tickets WHERE id = '{ticket['id']}'"
    event = f"SELECT payload FROM {CONVENTIONAL}.outbox_events WHERE payload->>'id' = "
    assert database.sql(one, DATABASE) == [f"{ticket['subject']}|{ticket['customer']['id']}"]
    (payload,) = database.sql(f"{event}'{ticket['id']}'", DATABASE)
    assert _decoded(payload.encode()) == ticket


def test_the_conventional_stack_refuses_a_wrong_signature(
    running: tuple[Cluster, Server], rows: Data
) -> None:
    _, server = running
    key = rows.keys_of(rows.big)[0]
    stranger = BenchKey(key.tenant_id, key.api_key, "0" * 64)

    for keys, status in (([key], 200), ([stranger], 401)):
        send_all(server.port, Signer(keys).gets(TICKETS)(1), ExpectedResponse(status), 1)


def test_the_conventional_stack_refuses_a_key_without_the_permission(
    running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = running
    key = rows.keys_of(rows.small)[0]
    mine = f"UPDATE {CONVENTIONAL}.api_keys SET permissions = '{{tickets:write}}'"
    database.sql(f"{mine} WHERE key_hash = sha256('{key.api_key}')", DATABASE)

    send_all(server.port, Signer([key]).gets(TICKETS)(1), ExpectedResponse(403), 1)


def test_postgresql_holds_the_rows_of_sqlite(running: tuple[Cluster, Server], rows: Data) -> None:
    database, _ = running
    with closing(connect(rows.settings.database_path)) as connection:
        for table in ("tickets", "ticket_tags", "customers", "api_keys", "users"):
            until = f"WHERE id < '{ids.lowest(rows.stamp.until_us)}'"
            query = f"SELECT * FROM {table} {until if table in _WRITTEN else ''}"
            here = [tuple(row) for row in connection.execute(query)]
            there = asyncio.run(_fetched(database.superuser_url(), query))
            assert len(here) > 5
            assert sorted(map(repr, map(_plain, there))) == sorted(map(repr, here)), table


async def _fetched(url: str, query: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(query))
    finally:
        await connection.close()


def _plain(row: Any) -> tuple[object, ...]:
    """As SQLite has it, for which a truth value is a number."""
    return tuple(int(value) if isinstance(value, bool) else value for value in row)


def _decoded(document: bytes) -> Any:
    return msgspec.json.decode(document)
