"""Counters give each number once, whoever else writes and whatever is undone."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sealdesk.db.engine import Counter, Tx
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.errors import ServiceUnavailable
from tests.db.drawing import record
from tests.support.service import Service

POSITIONS = Counter("log_positions", key="name", value="position")
_VALUE = "SELECT position FROM log_positions WHERE name = :name LIMIT 1"
_NAME = {"name": "counted"}
_KILLS = 4
_DRAWS = """
import asyncio, sys
from pathlib import Path
from tests.db.drawing import record
from sealdesk.db.sqlite.database import SqliteDatabase

async def draw(database):
    while True:
        print(await database.write(record), flush=True)

async def main():
    database = SqliteDatabase(Path(sys.argv[1]))
    await asyncio.gather(*(draw(database) for _ in range(8)))

asyncio.run(main())
"""


async def _refused(tx: Tx) -> None:
    await record(tx)
    raise ZeroDivisionError


# On both databases


def _draw(service: Service, count: int = 1) -> int:
    return service.write(lambda tx: tx.increment(POSITIONS, "counted", count))


def test_counter_starts_at_zero_and_is_stored(own_service: Service) -> None:
    assert [_draw(own_service), _draw(own_service, 5), _draw(own_service)] == [1, 6, 7]
    assert own_service.rows(_VALUE, **_NAME)[0]["position"] == 7


def test_increment_of_work_that_fails_is_undone(own_service: Service) -> None:
    async def fail(tx: Tx) -> None:
        await tx.increment(POSITIONS, "counted", 5)
        raise ZeroDivisionError

    _draw(own_service)
    with pytest.raises(ZeroDivisionError):
        own_service.write(fail)
    assert _draw(own_service) == 2


def test_statements_and_increments_see_each_other(own_service: Service) -> None:
    async def work(tx: Tx) -> tuple[int, int]:
        await tx.increment(POSITIONS, "counted")
        (row,) = await tx.fetch_all(_VALUE, _NAME)
        await tx.execute("UPDATE log_positions SET position = 10 * position", {})
        return row["position"], await tx.increment(POSITIONS, "counted")

    _draw(own_service)
    own_service.settle()
    seen, after = own_service.write(work)
    assert (seen, after) == (2, 21)


def test_row_is_fetched_beside_the_increment(own_service: Service) -> None:
    async def work(tx: Tx) -> list[Any]:
        await tx.increment(POSITIONS, "counted")
        sql = "SELECT name FROM log_positions WHERE name = :name LIMIT 1"
        value, row = await tx.increment_and_fetch(POSITIONS, "counted", sql, _NAME)
        assert row is not None
        return [value, row["name"], await tx.increment_and_fetch(POSITIONS, "b", sql, {"name": ""})]

    assert own_service.write(work) == [2, "counted", (1, None)]


# On SQLite, where the writer keeps them in memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "counters.db"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (name PRIMARY KEY, last INT, pruned INT NOT NULL)")
        connection.execute("CREATE TABLE drawn (number INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE large (content BLOB)")
    return path


def _run(path: Path, work: Callable[[SqliteDatabase], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        database = SqliteDatabase(path)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(main())


async def _together(database: SqliteDatabase, *jobs: Callable[[Tx], Awaitable[Any]]) -> list[Any]:
    """What each of the jobs gives or raises; they wait at the same time."""
    return await asyncio.gather(*map(database.write, jobs), return_exceptions=True)


def _stored(path: Path) -> tuple[int, list[int]]:
    """The counter's value in its row, and the numbers drawn."""
    with closing(connect(path)) as connection:
        last = connection.execute("SELECT last FROM numbers").fetchone()[0]
        return last, [number for (number,) in connection.execute("SELECT number FROM drawn")]


def test_processes_that_write_in_turn_draw_different_numbers(path: Path) -> None:
    command = (
        "import sys; from pathlib import Path\n"
        "from tests.db.drawing import record\n"
        "from sealdesk.db.sqlite.connection import connect, run_now\n"
        "print(run_now(connect(Path(sys.argv[1])), record))\n"
    )

    def draw_beside() -> int:
        arguments = [sys.executable, "-c", command, str(path)]
        return int(subprocess.run(arguments, capture_output=True, check=True, timeout=120).stdout)

    async def work(database: SqliteDatabase) -> list[int]:
        return [
            await database.write(record),
            await asyncio.to_thread(draw_beside),
            *await asyncio.gather(database.write(record), database.write(record)),
            await asyncio.to_thread(draw_beside),
            await database.write_in_background(record),
        ]

    assert _run(path, work) == [1, 2, 3, 4, 5, 6]
    assert _stored(path) == (6, [1, 2, 3, 4, 5, 6])


def test_what_is_kept_of_a_table_is_as_if_it_was_read_each_time(path: Path) -> None:
    reads = 0

    async def last(tx: Tx) -> int:
        async def read() -> int:
            nonlocal reads
            reads += 1
            ((value,),) = await tx.fetch_all("SELECT sum(last) FROM numbers LIMIT 1", {})
            return int(value)

        return await tx.keep("numbers", "a", read)

    async def change(tx: Tx) -> int:
        await tx.execute("UPDATE numbers SET last = last + 1", {})
        return await last(tx)

    async def fail(tx: Tx) -> None:
        await change(tx)
        raise ZeroDivisionError

    def change_beside() -> None:
        with closing(connect(path)) as connection:
            run_now(connection, change)

    async def work(database: SqliteDatabase) -> list[Any]:
        await database.write(record)
        seen = await _together(database, last, last, fail, last, change, last)
        await asyncio.to_thread(change_beside)
        seen += [await database.write(last), await database.read(last)]
        await asyncio.to_thread(change_beside)
        seen += [await database.read(last), await database.write(last), reads]
        return [*seen, await database.write(last), await database.write(last), reads]

    *found, before, fourth, again, after = [each for each in _run(path, work) if each in range(99)]
    assert [*found, fourth, again] == [1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4]
    assert before == after


def test_number_of_a_job_that_fails_goes_to_the_next(path: Path) -> None:
    async def work(database: SqliteDatabase) -> list[Any]:
        results = await _together(database, record, _refused, record, _refused, record)
        return [*results, await database.write(record)]

    first, second, third, fourth, fifth, last = _run(path, work)
    assert [type(each) for each in (second, fourth)] == [ZeroDivisionError] * 2
    assert (first, third, fifth, last) == (1, 2, 3, 4)
    assert _stored(path) == (4, [1, 2, 3, 4])


def test_numbers_of_a_full_disk_are_drawn_again(path: Path) -> None:
    async def fill(tx: Tx) -> None:
        await record(tx)
        await tx.fetch_one("PRAGMA max_page_count = 1", {})
        await tx.execute("INSERT INTO large VALUES (zeroblob(99999))", {})

    async def work(database: SqliteDatabase) -> tuple[list[Any], int]:
        await database.write(record)
        refused = await _together(database, record, fill, record)
        await database.write(lambda tx: tx.fetch_one("PRAGMA max_page_count = 9999", {}))
        return refused, await database.write(record)

    refused, number = _run(path, work)
    assert [type(each) for each in refused] == [ServiceUnavailable] * 3
    assert number == 2
    assert _stored(path) == (2, [1, 2])


def test_numbers_of_a_commit_that_fails_are_drawn_again(path: Path) -> None:
    async def orphan(tx: Tx) -> None:
        await tx.execute("PRAGMA defer_foreign_keys = ON", {})
        await tx.execute("INSERT INTO children VALUES ('nobody')", {})

    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE children (parent TEXT REFERENCES numbers)")

    async def work(database: SqliteDatabase) -> tuple[list[Any], int]:
        return await _together(database, record, orphan, record), await database.write(record)

    refused, number = _run(path, work)
    assert [type(each) for each in refused] == [ServiceUnavailable] * 3
    assert number == 1
    assert _stored(path) == (1, [1])


def test_key_that_the_database_refuses_fails_only_its_own_work(path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.execute(
            "CREATE TABLE children (parent PRIMARY KEY REFERENCES drawn, last INT NOT NULL)"
        )
    children = Counter("children", key="parent", value="last")

    async def work(database: SqliteDatabase) -> list[Any]:
        return await _together(database, record, lambda tx: tx.increment(children, "x"), record)

    first, refused, third = _run(path, work)
    assert (first, type(refused), third) == (1, sqlite3.IntegrityError, 2)


def test_command_beside_the_server_stores_its_counters(path: Path) -> None:
    with closing(connect(path)) as connection:
        assert [run_now(connection, record), run_now(connection, record)] == [1, 2]
        with pytest.raises(ZeroDivisionError):
            run_now(connection, _refused)
        assert run_now(connection, record) == 3
    assert _stored(path) == (3, [1, 2, 3])


def test_killed_process_gives_no_number_twice(path: Path) -> None:
    answered: list[int] = []
    for kill in range(_KILLS):
        arguments = [sys.executable, "-c", _DRAWS, str(path)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                answered.append(int(line))
                if len(answered) > 37 * (kill + 1):
                    process.send_signal(signal.SIGKILL)
    last, drawn = _stored(path)
    assert len(answered) == len(set(answered)) >= 37 * _KILLS
    assert set(answered) <= set(drawn)
    assert drawn == list(range(1, last + 1))
