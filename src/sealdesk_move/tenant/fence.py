"""Refuses the writes of a tenant at the source, once nothing of it is under way there."""

import asyncio
import time
from collections.abc import Sequence

from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move.copy import Progress
from sealdesk_move.tenant import marks
from sealdesk_move.tenant.marks import Marks

_REST_S = 0.02
_FEW_EVENTS = 50
# Deliveries in flight end within a turn of 5 s and the timeout of their endpoint.
MAX_WAIT_S = 30.0
# Those without a place in the log, and those behind the last of its consumers.
_UNHANDLED = """
SELECT (SELECT count(*) FROM event_outbox WHERE tenant_id = ANY ($1))
    + (SELECT count(*) FROM events WHERE tenant_id = ANY ($1) AND log_position > (
        SELECT min(coalesce(p.position, 0)) FROM unnest($2::text[]) AS of(name)
        LEFT JOIN log_positions p ON p.name = of.name))
"""
_LEASED = """
SELECT (SELECT count(*) FROM endpoints WHERE tenant_id = ANY ($1) AND leased_until > $2)
    + (SELECT count(*) FROM outgoing_messages WHERE tenant_id = ANY ($1) AND leased_until > $2)
"""
_NOW_US = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
# No further turn begins; `resume_deliveries` undoes it, here or at the target.
_PAUSE_DELIVERIES = """
UPDATE endpoints SET due_at = NULL
WHERE tenant_id = ANY ($1) AND due_at IS NOT NULL AND (leased_until IS NULL OR leased_until <= $2)
"""
# The worker finds out when they are really due.
_RESUME_DELIVERIES = """
UPDATE endpoints e SET due_at = $2, leased_until = NULL
WHERE tenant_id = ANY ($1) AND is_active AND deleted_at IS NULL AND EXISTS (SELECT 1
    FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id
    AND d.due_at IS NOT NULL)
"""
_WORKERS = """
SELECT DISTINCT r.rolname AS name FROM pg_policy p CROSS JOIN LATERAL unnest(p.polroles) AS of(role)
JOIN pg_roles r ON r.oid = of.role
WHERE p.polname = 'worker' AND p.polrelid = 'event_outbox'::regclass ORDER BY 1 LIMIT 100
"""


class NotYet(Exception):
    """Something of the tenant is under way. Its text says what."""


async def list_workers(connection: Connection) -> list[str]:
    """The roles that do the background work."""
    return [row["name"] for row in await connection.fetch(_WORKERS)]


async def wait_for_worker(
    connection: Connection, tenant_ids: Sequence[str], consumers: Sequence[str], progress: Progress
) -> None:
    """Wait until the worker has little to do for a tenant. Raises Unusable."""
    deadline = time.monotonic() + MAX_WAIT_S
    count = fewest = await _count_unhandled(connection, tenant_ids, consumers)
    if count > _FEW_EVENTS:
        progress.begin("wait for the worker", "events", 0, count)
    while count > _FEW_EVENTS:
        if time.monotonic() > deadline:
            raise Unusable(
                f"the worker of the source is {count} events behind for {MAX_WAIT_S:.0f} s; is"
                " `sealdesk worker` running? Nothing was refused; run the command again"
            )
        await asyncio.sleep(_REST_S)
        count = await _count_unhandled(connection, tenant_ids, consumers)
        progress.advance(max(0, fewest - count))
        fewest = min(fewest, count)


async def _count_unhandled(
    connection: Connection, tenant_ids: Sequence[str], consumers: Sequence[str]
) -> int:
    return int(await connection.fetchval(_UNHANDLED, tenant_ids, consumers))


async def fence(source: Marks, tenant_ids: Sequence[str], consumers: Sequence[str]) -> None:
    """Refuse all writes, after the worker has finished what it does for the tenant.

    Raises Unusable when it has not in time; then the source serves as before.
    """
    workers = await list_workers(source.connection)
    await source.switch(marks.closing(workers))
    try:
        await _fence_when_quiet(source, tenant_ids, consumers, marks.fenced(workers))
    except (Unusable, asyncio.CancelledError):
        await reopen(source, tenant_ids)
        raise


async def _fence_when_quiet(
    source: Marks, tenant_ids: Sequence[str], consumers: Sequence[str], fenced: marks.Phase
) -> None:
    deadline = time.monotonic() + MAX_WAIT_S
    while True:
        now_us = await source.connection.fetchval(_NOW_US)
        await source.connection.execute(_PAUSE_DELIVERIES, tenant_ids, now_us)
        try:
            await source.switch(fenced, lambda: _check_quiet(source, tenant_ids, consumers))
            return
        except NotYet as error:
            if time.monotonic() > deadline:
                raise Unusable(
                    f"the worker of the source still has {error} after {MAX_WAIT_S:.0f} s; is"
                    " `sealdesk worker` running? The source serves the tenant again; run the"
                    " command again"
                ) from error
        await asyncio.sleep(_REST_S)


async def _check_quiet(source: Marks, tenant_ids: Sequence[str], consumers: Sequence[str]) -> None:
    if count := await _count_unhandled(source.connection, tenant_ids, consumers):
        raise NotYet(f"{count} events to handle")
    now_us = await source.connection.fetchval(_NOW_US)
    if count := await source.connection.fetchval(_LEASED, tenant_ids, now_us):
        raise NotYet(f"{count} deliveries or e-mails under way")


async def reopen(source: Marks, tenant_ids: Sequence[str]) -> None:
    """Let the source serve the tenant again."""
    await resume_deliveries(source.connection, tenant_ids)
    await source.switch(marks.COPYING)


async def resume_deliveries(connection: Connection, tenant_ids: Sequence[str]) -> None:
    now_us = await connection.fetchval(_NOW_US)
    await connection.execute(_RESUME_DELIVERIES, tenant_ids, now_us)
