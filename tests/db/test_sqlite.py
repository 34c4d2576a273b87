"""Group commit on SQLite: one durable commit for all waiting writes, isolated from each other."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from sealdesk.db import fairness
from sealdesk.db.engine import Tx
from sealdesk.db.sqlite import writer as sqlite_writer
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.errors import BadRequest, ServiceUnavailable
from sealdesk.errors.requests import MISSING_BODY
from tests.support.disk import Disk, watched_disk

T = TypeVar("T")
Job = Callable[[Tx], Awaitable[Any]]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with watched_disk(monkeypatch) as disk:
        yield disk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a table of unique names, and one of children that refer to it."""
    path = tmp_path / "engine.db"
    connection = connect(path)
    connection.execute("CREATE TABLE names (name TEXT PRIMARY KEY)")
    connection.execute("CREATE TABLE children (parent TEXT REFERENCES names)")
    connection.close()
    return path


def _run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@asynccontextmanager
async def _opened(path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(path)
    try:
        yield database
    finally:
        await database.close()


def _add(name: str) -> Job:
    return lambda tx: tx.execute("INSERT INTO names VALUES (:name)", {"name": name})


def test_a_closed_database_holds_no_file_open(path: Path) -> None:
    """Else the lock of this process would outlive it, and end with what opens the file next."""

    async def use() -> SqliteDatabase:
        async with _opened(path) as opened:
            await opened.write(_add_two)
            assert await opened.read(_names) == ["ann", "bo"]
            return opened  # and with it what it refers to

    kept = _run(use())
    held = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.exists()]
    assert not [each for each in held if each.startswith(str(path))], kept


async def _add_two(tx: Tx) -> None:
    sql = "INSERT INTO names VALUES (:name)"
    await tx.execute_many(sql, [{"name": "ann"}, {"name": "bo"}])


async def _names(tx: Tx) -> list[str]:
    return [row["name"] for row in await tx.fetch_all("SELECT name FROM names ORDER BY name", {})]


async def _as_one_group(disk: Disk, database: SqliteDatabase, jobs: list[Job]) -> list[Any]:
    """What each of the jobs gives or raises, run in one transaction."""
    disk.stand_still()
    ahead = asyncio.ensure_future(database.write(_add("ahead")))
    await asyncio.to_thread(disk.is_asked.wait, 60)
    waiting = [asyncio.ensure_future(database.write(job)) for job in jobs]
    await asyncio.sleep(0.01)
    disk.goes_on.set()
    await ahead
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_writes_of_a_tenant_do_not_wait_for_a_thousand_of_another(disk: Disk, path: Path) -> None:
    async def work() -> tuple[int, int]:
        async with _opened(path) as database:
            disk.stand_still()
            flood = [asyncio.ensure_future(database.write(_add(f"a{n}"), "a")) for n in range(1000)]
            await asyncio.to_thread(disk.is_asked.wait, 60)
            others = [
                asyncio.ensure_future(database.write(_add(f"{tenant}{n}"), tenant))
                for tenant in ("b", None)
                for n in range(2)
            ]
            await asyncio.sleep(0)
            disk.goes_on.set()
            await asyncio.gather(*others)
            done_before = sum(each.done() for each in flood)
            await asyncio.gather(*flood)
            return done_before, len(await database.read(_names))

    done_before, total = _run(work())
    assert total == 1004
    assert done_before <= 2 * 32  # the group that was being committed, and the next one


def test_only_the_tenant_with_too_many_waiting_writes_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "MAX_WAITING_WRITES", 5)

    async def write(database: SqliteDatabase, count: int, tenant: str | None) -> int:
        writes = [database.write(_add(f"{tenant}{n}"), tenant) for n in range(count)]
        results = await asyncio.gather(*writes, return_exceptions=True)
        return sum(isinstance(result, ServiceUnavailable) for result in results)

    async def work() -> list[int]:
        async with _opened(path) as database:
            together = [write(database, 8, "a"), write(database, 3, "b"), write(database, 8, None)]
            return [*await asyncio.gather(*together), await write(database, 1, "a2")]

    assert _run(work()) == [3, 0, 0, 0]


def test_waiting_writers_share_one_commit(disk: Disk, path: Path) -> None:
    async def work() -> list[str]:
        async with _opened(path) as database:
            await _as_one_group(disk, database, [_add(f"{n:02}") for n in range(20)])
            return await database.read(_names)

    names = _run(work())
    assert (len(names), disk.commits) == (21, 2)


def test_write_returns_only_after_its_commit_and_reads_do_not_wait(disk: Disk, path: Path) -> None:
    async def work() -> tuple[bool, list[str], list[str]]:
        async with _opened(path) as database:
            disk.stand_still()
            write = asyncio.ensure_future(database.write(_add("a")))
            await asyncio.sleep(0.1)
            was_done, meanwhile = write.done(), await database.read(_names)
            disk.goes_on.set()
            await write
            return was_done, meanwhile, await database.read(_names)

    assert _run(work()) == (False, [], ["a"])


def test_reads_do_not_wait_for_background_writes_and_writes_do(path: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    async def long(tx: Tx) -> None:
        await _add("aside")(tx)
        begun.set()
        goes_on.wait(60)

    async def work() -> tuple[list[str], bool, list[str]]:
        async with _opened(path) as database:
            aside = asyncio.ensure_future(database.write_in_background(long))
            await asyncio.to_thread(begun.wait, 60)
            write = asyncio.ensure_future(database.write(_add("b")))
            await asyncio.sleep(0.01)
            meanwhile, was_done = await database.read(_names), write.done()
            goes_on.set()
            await asyncio.gather(aside, write)
            return meanwhile, was_done, await database.read(_names)

    assert _run(work()) == ([], False, ["aside", "b"])


def test_failed_background_write_is_rolled_back(disk: Disk, path: Path) -> None:
    async def broken(tx: Tx) -> None:
        await _add("broken")(tx)
        raise ZeroDivisionError

    async def work() -> list[str]:
        async with _opened(path) as database:
            with pytest.raises(ZeroDivisionError):
                await database.write_in_background(broken)
            await database.write_in_background(_add("a"))
            return await database.read(_names)

    assert _run(work()) == ["a"]


def test_job_that_fails_leaves_the_others_of_its_group(disk: Disk, path: Path) -> None:
    async def refused(tx: Tx) -> None:
        await _add("refused")(tx)
        raise BadRequest(MISSING_BODY)

    async def broken(tx: Tx) -> None:
        await _add("broken")(tx)
        raise ZeroDivisionError

    async def work() -> tuple[list[Any], list[str]]:
        async with _opened(path) as database:
            jobs = [_add("a"), refused, _add("a"), broken, _add("b")]
            return await _as_one_group(disk, database, jobs), await database.read(_names)

    results, names = _run(work())
    kinds = [type(result) for result in results]
    assert kinds == [int, BadRequest, sqlite3.IntegrityError, ZeroDivisionError, int]
    assert (names, disk.commits) == (["a", "ahead", "b"], 2)


def test_job_that_fails_among_many_is_the_only_one(disk: Disk, path: Path) -> None:
    async def broken(tx: Tx) -> None:
        await _add("broken")(tx)
        raise ZeroDivisionError

    async def work() -> tuple[list[Any], list[str]]:
        async with _opened(path) as database:
            jobs = [*(_add(f"{number:02}") for number in range(31)), broken]
            return await _as_one_group(disk, database, jobs), await database.read(_names)

    results, names = _run(work())
    assert [type(result) for result in results] == [int] * 31 + [ZeroDivisionError]
    assert (names, disk.commits) == ([*(f"{number:02}" for number in range(31)), "ahead"], 2)


def test_job_that_fails_without_a_change_makes_no_other_run_again(disk: Disk, path: Path) -> None:
    runs: list[str] = []

    async def counted(tx: Tx) -> None:
        runs.append("counted")
        await _add("a")(tx)

    async def refused(tx: Tx) -> None:
        await _names(tx)
        raise BadRequest(MISSING_BODY)

    async def work() -> list[Any]:
        async with _opened(path) as database:
            return await _as_one_group(disk, database, [counted, refused, _add("b")])

    assert [type(result) for result in _run(work())] == [type(None), BadRequest, int]
    assert runs == ["counted"]


def test_job_that_fails_only_the_second_time_leaves_the_others(disk: Disk, path: Path) -> None:
    runs: list[str] = []

    async def unsteady(tx: Tx) -> None:
        runs.append("unsteady")
        await _add(f"unsteady {len(runs)}")(tx)
        if len(runs) == 2:
            raise ZeroDivisionError

    async def recovers(tx: Tx) -> None:
        await _add("recovers")(tx)
        if len(runs) == 1:
            raise BadRequest(MISSING_BODY)

    async def work() -> tuple[list[Any], list[str]]:
        async with _opened(path) as database:
            jobs = [_add("a"), unsteady, recovers, _add("b")]
            return await _as_one_group(disk, database, jobs), await database.read(_names)

    results, names = _run(work())
    assert [type(result) for result in results] == [int, ZeroDivisionError, type(None), int]
    assert names == ["a", "ahead", "b", "recovers"]


def test_full_disk_in_one_job_fails_its_whole_group(disk: Disk, path: Path) -> None:
    async def fill(tx: Tx) -> None:
        await tx.fetch_one("PRAGMA max_page_count = 1", {})
        for number in range(1000):
            await _add(f"{number} {'x' * 1000}")(tx)

    async def work() -> tuple[list[Any], list[str], list[str]]:
        async with _opened(path) as database:
            results = await _as_one_group(disk, database, [_add("before"), fill, _add("after")])
            kept = await database.read(_names)
            await database.write(lambda tx: tx.fetch_one("PRAGMA max_page_count = 9999", {}))
            await database.write(_add("later"))
            return results, kept, await database.read(_names)

    results, kept, names = _run(work())
    assert [type(result) for result in results] == [ServiceUnavailable] * 3
    assert (kept, names) == (["ahead"], ["ahead", "later"])


def test_commit_that_fails_fails_its_whole_group(disk: Disk, path: Path) -> None:
    async def orphan(tx: Tx) -> None:
        await tx.execute("PRAGMA defer_foreign_keys = ON", {})
        await tx.execute("INSERT INTO children VALUES ('nobody')", {})

    async def work() -> tuple[list[Any], list[str]]:
        async with _opened(path) as database:
            results = await _as_one_group(disk, database, [_add("a"), orphan, _add("b")])
            await database.write(_add("later"))
            return results, await database.read(_names)

    results, names = _run(work())
    assert [type(result) for result in results] == [ServiceUnavailable] * 3
    assert names == ["ahead", "later"]


def test_another_process_that_holds_the_lock_makes_writes_unavailable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "BUSY_TIMEOUT_MS", 20)

    async def work() -> list[str]:
        other = connect(path)
        async with _opened(path) as database:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(ServiceUnavailable):
                await database.write(_add("a"))
            other.execute("ROLLBACK")
            await database.write(_add("b"))
            other.close()
            return await database.read(_names)

    assert _run(work()) == ["b"]


def test_work_that_awaits_something_else_raises(path: Path) -> None:
    async def work() -> list[str]:
        async with _opened(path) as database:
            with pytest.raises(RuntimeError, match="await nothing but its transaction"):
                await database.write(lambda tx: asyncio.sleep(0))
            await database.write(_add("a"))
            return await database.read(_names)

    assert _run(work()) == ["a"]


def test_write_of_a_cancelled_request_is_committed(disk: Disk, path: Path) -> None:
    async def work() -> list[str]:
        async with _opened(path) as database:
            disk.stand_still()
            write = asyncio.ensure_future(database.write(_add("a")))
            await asyncio.sleep(0.01)
            write.cancel()
            disk.goes_on.set()
            await database.write(_add("b"))
            return await database.read(_names)

    assert _run(work()) == ["a", "b"]


def test_closing_completes_pending_writes(path: Path) -> None:
    async def work() -> list[Any]:
        async with _opened(path) as database:
            writes = [asyncio.ensure_future(database.write(_add(f"{n}"))) for n in range(300)]
            await asyncio.sleep(0)
        return await asyncio.gather(*writes)

    assert _run(work()) == [1] * 300


def test_slow_read_is_ended_and_the_next_one_works(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fairness, "SLOW_READ_LIMIT_S", 0.05)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    async def work() -> tuple[str, list[str]]:
        async with _opened(path) as database:
            with pytest.raises(ServiceUnavailable) as refused:
                await database.read_unindexed(lambda tx: tx.fetch_one(endless, {}))
            return refused.value.code, await database.read_unindexed(_names)

    assert _run(work()) == ("query_too_slow", [])


def test_cancelled_slow_reads_end_and_free_their_slots(path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    async def work() -> list[list[str]]:
        async with _opened(path) as database:
            reads = [
                asyncio.ensure_future(
                    database.read_unindexed(lambda tx: tx.fetch_one(endless, {}), "tenant")
                )
                for _ in range(4)  # two of them wait for a slot
            ]
            await asyncio.sleep(0.02)
            for read in reads:
                read.cancel()
            await asyncio.wait(reads)
            return [await database.read_unindexed(_names, "tenant") for _ in range(4)]

    assert _run(work()) == [[]] * 4


def test_every_connection_is_set_up_for_safety(path: Path) -> None:
    names = ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "wal_autocheckpoint")

    async def settings(tx: Tx) -> list[Any]:
        return [(await tx.fetch_all(f"PRAGMA {name}", {}))[0][0] for name in names]

    async def work() -> tuple[list[Any], ...]:
        async with _opened(path) as database:
            doors = (database.read, database.read_unindexed, database.write)
            return tuple([await door(settings) for door in doors])

    read, read_unindexed, write = _run(work())
    # FULL is 2: at NORMAL, 12 of 40 power cuts lost acknowledged writes (docs/decisions/0005).
    # No commit checkpoints the log: the checkpointer does.
    assert read == read_unindexed == write == ["wal", 2, 1, 0, 0]


def test_files_are_readable_by_their_owner_alone(path: Path) -> None:
    async def work() -> dict[str, int]:
        async with _opened(path) as database:
            await database.write(_add("a"))
            return {file.suffix: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}

    assert _run(work()) == {".db": 0o600, ".db-wal": 0o600, ".db-shm": 0o600}


def test_command_beside_the_server_commits_all_or_nothing(path: Path) -> None:
    async def broken(tx: Tx) -> None:
        await _add("a")(tx)
        raise ZeroDivisionError

    connection = connect(path)
    with pytest.raises(ZeroDivisionError):
        run_now(connection, broken)
    run_now(connection, _add("b"))
    assert run_now(connection, _names) == ["b"]
    connection.close()
