"""Writes the requests of API keys to the request log, in batches, and deletes old ones."""

import logging
from functools import partial

from sealdesk.api_keys.batches import write_batches
from sealdesk.api_keys.request_log import store
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.ids import lowest_request_id
from sealdesk.resources.paging import LAST_ID
from sealdesk.state import AppState
from sealdesk.telemetry.counters import LoggedRequest

KEPT_US = 7 * 24 * 3600 * 1_000_000
KEPT_ROWS = 100_000  # of a tenant: 20 MB (2026-11-22)
KEPT_REFUSALS = 10_000  # of them: anybody who knows a key's id can cause them

log = logging.getLogger("sealdesk.api_keys")


async def write_requests(state: AppState) -> int:
    """Write the requests that wait; how many. Those that the storage does not take are dropped."""
    written = await write_batches(state.request_log.take(), partial(_write, state))
    if state.request_log.dropped:
        log.warning("requests are missing in the log", extra={"count": state.request_log.dropped})
        state.request_log.dropped = 0
    return written


async def _write(state: AppState, tenant_id: str, requests: list[LoggedRequest]) -> int:
    try:
        await state.database.write(lambda tx: store.add(tx, requests), tenant_id)
    except ServiceUnavailable:
        state.request_log.dropped += len(requests)
        return 0
    except Exception:
        log.exception("requests were not logged", extra={"count": len(requests)})
        return 0
    return len(requests)


async def prune_step(tx: Tx, tenant_id: str, now_us: int, limit: int) -> int:
    """Delete some requests of a tenant that are too old or too many; how many."""
    deleted = await store.prune(tx, tenant_id, lowest_request_id(now_us - KEPT_US), limit)
    surplus = await store.find_nth(tx, tenant_id, KEPT_ROWS)
    if deleted or surplus is None:
        return deleted
    refusal = await store.find_nth_refusal(tx, tenant_id, KEPT_REFUSALS)
    if refusal is not None:
        return await store.prune_refusals(tx, tenant_id, _behind(refusal), limit)
    return await store.prune(tx, tenant_id, _behind(surplus), limit)


def _behind(request_id: str) -> str:
    """It goes too: `before` is exclusive."""
    return request_id + LAST_ID
