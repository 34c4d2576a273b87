"""The waits of the worker's tasks."""

import asyncio

import pytest

from sealdesk.worker.log_tasks import wait_for


@pytest.mark.parametrize("turns", range(6))
def test_cancellation_is_not_lost_beside_a_wakeup(turns: int) -> None:
    async def work() -> None:
        wakeup = asyncio.Event()
        waiting = asyncio.create_task(wait_for(wakeup, 60))
        await asyncio.sleep(0)
        wakeup.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        if waiting.cancel():
            await asyncio.wait([waiting])
            assert waiting.cancelled()

    asyncio.run(work())
