"""The usage report of a key: a chart, and the most frequent endpoints and addresses."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.api_keys import store
from sealdesk.api_keys.usage import plots
from sealdesk.api_keys.usage.plots import FORTNIGHT, MONTH, Plot, Span
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.web.request import Request

VALUES_SHOWN = 10


class UsageReport(NamedTuple):
    """How a key was used in a span. permissions: of the last 30 days, for any span."""

    span: Span
    plot: Plot
    endpoints: list[tuple[str, int]]
    addresses: list[tuple[str, int]]
    permissions: list[tuple[str, int]]


async def find_report(request: Request, key_id: str, span: Span) -> UsageReport | None:
    """None when it takes too long: the page of a key must load fast, because it can revoke it."""
    try:
        return await _read_report(request, key_id, span)
    except QueryTooSlow:
        return None


async def list_recent(request: Request, key_ids: Sequence[str]) -> dict[str, Plot]:
    """The last 14 days of each key by its id; {} when that takes too long."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us
    since_us, step_us = FORTNIGHT.since_us(now_us), FORTNIGHT.step_us

    async def work(tx: Tx) -> dict[str, Plot]:
        return {
            key_id: plots.plot(
                await store.statuses_over_time(
                    tx, tenant_id, key_id, since_us=since_us, step_us=step_us
                ),
                FORTNIGHT,
                now_us,
            )
            for key_id in key_ids
        }

    try:
        return await request.read_unindexed(work)
    except QueryTooSlow:
        return {}


async def _read_report(request: Request, key_id: str, span: Span) -> UsageReport:
    """Read as an unindexed query: a busy key has many rows to add up."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def values(tx: Tx, measure: str, within: Span) -> list[tuple[str, int]]:
        return await store.usage_in_all(
            tx, tenant_id, key_id, measure, since_us=within.since_us(now_us), limit=VALUES_SHOWN + 1
        )

    async def work(tx: Tx) -> UsageReport:
        statuses = await store.statuses_over_time(
            tx, tenant_id, key_id, since_us=span.since_us(now_us), step_us=span.step_us
        )
        plot = plots.plot(statuses, span, now_us)
        measures = ("endpoint", span), ("address", span), ("permission", MONTH)
        return UsageReport(span, plot, *[await values(tx, *each) for each in measures])

    return await request.read_unindexed(work)
