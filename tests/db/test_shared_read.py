"""A shared read answers those who asked before it began, and nobody else."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from sealdesk.db import deadline
from sealdesk.db.deadline import Deadline
from sealdesk.db.postgres.shared_read import SharedRead


class Reads:
    """Reads that end when they are told to; each returns its number."""

    def __init__(self) -> None:
        self.begun: list[asyncio.Event] = []
        self.deadlines: list[Deadline] = []
        self.shared = SharedRead(self._read)

    async def _read(self) -> int:
        self.deadlines.append(deadline.current())
        self.begun.append(asyncio.Event())
        number = len(self.begun)
        await self.begun[-1].wait()
        return number

    async def asked(self) -> asyncio.Task[int]:
        task = asyncio.create_task(self.shared.get())
        await asyncio.sleep(0)
        return task

    async def begin(self, count: int) -> None:
        """Let the reads begin that were asked for; so many have then."""
        for _ in range(9):
            await asyncio.sleep(0)
        assert len(self.begun) == count


def in_loop(test: Callable[[Reads], Awaitable[None]]) -> None:
    async def run() -> None:
        await test(Reads())

    asyncio.run(run())


def test_who_asks_in_one_iteration_shares_a_read() -> None:
    async def test(reads: Reads) -> None:
        tasks = [asyncio.create_task(reads.shared.get()) for _ in range(3)]
        await reads.begin(1)
        reads.begun[0].set()
        assert await asyncio.gather(*tasks) == [1, 1, 1]

    in_loop(test)


def test_who_asks_during_a_read_gets_the_next_one() -> None:
    async def test(reads: Reads) -> None:
        first = await reads.asked()
        await reads.begin(1)
        second = await reads.asked()
        await reads.begin(2)
        reads.begun[1].set()
        assert await second == 2
        assert not first.done()
        reads.begun[0].set()
        assert await first == 1

    in_loop(test)


def test_a_failed_read_fails_for_all_and_the_next_one_works() -> None:
    outcomes: list[Exception | int] = [OSError("gone"), 7]

    async def read() -> int:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def test(_: Reads) -> None:
        shared = SharedRead(read)
        tasks = [asyncio.create_task(shared.get()) for _ in range(2)]
        for task in tasks:
            with pytest.raises(OSError, match="gone"):
                await task
        assert await shared.get() == 7

    in_loop(test)


def test_a_cancelled_request_does_not_end_the_read_of_others() -> None:
    async def test(reads: Reads) -> None:
        leaving, staying = (asyncio.create_task(reads.shared.get()) for _ in range(2))
        await reads.begin(1)
        leaving.cancel()
        await asyncio.sleep(0)
        reads.begun[0].set()
        async with asyncio.timeout(60):
            assert await staying == 1
        assert leaving.cancelled()

    in_loop(test)


def test_the_read_has_a_deadline_of_its_own_and_the_wait_counts_for_each() -> None:
    async def test(reads: Reads) -> None:
        deadline.deadline.set(Deadline(total_s=1.0))
        task = asyncio.create_task(reads.shared.get())
        await reads.begin(1)
        assert reads.deadlines[0].total_s == deadline.REQUEST_S
        reads.begun[0].set()
        await task
        assert deadline.current().total_s < 1.0

    in_loop(test)
