"""The benchmark on SQLite, with data so small that only its function is tested."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from bench.databases.sqlite_data import Data, prepare
from bench.databases.webhook_databases import DirectSqlite
from bench.figures import (
    client,
    consumers,
    diagnosis,
    events,
    pages,
    receiving,
    screen,
    sending,
    storage,
)
from bench.figures.on_sqlite import measure
from bench.load import clients
from bench.load.requests import CREATED, Workload
from bench.peers.django_helpdesk import installation
from bench.peers.django_helpdesk.installation import HelpdeskUnavailable
from bench.plan import TINY
from bench.servers import processes, switched
from bench.servers.processes import Cores
from bench.servers.switched import Mode

from sealdesk.caller import SYSTEM, Caller
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import PRIORITIES, NewTicket, TicketChange, TicketCustomer

Values = dict[str, object]


@pytest.fixture(scope="module")
def home(tiny_data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("measured")
    shutil.copytree(tiny_data.settings.data_dir, home / TINY.name)
    return home


@pytest.fixture
def data(home: Path) -> Data:
    return prepare(TINY, home)


@pytest.fixture
def connection(data: Data) -> Iterator[sqlite3.Connection]:
    """The database of the benchmark in a transaction that is rolled back."""
    with closing(connect(data.settings.database_path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("ROLLBACK")


@pytest.mark.prove
def test_bench_measures_every_figure_and_deletes_its_rows(home: Path, data: Data) -> None:
    results = measure(TINY, data, HelpdeskUnavailable("no network"), lambda _: None)

    assert len(results.figures) == 20
    measured = [figure for figure in results.figures if not figure.name.endswith("helpdesk")]
    assert len(measured) == 18
    assert all(min(figure.values) > 0 for figure in measured)
    cleaned = prepare(TINY, home)
    assert cleaned.stamp == data.stamp
    with closing(connect(cleaned.settings.database_path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM tickets").fetchone()
    assert count == TINY.big_tickets + TINY.small_tickets + TINY.other_tickets


@pytest.mark.prove
def test_what_a_run_deletes_is_gone_for_the_consumers_too(home: Path, data: Data) -> None:
    caller = Caller(data.big, SYSTEM, frozenset(), "")
    now_us = data.stamp.until_us + 1
    with closing(connect(data.settings.database_path)) as connection:
        tx = SqliteTx(connection)
        connection.execute("BEGIN IMMEDIATE")
        new = NewTicket("Lamp", "It flickers.", TicketCustomer("ada@customer.example"))
        opened = drive(tickets.open_ticket(tx, caller, new, source="api", now_us=now_us))
        change = TicketChange(priority="high")
        drive(
            tickets.change_ticket(tx, caller, opened.id, change, if_match=None, now_us=now_us + 1)
        )
        connection.execute("INSERT OR REPLACE INTO log_positions VALUES ('reports', 0)")
        connection.execute("COMMIT")
        assert _count(connection, "ticket_changes") > 0

        prepare(TINY, home)

        assert _count(connection, "ticket_changes") == 0
        positions = connection.execute("SELECT DISTINCT position FROM log_positions LIMIT 2")
        assert len(positions.fetchall()) == 1


@pytest.mark.prove
def test_bench_compares_with_django_helpdesk(
    data: Data, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("helpdesk")
    try:
        helpdesk = installation.prepare(TINY, home)
    except HelpdeskUnavailable as reason:
        pytest.skip(str(reason))
    results = measure(TINY, data, installation.prepare(TINY, home), lambda _: None)

    compared = [figure for figure in results.figures if figure.name.endswith("helpdesk")]
    assert installation.prepare(TINY, home) == helpdesk
    assert len(compared) == 2
    assert all(min(figure.values) > 1 and min(figure.by_cpu) > 1 for figure in compared)


@pytest.mark.prove
def test_without_a_package_index_django_helpdesk_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    with pytest.raises(HelpdeskUnavailable, match="packages cannot be installed"):
        installation.prepare(TINY, tmp_path)


@pytest.mark.prove
def test_bench_measures_every_figure_of_events_and_webhooks(home: Path, data: Data) -> None:
    results = events.on_sqlite(TINY, data, lambda _: None)

    assert len(results.figures) == 9
    assert all(min(figure.values) > 0 for figure in results.figures)
    assert list(data.settings.data_dir.glob("webhooks-*")) == []


@pytest.mark.prove
def test_bench_measures_posts_with_consumers_and_leaves_no_endpoint(data: Data) -> None:
    results = consumers.measure(TINY, data, lambda _: None)

    assert len(results.figures) == 2
    assert all(min(*figure.values, *figure.by_cpu) > 0 for figure in results.figures)
    sql = DirectSqlite(data.settings.database_path)
    for table in ("endpoints", "deliveries", "attempts"):
        assert sql.fetch_value(f"SELECT count(*) FROM {table}") == 0


@pytest.mark.prove
def test_bench_measures_what_a_new_ticket_writes(data: Data) -> None:
    results = storage.on_sqlite(TINY, data, lambda _: None)

    log_kib, pages = (figure.value or 0 for figure in results.figures)
    assert log_kib > 4 * pages > 0


@pytest.mark.prove
def test_bench_measures_the_inbox_and_the_files_a_browser_fetches(data: Data) -> None:
    results = pages.on_sqlite(TINY, data, lambda _: None)

    *timed, size, requests, other_sites, opening = results.figures
    assert len(timed) == 9
    assert all(min(figure.values) > 0 for figure in timed)
    assert 10 < (size.value or 0) < 150
    assert (requests.value, other_sites.value, opening.value) == (5, 0, 1)
    assert len(results.rates) == 7


@pytest.mark.prove
def test_bench_measures_when_something_is_on_the_screen(data: Data) -> None:
    saved, arrived = screen.on_sqlite(TINY, data, lambda _: None).figures

    assert len(saved.values) == len(arrived.values) == TINY.screen_samples
    assert min(*saved.values, *arrived.values) > 0


def test_a_service_in_unrecorded_mode_stores_no_event(data: Data) -> None:
    workload, sql = Workload(TINY, data), DirectSqlite(data.settings.database_path)
    requests = workload.make_posts_in_one_tenant(workload.make_ticket_bodies())(2)
    counts = []
    with Cores() as cores:
        serving = processes.sealdesk(data.settings, cores, program=processes.SWITCHABLE)
        with serving as server:
            for mode, request in zip((Mode.UNRECORDED, Mode.RECORDED), requests, strict=True):
                before = sql.fetch_value("SELECT count(*) FROM events")
                switched.switch(server.pid, mode)
                clients.send_all(server.port, [request], CREATED, 1)
                counts.append(sql.fetch_value("SELECT count(*) FROM events") - before)

    assert counts[0] == 0
    assert counts[1] > 0


def test_generated_tickets_equal_those_of_the_service(
    data: Data, connection: sqlite3.Connection
) -> None:
    row = connection.execute(
        "SELECT * FROM tickets"
        " WHERE tenant_id = ? AND status = 'open' AND tags <> '[]' AND version = 1 LIMIT 1",
        (data.big,),
    ).fetchone()
    customer = connection.execute(
        "SELECT email FROM customers WHERE id = ?", (row["customer_id"],)
    ).fetchone()
    new = NewTicket(
        subject=row["subject"],
        description=row["description"],
        customer=TicketCustomer(customer["email"]),
        priority=PRIORITIES[row["priority"] - 1],
        tags=msgspec.json.decode(row["tags"]),
        custom_fields=msgspec.json.decode(row["custom_fields"]),
        external_id=row["external_id"],
    )
    caller = Caller(data.big, SYSTEM, frozenset(), "")

    coroutine = tickets.open_ticket(
        SqliteTx(connection), caller, new, source="api", now_us=row["created_at"]
    )
    opened_id = drive(coroutine).id

    opened = connection.execute("SELECT * FROM tickets WHERE id = ?", (opened_id,)).fetchone()
    assert _without(opened, "id", "number") == _without(row, "id", "number")
    assert _tags(connection, opened_id) == _tags(connection, row["id"]) != []


@pytest.mark.prove
def test_generated_customers_equal_those_of_the_service(
    data: Data, connection: sqlite3.Connection
) -> None:
    row = connection.execute(
        "SELECT * FROM customers WHERE tenant_id = ? LIMIT 1", (data.big,)
    ).fetchone()
    new = NewCustomer(row["email"], row["name"])

    coroutine = customers.add_customer(
        SqliteTx(connection), data.small, new, now_us=row["created_at"]
    )
    added_id = drive(coroutine).id

    added = connection.execute("SELECT * FROM customers WHERE id = ?", (added_id,)).fetchone()
    assert _without(added, "id", "tenant_id") == _without(row, "id", "tenant_id")


def _without(row: sqlite3.Row, *names: str) -> Values:
    """The values of a row and of its ready document, without these names."""
    values: Values = dict(row)
    for column in values.keys() & {"document", "reference"}:
        inner = msgspec.json.decode(row[column])
        values[column] = {name: inner[name] for name in inner if name not in names}
    return {name: values[name] for name in values if name not in names}


def _tags(connection: sqlite3.Connection, ticket_id: object) -> list[str]:
    rows = connection.execute(
        "SELECT tag FROM ticket_tags WHERE ticket_id = ? ORDER BY tag", (ticket_id,)
    )
    return [row["tag"] for row in rows]


@pytest.mark.prove
def test_bench_measures_an_export_through_the_client(data: Data) -> None:
    plan = msgspec.structs.replace(TINY, big_tickets=TINY.big_tickets - 100)
    figures = client.on_sqlite(plan, data, lambda _: None).figures
    values = {figure.name: figure.value or 0 for figure in figures}
    assert len(values) == 6
    assert values.pop("growth of that after the first tenth") >= 0
    assert min(values.values()) > 0


@pytest.mark.prove
def test_bench_measures_a_diagnosis_alone_and_in_the_server(data: Data) -> None:
    figures = diagnosis.measure(TINY, data, lambda _: None).figures
    assert [figure.unit for figure in figures] == ["ms"] * 5
    assert all(value > 0 for figure in figures for value in figure.values)


@pytest.mark.prove
def test_bench_measures_the_receiver_of_e_mail(data: Data) -> None:
    figures = receiving.on_sqlite(TINY, data, lambda _: None).figures
    assert [figure.unit for figure in figures] == ["/s", "ms", "MiB"]
    assert all(value > 0 for figure in figures for value in figure.values)


@pytest.mark.prove
def test_bench_measures_sending(data: Data) -> None:
    figures = sending.on_sqlite(TINY, data, lambda _: None).figures
    assert [figure.unit for figure in figures] == ["/s", "ms"]
    assert all(value > 0 for figure in figures for value in figure.values)


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)
