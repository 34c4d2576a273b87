"""How a key was used, read for its page: bars, and what there was most of."""

from typing import NamedTuple

from sealdesk.api_keys import store
from sealdesk.api_keys.usage import plots
from sealdesk.api_keys.usage.plots import MONTH, Plot, Span
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.web.request import Request

VALUES_SHOWN = 10


class Look(NamedTuple):
    """How a key was used in a span. permissions: of the last 30 days, whatever the span."""

    span: Span
    plot: Plot
    endpoints: list[tuple[str, int]]
    addresses: list[tuple[str, int]]
    permissions: list[tuple[str, int]]


async def find_look(request: Request, key_id: str, span: Span) -> Look | None:
    """None when there is no time for it now: nobody should wait with revoking a key for that."""
    try:
        return await _look(request, key_id, span)
    except QueryTooSlow:
        return None


async def _look(request: Request, key_id: str, span: Span) -> Look:
    """Of a busy key this is much to add up, and nobody else should wait for it."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def values(tx: Tx, measure: str, within: Span) -> list[tuple[str, int]]:
        return await store.usage_in_all(
            tx, tenant_id, key_id, measure,
            since_us=within.since_us(now_us), limit=VALUES_SHOWN + 1,
        )  # fmt: skip

    async def work(tx: Tx) -> Look:
        statuses = await store.usage_over_time(
            tx, tenant_id, key_id, "status", since_us=span.since_us(now_us), step_us=span.step_us
        )
        plot = plots.plot(statuses, span, now_us)
        measured = ("endpoint", span), ("address", span), ("permission", MONTH)
        return Look(span, plot, *[await values(tx, *each) for each in measured])

    return await request.read_unindexed(work)
