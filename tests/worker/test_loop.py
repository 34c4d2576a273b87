"""The worker continues after failures, and ends when it is cancelled."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.worker import loop
from sealdesk.worker.retention import Pruner
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.logs import captured_logs
from tests.support.service import Service, wait_until


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Exception]]:
    """The exceptions that the next steps raise, in order."""
    failures: list[Exception] = []
    monkeypatch.setattr(loop, "PRUNE_EVERY_S", 0.01)

    async def fails(_: Pruner, state: object) -> int:
        if failures:
            raise failures.pop()
        return 0

    monkeypatch.setattr(Pruner, "run_round", fails)
    yield failures


@pytest.mark.parametrize("failure", [ServiceUnavailable(), ValueError("a mistake of ours")])
def test_worker_continues_after_any_failure(
    failures: list[Exception], start: Any, failure: Exception
) -> None:
    failures += [failure, failure]
    start()
    wait_until(lambda: not failures)


def test_worker_ends_when_cancelled(own_service: Service) -> None:
    async def begin_and_cancel() -> bool:
        task = asyncio.ensure_future(loop.run(own_service.state))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert own_service._wait(begin_and_cancel())


@POSTGRESQL_ONLY
def test_worker_logs_its_counts(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REPORT_EVERY_S", 0.01)
    with captured_logs() as lines:
        start()
        # Other services of this process report too, and may have made attempts.
        wait_until(lambda: any(_is_report_of_nothing(line) for line in lines))


def _is_report_of_nothing(line: dict[str, Any]) -> bool:
    is_report = line["event"] == "background work"
    return is_report and (line["attempts"], line["waiting_s"]) == ({}, 0.0)
