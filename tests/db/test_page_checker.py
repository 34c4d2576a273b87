"""Damaged pages of an SQLite database are noticed while it is served."""

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from sealdesk.db.sqlite import page_checker
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.db.sqlite.log import truncate_log
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY
from tests.support.logs import captured_logs
from tests.support.service import Service, wait_until

pytestmark = SQLITE_ONLY
PAGE = 4096
OVERWRITTEN = 12


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]) -> Service:
    """A service that checks its pages without rest, and whose log is in its database."""
    monkeypatch.setattr(page_checker, "STEP_EVERY_S", 0.001)
    monkeypatch.setattr(page_checker, "REST_S", 0.001)
    service = start()
    service.tenant().key().ticket()
    service.settle()
    _empty_log(service)
    return service


def _empty_log(service: Service) -> None:
    """Move the log into the file, so that SQLite reads every page from there."""
    writer = cast(SqliteDatabase, service.state.database)._writer
    empty = partial(truncate_log, wait_ms=20_000)
    assert service.in_serving(lambda _: writer.run_alone(empty))


def _overwrite(path: Path, content: Callable[[], bytes]) -> set[int]:
    """Overwrite some pages, but not the first; their numbers."""
    count = path.stat().st_size // PAGE
    numbers = set(random.Random(4).sample(range(2, count + 1), OVERWRITTEN))
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * PAGE)
            file.write(content())
    return numbers


def _wait_for_rounds(service: Service, count: int) -> None:
    health = service.state.database.health
    enough = health.rounds_checked + count
    wait_until(lambda: health.rounds_checked >= enough)


@pytest.mark.parametrize("content", [lambda: os.urandom(PAGE), lambda: bytes(PAGE)])
@pytest.mark.prove
def test_all_overwritten_pages_are_noticed_in_one_round(
    checked: Service, content: Callable[[], bytes]
) -> None:
    anybody = Person(checked, "")
    assert anybody.get("/readyz").status_code == 200
    with captured_logs("sealdesk.storage") as events:
        numbers = _overwrite(checked.settings.database_path, content)
        wait_until(lambda: checked.state.database.health.damaged_pages >= numbers)
        refused = anybody.get("/readyz")
    assert (refused.status_code, refused.json()["reason"]) == (503, "the database is damaged")
    logged = [event for event in events if event["event"] == "pages are damaged"]
    assert {page for event in logged for page in event["pages"]} == numbers
    metrics = anybody.get("/metrics").text
    assert "sealdesk_storage_healthy 0.0" in metrics
    assert "sealdesk_storage_damaged 0.0" not in metrics


def test_valid_page_in_a_wrong_place_is_noticed(checked: Service) -> None:
    path = checked.settings.database_path
    roots = dict(checked.rows("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"))
    root, other = roots["tickets"], roots["customers"]
    with path.open("r+b") as file:
        file.seek((other - 1) * PAGE)
        page = file.read(PAGE)
        file.seek((root - 1) * PAGE)
        file.write(page)
    health = checked.state.database.health
    wait_until(lambda: bool(health.table_faults))
    assert health.damaged_pages == frozenset()
    assert any(fault.startswith("tickets: ") for fault in health.table_faults)


def test_first_page_of_noise_is_noticed(checked: Service) -> None:
    with checked.settings.database_path.open("r+b") as file:
        file.write(os.urandom(PAGE))
    wait_until(lambda: 1 in checked.state.database.health.damaged_pages)


def test_pages_of_a_database_in_use_are_not_suspected(checked: Service) -> None:
    key = checked.tenant().key()
    checked.run("CREATE TABLE large (body BLOB)")
    for number in range(16):
        # Overflow pages, checkpoints, and pages that become free and are used again.
        key.ticket(description="word " * 10 * number + "end")
        checked.run(f"INSERT INTO large VALUES (zeroblob({40_000 * number}))")
        if number % 4 == 3:
            checked.run("DELETE FROM large")
            _empty_log(checked)
    _wait_for_rounds(checked, 2)
    health = checked.state.database.health
    assert (health.damaged_pages, health.table_faults) == (frozenset(), ())
    assert health.pages_checked > 0
    assert Person(checked, "").get("/readyz").status_code == 200
