"""Long polling: one read serves all waiting requests, and none happens without them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from sealdesk.db import deadline
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import long_poll
from sealdesk.event_log.long_poll import LongPoll

SOON_S, LONG_S = 0.01, 5.0


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_poll, "POLL_EVERY_S", 0.01)


class Number:
    """A position that counts its reads."""

    def __init__(self, value: int = 0) -> None:
        self.value = value
        self.asked = 0
        self.fails = 0

    async def ask(self) -> int:
        self.asked += 1
        if self.fails:
            self.fails -= 1
            raise ServiceUnavailable
        return self.value


def run(work: Coroutine[Any, Any, None]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(in_time())


async def wait(
    room: LongPoll, number: Number, name: str = "a", seen: int = 0, within_s: float = LONG_S
) -> bool:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    return await room.wait(name, seen, number.ask, unless=never, within_s=within_s)


def never_over() -> bool:
    return False


def test_one_read_serves_many_waiting_requests() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        calls = [wait(room, number) for _ in range(100)]
        assert await asyncio.gather(*calls) == 100 * [True]
        assert number.asked < 100  # not once for each, however long it took

    run(work())


def test_request_that_has_seen_more_keeps_waiting() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        behind = asyncio.create_task(wait(room, number, seen=0))
        ahead = asyncio.create_task(wait(room, number, seen=1, within_s=0.2))
        assert await behind is True
        assert await ahead is False

    run(work())


def test_each_name_has_its_own_position() -> None:
    async def work() -> None:
        room, one, other = LongPoll(never_over), Number(1), Number()
        calls = [wait(room, one, "one"), wait(room, other, "other", within_s=0.1)]
        assert await asyncio.gather(*calls) == [True, False]

    run(work())


def test_nothing_is_read_when_no_request_waits() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        assert await wait(room, number)
        asked = number.asked
        await asyncio.sleep(0.05)
        assert number.asked == asked
        assert await wait(room, number)  # and again when somebody does

    run(work())


def test_unavailable_database_is_read_again() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        number.fails = 3
        assert await wait(room, number)
        assert number.asked == 4

    run(work())


def test_all_requests_stop_waiting_at_shutdown() -> None:
    async def work() -> None:
        is_over = False
        room, number = LongPoll(lambda: is_over), Number()
        calls = [asyncio.create_task(wait(room, number, name)) for name in "abc"]
        await asyncio.sleep(SOON_S)
        is_over = True
        assert await asyncio.gather(*calls) == [True, True, True]

    run(work())


def test_disconnected_request_stops_waiting() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number()
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        call = room.wait("a", 0, number.ask, unless=gone, within_s=LONG_S)
        asyncio.get_running_loop().call_later(SOON_S, gone.set_result, None)
        assert await call is False

    run(work())


def test_polling_does_not_inherit_the_context_of_the_request() -> None:
    async def work() -> None:
        room, left = LongPoll(never_over), []

        async def ask() -> int:
            left.append(deadline.current().total_s)
            return 1

        deadline.deadline.set(deadline.Deadline())
        deadline.current().total_s = 0.0
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        assert await room.wait("a", 0, ask, unless=never, within_s=LONG_S)
        assert left == [deadline.REQUEST_S]

    run(work())


def test_waiters_are_counted_per_name() -> None:
    room = LongPoll(never_over)
    for _ in range(2):
        with (
            room.count_waiter("a", 1) as first,
            room.count_waiter("a", 1) as second,
            room.count_waiter("b", 1) as other,
        ):
            assert (first, second, other) == (True, False, True)
    assert not room._counts
