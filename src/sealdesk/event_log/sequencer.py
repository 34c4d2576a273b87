"""The sequencer: gives committed events their positions, in the feed and in the log."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.event_log import positions

_LOCK = "sequencer"

_PENDING = """
SELECT tenant_id, id FROM events WHERE position IS NULL ORDER BY tenant_id, id LIMIT :limit
"""
_PENDING_OF_TENANT = """
SELECT tenant_id, id FROM events WHERE tenant_id = :tenant_id AND position IS NULL
ORDER BY id LIMIT :limit
"""
# Goes from tenant to tenant in the index, however many events each has.
_TENANTS = """
SELECT p.tenant_id, (SELECT min(e.id) FROM events e
    WHERE e.tenant_id = p.tenant_id AND e.position IS NULL) AS oldest_id
FROM (
    WITH RECURSIVE pending(tenant_id) AS (
        SELECT min(tenant_id) FROM events WHERE position IS NULL
        UNION ALL
        SELECT (SELECT min(e.tenant_id) FROM events e
            WHERE e.position IS NULL AND e.tenant_id > p.tenant_id)
        FROM pending p WHERE p.tenant_id IS NOT NULL
    )
    SELECT tenant_id FROM pending WHERE tenant_id IS NOT NULL
) p
ORDER BY oldest_id LIMIT :limit
"""
_SET_POSITIONS = """
UPDATE events SET position = :position, log_position = :log_position
WHERE tenant_id = :tenant_id AND id = :id
"""


class _Pending(msgspec.Struct):
    """A committed event without positions."""

    tenant_id: str
    id: str
    log_position: int


async def find_oldest_pending(tx: Tx) -> str | None:
    """The id of the oldest committed event without positions."""
    row = await tx.fetch_one(_TENANTS, {"limit": 1})
    return None if row is None else str(row["oldest_id"])


async def place_pending(tx: Tx, limit: int) -> int:
    """Give committed events the next positions, the oldest of each tenant first; how many events.

    While more events than `limit` are pending, every tenant has the same share. The positions of
    the log have no gaps, so a reader sees where events are missing.
    """
    # One sequencer at a time: no reader sees a higher position before a lower one.
    if not await tx.try_lock(_LOCK):
        return 0
    rows = await _list_pending(tx, limit)
    if not rows:
        return 0
    last = await tx.increment(positions.LOG, positions.END, len(rows))
    of_each: dict[str, list[_Pending]] = defaultdict(list)
    for log_position, row in enumerate(rows, last - len(rows) + 1):
        pending = _Pending(row["tenant_id"], row["id"], log_position)
        of_each[pending.tenant_id].append(pending)
    for tenant_id, events in of_each.items():
        await _place(tx, tenant_id, events)
    return len(rows)


async def _list_pending(tx: Tx, limit: int) -> Sequence[Row]:
    rows = await tx.fetch_all(_PENDING, {"limit": limit})
    if len(rows) < limit:
        return rows
    tenants = await tx.fetch_all(_TENANTS, {"limit": limit})
    found: list[Row] = []
    # Whose events are newest has few of them, and leaves the rest of its share to the others.
    for left, tenant in zip(range(len(tenants), 0, -1), reversed(tenants), strict=True):
        share = (limit - len(found)) // left
        params = {"tenant_id": tenant["tenant_id"], "limit": share}
        found += await tx.fetch_all(_PENDING_OF_TENANT, params)
    return found


async def _place(tx: Tx, tenant_id: str, events: list[_Pending]) -> None:
    count = len(events)
    first = await tx.increment(positions.FEEDS, tenant_id, count) - count + 1
    await tx.execute_many(
        _SET_POSITIONS,
        [
            {**msgspec.structs.asdict(event), "position": position}
            for position, event in enumerate(events, first)
        ],
    )
