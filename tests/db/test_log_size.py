"""The write-ahead log of SQLite stays small, and what keeps it large is named."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sealdesk.db.sqlite import connection, log, watch
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY
from tests.support.logs import captured_logs
from tests.support.service import Service, wait_until

pytestmark = SQLITE_ONLY
LIMIT_BYTES = 400_000
_READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM tickets").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]) -> Service:
    monkeypatch.setattr(watch, "WATCH_EVERY_S", 0.01)
    monkeypatch.setattr(watch, "MAX_LOG_BYTES", LIMIT_BYTES)
    return start()


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """The id of another process that keeps a snapshot of the database open."""
    command = [sys.executable, "-c", _READER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid
        child.communicate()


def _log_bytes(service: Service) -> int:
    path = service.settings.database_path
    return path.with_name(f"{path.name}-wal").stat().st_size


def _write_large(service: Service) -> None:
    service.run("CREATE TABLE IF NOT EXISTS large (body BLOB)")
    for _ in range(6):
        service.run(f"INSERT INTO large VALUES (zeroblob({LIMIT_BYTES // 4}))")


def test_large_log_is_emptied(limited: Service) -> None:
    _write_large(limited)
    wait_until(lambda: _log_bytes(limited) < LIMIT_BYTES)


def test_reader_of_another_process_is_named_and_the_log_is_emptied_after_it(
    limited: Service,
) -> None:
    path = limited.settings.database_path
    with captured_logs("sealdesk.storage") as events, reading(path) as pid:
        _write_large(limited)
        # Other services of this process log too.
        wait_until(lambda: any(event.get("other_processes") == [pid] for event in events))
        assert log.find_readers(path) == [pid]
        assert _log_bytes(limited) > LIMIT_BYTES
        assert limited.tenant().key().get("/api/v1/external/tickets").status_code == 200
    told = next(event for event in events if event.get("other_processes") == [pid])
    assert told["event"] == "a reader keeps the write-ahead log from being emptied"
    wait_until(lambda: _log_bytes(limited) < LIMIT_BYTES)
    assert log.find_readers(path) == []


def test_size_of_the_log_is_a_metric(limited: Service) -> None:
    limited.tenant()
    wait_until(lambda: limited.state.database.health.log_bytes > 0)
    metrics = Person(limited, "").get("/metrics").text
    (line,) = [line for line in metrics.splitlines() if line.startswith("sealdesk_storage_log")]
    assert float(line.split()[1]) > 0


def test_log_is_cut_after_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]
) -> None:
    monkeypatch.setattr(connection, "KEPT_LOG_BYTES", LIMIT_BYTES)
    service = start()
    _write_large(service)
    assert _log_bytes(service) > LIMIT_BYTES

    service.in_serving(
        lambda state: state.database._writer.run_alone(  # type: ignore[attr-defined]
            lambda writer: writer.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        )
    )
    service.tenant()
    assert _log_bytes(service) <= LIMIT_BYTES
