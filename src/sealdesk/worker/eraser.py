"""Erases customers in steps, with rests in which requests write."""

import asyncio
import time

from sealdesk.state import AppState
from sealdesk.tickets.erasing.steps import actions, store
from sealdesk.worker.attempts import attempt

LOOK_EVERY_S = 0.5
# On SQLite a step blocks the writes of requests, so it has a quarter of the time.
_REST_PER_STEP = 3


async def keep_erasing(state: AppState) -> None:
    """Continue erasures until cancelled."""
    while True:
        began_s = time.perf_counter()
        done = await attempt(erase_step, state)
        took_s = time.perf_counter() - began_s
        await asyncio.sleep(_REST_PER_STEP * took_s if done else LOOK_EVERY_S)


async def erase_step(state: AppState) -> int:
    """Continue one erasure; 0 when there is none. One that fails goes behind the others."""
    database, now_us = state.database, state.clock.now_us()
    ready_at = now_us - actions.BEGINS_AFTER_US
    due = await database.read(lambda tx: store.find_due(tx, ready_at))
    if due is None:
        return 0
    try:
        return await database.write_in_background(lambda tx: actions.run_step(tx, now_us))
    except Exception:
        await database.write_in_background(lambda tx: actions.postpone(tx, due, now_us))
        raise
