"""Gives tags other names in steps, with rests in which requests write."""

import asyncio
import time

from sealdesk.state import AppState
from sealdesk.tickets.tags.steps import actions, store
from sealdesk.worker.attempts import attempt

LOOK_EVERY_S = 0.5
# On SQLite a step blocks the writes of requests, so it has a quarter of the time.
_REST_PER_STEP = 3


async def keep_renaming(state: AppState) -> None:
    """Continue renamings until cancelled."""
    while True:
        began_s = time.perf_counter()
        done = await attempt(rename_step, state)
        took_s = time.perf_counter() - began_s
        await asyncio.sleep(_REST_PER_STEP * took_s if done else LOOK_EVERY_S)


async def rename_step(state: AppState) -> int:
    """Continue one renaming; 0 when there is none."""
    if not await state.database.read(store.has_unfinished):
        return 0
    now_us = state.clock.now_us()
    return await state.database.write_in_background(lambda tx: actions.run_step(tx, now_us))
