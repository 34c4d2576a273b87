"""The benchmark on PostgreSQL, with data so small that only its function is tested."""

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
from bench.databases import cluster, postgres_data
from bench.databases.build import BenchKey
from bench.databases.cluster import CONVENTIONAL, DATABASE, Cluster
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.figures import events, on_postgres, pages, receiving, sending, storage
from bench.load.clients import ExpectedResponse, send_all
from bench.load.requests import CREATED, Workload
from bench.load.signer import TICKETS, Signer
from bench.plan import TINY
from bench.servers import processes
from bench.servers.processes import Cores, Server

from sealdesk import ids
from sealdesk.db.sqlite.connection import connect
from tests.servers import NotHere, not_run, server_directory
from tests.servers.binaries import find_postgres

# Clusters and services start slowly on a loaded machine.
pytestmark = pytest.mark.timeout(300)

_WRITTEN_BY_ROUNDS = ("tickets", "customers")
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
def rows(tiny_data: Data) -> Data:
    return tiny_data


@pytest.fixture(scope="module")
def built(home: Path, rows: Data) -> PostgresData:
    built = postgres_data.prepare(TINY, rows, home)
    # The tests start the first cluster, and the benchmark starts the copy.
    subprocess.run(["cp", "-a", built.directory, _copy(home)], check=True)
    return built


def _copy(home: Path) -> Path:
    directory = home / "copy"
    directory.mkdir(mode=0o711, exist_ok=True)
    return directory


@pytest.fixture(scope="module")
def servers_running(built: PostgresData, rows: Data) -> Iterator[tuple[Cluster, Server]]:
    """The running cluster and the conventional service on it."""
    with ExitStack() as stack:
        cores = stack.enter_context(Cores())
        database = stack.enter_context(cluster.running_cluster(built.directory, built.passwords))
        directory = rows.settings.data_dir
        service = processes.conventional_service(database.conventional_url, directory, cores)
        yield database, stack.enter_context(service)


@pytest.mark.prove
def test_bench_measures_every_figure_on_postgresql_and_deletes_its_rows(
    home: Path, rows: Data, built: PostgresData
) -> None:
    copied = postgres_data.prepare(TINY, rows, _copy(home))
    results = on_postgres.measure(TINY, rows, copied, lambda _: None)

    assert len(results.figures) == 7
    assert all(figure.values or figure.reason for figure in results.figures)
    assert all(
        one_round.database_us is not None
        for rounds in results.rates.values()
        for one_round in rounds
    )
    cleaned = postgres_data.prepare(TINY, rows, _copy(home))
    assert copied == cleaned
    assert copied.passwords == built.passwords
    with cluster.running_cluster(cleaned.directory, cleaned.passwords) as database:
        for schema in ("public", CONVENTIONAL):
            assert database.sql(f"SELECT count(*) FROM {schema}.tickets", DATABASE) == [str(_ALL)]


@pytest.mark.prove
def test_bench_measures_every_figure_of_events_and_webhooks_on_postgresql(
    home: Path, rows: Data, built: PostgresData
) -> None:
    copied = postgres_data.prepare(TINY, rows, _copy(home))
    results = events.on_postgres(TINY, rows, copied, lambda _: None)

    assert len(results.figures) == 10
    assert all(figure.values for figure in results.figures)
    with cluster.running_cluster(copied.directory, copied.passwords) as database:
        remaining = database.sql("SELECT datname FROM pg_database WHERE datname LIKE 'webhooks%'")
    assert remaining == []


@pytest.mark.prove
def test_bench_measures_what_a_new_ticket_writes_on_postgresql(
    home: Path, rows: Data, built: PostgresData
) -> None:
    copied = postgres_data.prepare(TINY, rows, _copy(home))
    results = storage.on_postgres(TINY, rows, copied, lambda _: None)

    assert len(results.figures) == 2
    assert all(min(figure.values) > 0 for figure in results.figures)


@pytest.mark.prove
@pytest.mark.parametrize("kind", [receiving, sending])
def test_bench_measures_e_mail_on_postgresql(
    home: Path, rows: Data, built: PostgresData, kind: ModuleType
) -> None:
    copied = postgres_data.prepare(TINY, rows, _copy(home))
    results = kind.on_postgres(TINY, rows, copied, lambda _: None)

    assert results.figures
    assert all(min(figure.values) > 0 for figure in results.figures)


@pytest.mark.prove
def test_bench_measures_the_inbox_on_postgresql(
    home: Path, rows: Data, built: PostgresData
) -> None:
    copied = postgres_data.prepare(TINY, rows, _copy(home))
    results = pages.on_postgres(TINY, rows, copied, lambda _: None)

    assert len(results.figures) == 9
    assert all(min(figure.values) > 0 for figure in results.figures)
    assert all(
        one_round.database_us is not None
        for rounds in results.rates.values()
        for one_round in rounds
    )


@pytest.mark.parametrize("kind", [events, on_postgres, pages, receiving, sending, storage])
def test_figures_on_postgresql_state_why_they_are_not_measured(kind: ModuleType) -> None:
    results = kind.not_measured(TINY).because("there is none")

    assert {figure.verdict for figure in results.figures} == {"not measured"}
    assert {figure.reason for figure in results.figures} == {"there is none"}


@pytest.mark.prove
def test_conventional_stack_continues_after_the_cursor(
    servers_running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = servers_running
    workload = Workload(TINY, rows)
    first = workload.read(server, TICKETS)
    second = workload.read(server, f"{TICKETS}?cursor={first['meta']['next_cursor']}")

    statement = f"SELECT id FROM {CONVENTIONAL}.tickets WHERE tenant_id = '{rows.big}'"
    newest = database.sql(f"{statement} ORDER BY created_at DESC, id DESC LIMIT 50", DATABASE)
    assert [ticket["id"] for ticket in [*first["data"], *second["data"]]] == newest


@pytest.mark.prove
def test_conventional_stack_stores_ticket_customer_and_event(
    servers_running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = servers_running
    workload = Workload(TINY, rows)
    request = workload.make_posts_in_one_tenant(workload.make_ticket_bodies())(1)
    ticket = _decoded(send_all(server.port, request, CREATED, 1).body)["data"]
    cleaned = workload.big.make_posts(workload.make_ticket_bodies())(1)
    send_all(server.port, cleaned, CREATED, 1)

    one = f"SELECT subject, customer_id FROM {CONVENTIONAL}.tickets WHERE id = '{ticket['id']}'"
    event = f"SELECT payload FROM {CONVENTIONAL}.outbox_events WHERE payload->>'id' = "
    assert database.sql(one, DATABASE) == [f"{ticket['subject']}|{ticket['customer']['id']}"]
    (payload,) = database.sql(f"{event}'{ticket['id']}'", DATABASE)
    assert _decoded(payload.encode()) == ticket


@pytest.mark.prove
def test_conventional_stack_rejects_a_wrong_signature(
    servers_running: tuple[Cluster, Server], rows: Data
) -> None:
    _, server = servers_running
    key = rows.keys_of(rows.big)[0]
    wrong_key = BenchKey(key.tenant_id, key.api_key, "0" * 64)

    for keys, status in (([key], 200), ([wrong_key], 401)):
        send_all(server.port, Signer(keys).make_gets(TICKETS)(1), ExpectedResponse(status), 1)


@pytest.mark.prove
def test_conventional_stack_rejects_a_key_without_the_permission(
    servers_running: tuple[Cluster, Server], rows: Data
) -> None:
    database, server = servers_running
    key = rows.keys_of(rows.small)[0]
    update = f"UPDATE {CONVENTIONAL}.api_keys SET permissions = '{{tickets:write}}'"
    database.sql(f"{update} WHERE key_hash = sha256('{key.api_key}')", DATABASE)

    send_all(server.port, Signer([key]).make_gets(TICKETS)(1), ExpectedResponse(403), 1)


@pytest.mark.prove
def test_postgresql_has_the_same_rows_as_sqlite(
    servers_running: tuple[Cluster, Server], rows: Data
) -> None:
    database, _ = servers_running
    with closing(connect(rows.settings.database_path)) as connection:
        for table in ("tickets", "ticket_tags", "customers", "api_keys", "users"):
            until = f"WHERE id < '{ids.lowest(rows.stamp.until_us)}'"
            query = f"SELECT * FROM {table} {until if table in _WRITTEN_BY_ROUNDS else ''}"
            in_sqlite = [tuple(row) for row in connection.execute(query)]
            in_postgres = asyncio.run(_fetched(database.superuser_url(), query))
            assert len(in_sqlite) > 5
            assert sorted(map(repr, map(_plain, in_postgres))) == sorted(map(repr, in_sqlite)), (
                table
            )


async def _fetched(url: str, query: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(query))
    finally:
        await connection.close()


def _plain(row: Any) -> tuple[object, ...]:
    """The row with booleans as numbers, as in SQLite."""
    return tuple(int(value) if isinstance(value, bool) else value for value in row)


def _decoded(document: bytes) -> Any:
    return msgspec.json.decode(document)
