"""The files of an SQLite database are removed, replaced or truncated while it is served."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from sealdesk.db.sqlite import watch
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.db.sqlite.log import truncate_log
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY
from tests.support.logs import captured_logs
from tests.support.service import Service, wait_until

pytestmark = SQLITE_ONLY
TICKETS = "/api/v1/external/tickets"
NEW = {"subject": "A subject", "description": "Text", "customer": {"email": "c@example.test"}}


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]) -> Service:
    """A service that looks at its files often."""
    monkeypatch.setattr(watch, "WATCH_EVERY_S", 0.01)
    return start()


def _replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def _remove_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


LOSSES = pytest.mark.parametrize("lose", [Path.unlink, _replace, _truncate, _remove_log])


@LOSSES
def test_no_write_is_acknowledged_once_the_files_are_lost(
    own_service: Service, lose: Callable[[Path], None]
) -> None:
    key = own_service.tenant().key()
    key.ticket()
    lose(own_service.settings.database_path)
    answers = [key.post(TICKETS, NEW) for _ in range(20)]
    assert {(a.status_code, a.json()["code"]) for a in answers} == {(503, "storage_unavailable")}
    assert key.get(TICKETS).status_code == 503


@LOSSES
def test_lost_files_are_noticed_without_a_write(
    watched: Service, lose: Callable[[Path], None]
) -> None:
    anybody = Person(watched, "")
    assert anybody.get("/readyz").status_code == 200
    with captured_logs("sealdesk.storage") as events:
        lose(watched.settings.database_path)
        wait_until(lambda: bool(watched.state.database.health.files_fault))
        wait_until(lambda: any("fault" in event for event in events))
    refused = anybody.get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "not_ready")
    assert refused.json()["reason"] == "the database file was removed, replaced or truncated"
    assert str(watched.settings.data_dir) not in refused.text
    assert "sealdesk_storage_healthy 0.0" in anybody.get("/metrics").text
    (noticed,) = [event for event in events if "fault" in event]
    assert noticed["log_level"] == "error"
    assert str(watched.settings.data_dir) in noticed["fault"]
    assert anybody.get("/healthz").status_code == 200


def test_service_continues_when_the_file_is_moved_back(watched: Service) -> None:
    key, path = watched.tenant().key(), watched.settings.database_path
    path.rename(path.with_name("elsewhere"))
    assert key.post(TICKETS, NEW).status_code == 503
    path.with_name("elsewhere").rename(path)
    wait_until(lambda: key.post(TICKETS, NEW).status_code == 201)


def test_file_that_vacuum_makes_smaller_is_not_lost(own_service: Service) -> None:
    key, path = own_service.tenant().key(), own_service.settings.database_path
    own_service.run("CREATE TABLE large (body BLOB)")
    own_service.run("INSERT INTO large VALUES (zeroblob(1000000))")
    _run_alone(own_service, _empty_log)
    before = path.stat().st_size
    own_service.run("DROP TABLE large")
    _run_alone(own_service, lambda connection: connection.execute("VACUUM"))
    _run_alone(own_service, _empty_log)
    assert path.stat().st_size < before
    assert key.post(TICKETS, NEW).status_code == 201


def _run_alone(service: Service, function: Callable[[sqlite3.Connection], object]) -> None:
    writer = cast(SqliteDatabase, service.state.database)._writer
    service.in_serving(lambda _: writer.run_alone(function))


def _empty_log(connection: sqlite3.Connection) -> None:
    assert truncate_log(connection, wait_ms=20_000)
