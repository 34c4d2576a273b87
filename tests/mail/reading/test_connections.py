"""How many connections a process has at once."""

import asyncio

from sealdesk.mail.reading.connections import Connections


async def _hold(connections: Connections) -> None:
    async with connections.hold():
        await asyncio.Event().wait()


async def _begin(connections: Connections, count: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(_hold(connections)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_all_that_hold_or_wait_for_a_connection_end_at_once() -> None:
    async def run() -> None:
        connections = Connections(2)
        tasks = await _begin(connections, 6)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert [task.cancelled() for task in tasks] == [True] * 6
        # The two places are free again.
        async with connections.hold(), connections.hold():
            pass

    asyncio.run(run())


def test_a_connection_goes_to_the_next_that_still_waits() -> None:
    async def run() -> None:
        connections = Connections(1)
        holder, first, second = await _begin(connections, 3)
        first.cancel()
        holder.cancel()
        await asyncio.wait([holder, first])
        third = asyncio.create_task(_hold(connections))
        second.cancel()
        await asyncio.wait([second])
        third.cancel()
        await asyncio.wait([third])
        async with connections.hold():
            pass

    asyncio.run(run())
