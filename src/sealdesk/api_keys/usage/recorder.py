"""Writes the usage counts and the requests of API keys to the database, in batches."""

import asyncio
import logging
from functools import partial
from itertools import groupby

from sealdesk.api_keys import store
from sealdesk.api_keys.batches import write_batches
from sealdesk.api_keys.request_log.recorder import write_requests
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TENANT_MOVES
from sealdesk.state import AppState
from sealdesk.telemetry.counters import Row

WRITE_INTERVAL_S = 10.0
_SHUTDOWN_S = 3.0
_CountedRow = tuple[Row, int]

log = logging.getLogger("sealdesk.api_keys")


async def write_periodically(state: AppState) -> None:
    """Write the counts and requests every 10 s, until cancelled."""
    while True:
        await asyncio.sleep(WRITE_INTERVAL_S)
        writing = asyncio.ensure_future(_write_all(state))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # The counts that it has taken exist nowhere else.
            await asyncio.wait([writing], timeout=_SHUTDOWN_S)
            raise


async def write_remaining(state: AppState) -> None:
    """Write the remaining counts when the process stops, if the storage takes them in time."""
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            await _write_all(state)
    except TimeoutError:
        log.warning("the last usage counts and requests of keys are lost")


async def _write_all(state: AppState) -> None:
    await write_counts(state)
    await write_requests(state)


async def write_counts(state: AppState) -> int:
    """Add the counts to the stored ones; returns the number of rows.

    Failed writes are retried, except those of a tenant that is being moved elsewhere.
    """
    written = 0
    for batch in state.key_usage.take():
        by_tenant = groupby(batch.items(), key=lambda each: each[0].tenant_id)
        rows_of_tenants = ((tenant_id, list(rows)) for tenant_id, rows in by_tenant)
        written += await write_batches(rows_of_tenants, partial(_write, state))
    return written


async def _write(state: AppState, tenant_id: str, rows: list[_CountedRow]) -> int:
    async def work(tx: Tx) -> None:
        await store.add_usage(tx, rows)

    try:
        await state.database.write(work, tenant_id)
    except ServiceUnavailable as error:
        cause = {"cause": repr(error.__cause__)}
        if error.is_mistake or error.problem_type is TENANT_MOVES:
            log.warning("usage counts of keys were lost", extra={"rows": len(rows), **cause})
        else:
            state.key_usage.give_back(dict(rows))
            log.warning("usage counts of keys were not written yet", extra=cause)
        return 0
    except Exception:
        log.exception("usage counts of keys were lost", extra={"rows": len(rows)})
        return 0
    return len(rows)
