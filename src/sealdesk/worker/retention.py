"""Pruning: deletes expired rows, in small steps; beside it, adds the holidays of the next year."""

import asyncio

from sealdesk.api_keys.request_log import recorder as request_log
from sealdesk.db.engine import Tx, Work
from sealdesk.db.schema.retention import delete_expired
from sealdesk.event_log import events
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant
from sealdesk.mail.contact_form import rules as contact_form
from sealdesk.mail.contact_form import store as submissions
from sealdesk.mail.receiving import raw_messages
from sealdesk.records import test_tenants
from sealdesk.state import AppState
from sealdesk.tickets.attachments import pruning as attachments
from sealdesk.tickets.hours.extending import extend_hours
from sealdesk.webhooks.store import deliveries as delivery_store

_STEP_ROWS = 200
_STEP_PAUSE_S = 0.05
TENANTS_AT_ONCE = 100
# Longer than any request that was in flight when its endpoint was deleted.
_DELETED_US = 60 * 1_000_000


class Pruner:
    """Deletes expired rows in rounds: of all tables without a tenant, and of a hundred tenants.

    So a round has a bound, however many tenants there are.
    """

    def __init__(self) -> None:
        self._after = ""  # the last tenant of the round before; "" at the end of all

    async def run_round(self, state: AppState) -> int:
        """Delete expired rows; how many."""
        now_us = state.clock.now_us()
        total = await _prune_shared(state, now_us)
        tenants = await state.database.read(_tenants_after(self._after))
        for tenant in tenants:
            total += await _prune_tenant(state, tenant.id, now_us)
            await extend_hours(state, tenant.id, now_us)
        self._after = tenants[-1].id if len(tenants) == TENANTS_AT_ONCE else ""
        return total


async def _prune_shared(state: AppState, now_us: int) -> int:
    deleted_before = now_us - _DELETED_US
    return (
        await _in_steps(state, lambda tx: _prune_all_tenants(tx, now_us))
        + await attachments.prune(state)
        + await raw_messages.prune(state)
        + await _in_steps(
            state, lambda tx: delivery_store.prune_deleted(tx, deleted_before, _STEP_ROWS)
        )
    )


def _tenants_after(after: str) -> Work[list[Tenant]]:
    return lambda tx: identity.list_tenants(tx, after, TENANTS_AT_ONCE)


async def _prune_tenant(state: AppState, tenant_id: str, now_us: int) -> int:
    offset_us = await state.database.read(lambda tx: test_tenants.find_offset_us(tx, tenant_id))
    before_us = now_us + offset_us - events.KEPT_US

    async def step(tx: Tx) -> int:
        # Deliveries first: they refer to their events.
        deleted = await delivery_store.prune(tx, tenant_id, before_us, _STEP_ROWS)
        deleted += await request_log.prune_step(tx, tenant_id, now_us, _STEP_ROWS)
        return deleted + await events.prune(tx, tenant_id, before_us, _STEP_ROWS)

    return await _in_steps(state, step)


async def _prune_all_tenants(tx: Tx, now_us: int) -> int:
    return (
        await delete_expired(tx, now_us, _STEP_ROWS)
        + await identity.prune_failures(tx, now_us, _STEP_ROWS)
        + await submissions.prune(tx, now_us - contact_form.WAITS_US, _STEP_ROWS)
    )


async def _in_steps(state: AppState, step: Work[int]) -> int:
    """Repeat a step until it deletes nothing, with pauses for other writes."""
    total = 0
    while deleted := await state.database.write(step):
        total += deleted
        await asyncio.sleep(_STEP_PAUSE_S)
    return total
