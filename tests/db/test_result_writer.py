"""Results of attempts are stored in batches, in which none holds up the others."""

import asyncio
from typing import Any

import pytest

from sealdesk.clock import Clock
from sealdesk.db import result_writer
from sealdesk.db.result_writer import ResultWriter
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TENANT_MOVES


class Working:
    """A database that commits what is stored."""

    async def write(self, work: Any) -> None:
        await work(None)


def stored(store: Any) -> list[bool]:
    """Which of three results are stored."""

    async def run() -> list[bool]:
        database: Any = Working()
        writer: ResultWriter[int] = ResultWriter(database, Clock(), store, batch_size=3)
        async with asyncio.timeout(5):
            return await asyncio.gather(*[writer.add(result) for result in (1, 2, 3)])

    return asyncio.run(run())


@pytest.mark.parametrize("error", [RuntimeError(), ServiceUnavailable(TENANT_MOVES)])
def test_a_result_that_cannot_be_stored_holds_up_no_other(error: Exception) -> None:
    async def store(_: object, results: list[int], now_us: int) -> None:
        if 2 in results:
            raise error

    assert stored(store) == [True, False, True]


def test_results_wait_until_the_database_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_writer, "_RETRY_AFTER_S", 0)
    tries = iter([ServiceUnavailable(), ServiceUnavailable()])

    async def store(_: object, results: list[int], now_us: int) -> None:
        if error := next(tries, None):
            raise error

    assert stored(store) == [True, True, True]
