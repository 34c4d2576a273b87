"""Writing down how keys were used: in batches, never for a single request."""

import asyncio
from itertools import groupby

import structlog

from sealdesk.api_keys import store
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.state import AppState
from sealdesk.telemetry.key_usage import Row

WRITTEN_EVERY_S = 10.0
_ENDS_WITHIN_S = 3.0
_ROWS_AT_ONCE = 200  # some 2 ms of the loop's time on SQLite
_Counted = tuple[Row, int]

log = structlog.get_logger("sealdesk.telemetry.key_usage")


async def keep_written(state: AppState) -> None:
    """Write down what was counted, again and again, until cancelled."""
    while True:
        await asyncio.sleep(WRITTEN_EVERY_S)
        writing = asyncio.ensure_future(write_down(state))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # What it has taken stands nowhere else.
            await asyncio.wait([writing], timeout=_ENDS_WITHIN_S)
            raise


async def write_last(state: AppState) -> None:
    """Write down the rest when the process ends, if the storage allows it soon."""
    try:
        await asyncio.wait_for(write_down(state), _ENDS_WITHIN_S)
    except TimeoutError:
        log.warning("the last counts of how keys were used are lost")


async def write_down(state: AppState) -> int:
    """Add what was counted to what is stored; how many rows. What fails is tried the next time."""
    written = 0
    for batch in state.key_usage.take():
        for tenant_id, rows in groupby(batch.items(), key=lambda each: each[0].tenant_id):
            of_tenant = list(rows)
            for start in range(0, len(of_tenant), _ROWS_AT_ONCE):
                part = of_tenant[start : start + _ROWS_AT_ONCE]
                written += await _write(state, tenant_id, part)
    return written


async def _write(state: AppState, tenant_id: str, rows: list[_Counted]) -> int:
    async def work(tx: Tx) -> None:
        await store.add_usage(tx, rows)

    try:
        await state.database.write(work, tenant_id)
    except ServiceUnavailable as error:
        state.key_usage.give_back(dict(rows))
        log.warning("how keys were used has to wait", cause=repr(error.__cause__))
        return 0
    except Exception:
        log.exception("how keys were used was not written", rows=len(rows))
        return 0
    return len(rows)
