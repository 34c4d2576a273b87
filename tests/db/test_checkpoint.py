"""The write-ahead log of SQLite is moved into the database beside the commits."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from sealdesk.db.engine import Tx
from sealdesk.db.sqlite import checkpoint
from sealdesk.db.sqlite import writer as sqlite_writer
from sealdesk.db.sqlite.checkpoint import Checkpointer
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.database import SqliteDatabase
from tests.support.logs import captured_logs

T = TypeVar("T")
_DUE_FRAMES = 40


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints of a few pages, in passes and a rest as those of many."""
    monkeypatch.setattr(sqlite_writer, "DUE_FRAMES", _DUE_FRAMES)
    monkeypatch.setattr(checkpoint, "_REST_FRAMES", 3)


class _Gate:
    """Holds the passes that run beside commits until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_reached, self.is_open = threading.Event(), threading.Event()
        run_pass = Checkpointer._move_and_flush

        def wait_and_run(checkpointer: Checkpointer) -> None:
            self.is_reached.set()
            self.is_open.wait(20)
            run_pass(checkpointer)

        monkeypatch.setattr(Checkpointer, "_move_and_flush", wait_and_run)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> _Gate:
    return _Gate(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "engine.db"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE texts (number INTEGER PRIMARY KEY, body TEXT)")
    return path


def _run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@asynccontextmanager
async def _opened(path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(path)
    try:
        yield opened
    finally:
        await opened.close()


async def _add(opened: SqliteDatabase, count: int) -> None:
    """Writes of one or two pages each, one after another."""

    async def add(tx: Tx) -> None:
        await tx.execute("INSERT INTO texts (body) VALUES (:body)", {"body": "x" * 3000})

    for _ in range(count):
        await opened.write(add)


async def _wait_for_checkpoint(opened: SqliteDatabase) -> None:
    if opened._writer._checkpointing is not None:
        await opened._writer._checkpointing


async def _count(opened: SqliteDatabase) -> int:
    (row,) = await opened.read(lambda tx: tx.fetch_all("SELECT count(*) FROM texts", {}))
    return int(row[0])


def _log_bytes(path: Path) -> int:
    return path.with_name(f"{path.name}-wal").stat().st_size


def test_log_begins_again_while_writes_go_on(path: Path) -> None:
    async def work() -> tuple[int, int]:
        async with _opened(path) as opened:
            for _ in range(15):
                await _add(opened, _DUE_FRAMES)
                await _wait_for_checkpoint(opened)
            return _log_bytes(path), await _count(opened)

    log_bytes, count = _run(work())
    assert count == 600
    assert log_bytes < 600 * 4096 / 2
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (600,)


def test_a_write_does_not_wait_for_a_pass(path: Path, gate: _Gate) -> None:
    async def work() -> tuple[bool, int]:
        async with _opened(path) as opened:
            await _add(opened, _DUE_FRAMES)
            await asyncio.to_thread(gate.is_reached.wait, 60)
            await _add(opened, 5)
            was_open = gate.is_open.is_set()
            gate.is_open.set()
            return was_open, await _count(opened)

    assert _run(work()) == (False, _DUE_FRAMES + 5)


def test_nothing_else_moves_the_log_during_a_pass(path: Path, gate: _Gate) -> None:
    async def work() -> tuple[bool, tuple[int, int, int]]:
        async with _opened(path) as opened:
            await _add(opened, _DUE_FRAMES)
            await asyncio.to_thread(gate.is_reached.wait, 60)
            moving = asyncio.ensure_future(
                opened._writer.run_alone(
                    lambda writer: writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                )
            )
            await _add(opened, 1)
            was_done = moving.done()
            gate.is_open.set()
            return was_done, tuple(await moving)

    was_done, (is_busy, in_log, moved) = _run(work())
    assert not was_done
    assert (is_busy, in_log) == (0, moved)


def test_a_closing_database_waits_for_a_pass(path: Path, gate: _Gate) -> None:
    async def work() -> None:
        opened = SqliteDatabase(path)
        await _add(opened, _DUE_FRAMES)
        await asyncio.to_thread(gate.is_reached.wait, 60)
        closing = asyncio.ensure_future(opened.close())
        await asyncio.sleep(0)
        assert not closing.done()
        gate.is_open.set()
        await closing

    _run(work())
    assert not path.with_name(f"{path.name}-wal").exists()


def test_no_checkpoint_starts_when_the_log_is_moved(path: Path) -> None:
    """A commit may begin the log again just then, and SQLite before 3.51.3 has a bug there."""

    async def work() -> list[str]:
        async with _opened(path) as opened:
            writer = opened._writer
            await _add(opened, 3)
            await writer._checkpoint()
            assert opened._files.count_log_frames() == 0
            statements: list[str] = []
            writer._connection.set_trace_callback(statements.append)
            writer._checkpointer._connection.set_trace_callback(statements.append)
            await writer._checkpoint()
            return statements

    assert _run(work()) == []


def test_a_failed_checkpoint_is_logged_and_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Checkpointer) -> None:
        raise OSError("no space left")

    async def work() -> tuple[int, int]:
        async with _opened(path) as opened:
            with monkeypatch.context() as failing, captured_logs("sealdesk.storage") as events:
                failing.setattr(Checkpointer, "_move_and_flush", fail)
                await _add(opened, 2 * _DUE_FRAMES)
                await _wait_for_checkpoint(opened)
            await _add(opened, 1)
            await _wait_for_checkpoint(opened)
            return len(events), opened._files.count_log_frames()

    failures, frames = _run(work())
    assert failures > 0
    assert frames == 0
