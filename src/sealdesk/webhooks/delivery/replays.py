"""Replays: makes deliveries of a range of past events for one endpoint."""

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.webhooks.store import fan_out as fan_out_store

_BATCH_EVENTS = 200
_BATCH_REPLAYS = 4


async def continue_replays(state: AppState) -> int:
    """Make the next deliveries of unfinished replays; how many replays there were."""
    now_us = state.clock.now_us()
    return await state.database.write(lambda tx: _continue(tx, now_us))


async def _continue(tx: Tx, now_us: int) -> int:
    replays = await fan_out_store.claim_replays(tx, _BATCH_REPLAYS)
    for replay in replays:
        await fan_out_store.continue_replay(tx, replay, now_us, _BATCH_EVENTS)
    return len(replays)
