"""The streams of a process, where the feed of a tenant cannot be read."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.clock import Clock
from sealdesk.errors import ServiceUnavailable, Unauthorized
from sealdesk.event_log import streams
from sealdesk.event_log.stream import Batch, Check, Stream, Subscriber
from sealdesk.event_log.streams import Streams
from sealdesk.identity.errors import INVALID_TOKEN

LINE = b"data: 1\n\n"


class Failing:
    """A database whose reads fail in a way that nobody expects."""

    async def read(self, work: Any) -> int:
        raise RuntimeError


async def check() -> None:
    """The log-in has not ended."""


async def check_ended() -> None:
    raise Unauthorized(INVALID_TOKEN)


def opened(check: Check = check) -> Stream:
    return Stream(Subscriber("tenant", "user", "Maria", "session", check), 0)


def run(test: Callable[[Streams], Any]) -> None:
    async def work() -> None:
        database: Any = Failing()
        open_streams = Streams(database, Clock(), is_notified=True)
        async with asyncio.timeout(5):
            await test(open_streams)
        await open_streams.stop()

    asyncio.run(work())


def reader(*answers: Exception | Batch) -> Callable[[int], Any]:
    """Reads a feed with these answers; the last one is repeated."""
    left = list(answers)

    async def read(after: int) -> Batch:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return read


def test_a_feed_that_could_not_be_read_is_read_for_the_next_page() -> None:
    """Also while the connection of an earlier page has not ended yet."""
    read = reader(RuntimeError("once"), Batch([(1, LINE)], 1, has_more=False))

    async def test(open_streams: Streams) -> None:
        former, new = opened(), opened()
        with open_streams.joined(former, read):
            assert await former.next() == b""
            with open_streams.joined(new, read):
                assert await new.next() == LINE

    run(test)


def test_a_feed_is_read_again_when_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_RETRY_S", 0)
    read = reader(ServiceUnavailable(), Batch([(1, LINE)], 1, has_more=False))

    async def test(open_streams: Streams) -> None:
        stream = opened()
        with open_streams.joined(stream, read):
            assert await stream.next() == LINE

    run(test)


def test_the_streams_of_a_log_in_end_with_it_whatever_else_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TICK_S", "CHECK_EVERY_S"):
        monkeypatch.setattr(streams, name, 0)

    async def test(open_streams: Streams) -> None:
        stream = opened(check_ended)
        with open_streams.joined(stream, reader(Batch([], 0, has_more=False))):
            while await stream.next():
                pass  # a heartbeat

    run(test)
