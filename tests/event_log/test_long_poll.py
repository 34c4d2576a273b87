"""Waiting until a number rises: asked for once, however many wait, and not when nobody does."""

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
    """A number that is asked for."""

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
    asyncio.run(asyncio.wait_for(work, 10))


async def wait(
    room: LongPoll, number: Number, name: str = "a", seen: int = 0, within_s: float = LONG_S
) -> bool:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    return await room.wait(name, seen, number.ask, unless=never, within_s=within_s)


def never_over() -> bool:
    return False


def test_many_who_wait_for_a_number_ask_for_it_once() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number()
        calls = [asyncio.create_task(wait(room, number)) for _ in range(100)]
        await asyncio.sleep(0.1)
        assert 0 < number.asked < 100  # not once for each, however long it took
        number.value = 1
        assert await asyncio.gather(*calls) == 100 * [True]

    run(work())


def test_who_has_seen_more_waits_on() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        behind = asyncio.create_task(wait(room, number, seen=0))
        ahead = asyncio.create_task(wait(room, number, seen=1, within_s=0.2))
        assert await behind is True
        assert await ahead is False

    run(work())


def test_each_name_has_its_own_number() -> None:
    async def work() -> None:
        room, one, other = LongPoll(never_over), Number(1), Number()
        calls = [wait(room, one, "one"), wait(room, other, "other", within_s=0.1)]
        assert await asyncio.gather(*calls) == [True, False]

    run(work())


def test_nothing_is_asked_when_nobody_waits() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        assert await wait(room, number)
        asked = number.asked
        await asyncio.sleep(0.05)
        assert number.asked == asked
        assert await wait(room, number)  # and again when somebody does

    run(work())


def test_a_storage_that_is_away_is_asked_again() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number(1)
        number.fails = 3
        assert await wait(room, number)
        assert number.asked == 4

    run(work())


def test_nobody_waits_any_longer_when_it_is_over() -> None:
    async def work() -> None:
        is_over = False
        room, number = LongPoll(lambda: is_over), Number()
        calls = [asyncio.create_task(wait(room, number, name)) for name in "abc"]
        await asyncio.sleep(SOON_S)
        is_over = True
        assert await asyncio.gather(*calls) == [True, True, True]

    run(work())


def test_who_is_no_longer_wanted_stops_waiting() -> None:
    async def work() -> None:
        room, number = LongPoll(never_over), Number()
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        call = room.wait("a", 0, number.ask, unless=gone, within_s=LONG_S)
        asyncio.get_running_loop().call_later(SOON_S, gone.set_result, None)
        assert await call is False

    run(work())


def test_the_asking_is_no_part_of_the_request_that_began_it() -> None:
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


def test_places_are_the_holders_own_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_poll, "MAX_WAITERS", 1)
    room = LongPoll(never_over)
    for _ in range(2):
        with (
            room.count_waiter("a") as first,
            room.count_waiter("a") as second,
            room.count_waiter("b") as other,
        ):
            assert (first, second, other) == (True, False, True)
    assert not room._counts
