"""The sequencer: gives committed events their positions, in the feed and in the log."""

from collections import defaultdict

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log import positions

NAME = "sequencer"

_OLDEST_PENDING = """
SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT :limit
"""
_PENDING = """
SELECT tenant_id, id FROM events WHERE position IS NULL ORDER BY id LIMIT :limit
"""
_ADVANCE_FEED = """
INSERT INTO feed_positions (tenant_id, last_position, pruned_position)
VALUES (:tenant_id, :count, 0)
ON CONFLICT (tenant_id) DO UPDATE SET last_position = feed_positions.last_position + :count
RETURNING last_position
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
    row = await tx.fetch_one(_OLDEST_PENDING, {"limit": 1})
    return None if row is None else str(row["id"])


async def place_pending(tx: Tx, limit: int) -> int:
    """Give the oldest committed events the next positions; how many events.

    The positions of the log have no gaps, so a reader sees where events are missing.
    """
    # One sequencer at a time: no reader sees a higher position before a lower one.
    if not await tx.try_lock(NAME):
        return 0
    rows = await tx.fetch_all(_PENDING, {"limit": limit})
    if not rows:
        return 0
    last = await positions.advance(tx, NAME, len(rows))
    of_tenant: dict[str, list[_Pending]] = defaultdict(list)
    for log_position, row in enumerate(rows, last - len(rows) + 1):
        pending = _Pending(row["tenant_id"], row["id"], log_position)
        of_tenant[pending.tenant_id].append(pending)
    for tenant_id, events in of_tenant.items():
        await _place(tx, tenant_id, events)
    return len(rows)


async def _place(tx: Tx, tenant_id: str, events: list[_Pending]) -> None:
    count = len(events)
    row = await tx.fetch_one(_ADVANCE_FEED, {"tenant_id": tenant_id, "count": count})
    if row is None:
        raise RuntimeError("an upsert returns its row")
    first = row["last_position"] - count + 1
    await tx.execute_many(
        _SET_POSITIONS,
        [
            {**msgspec.structs.asdict(event), "position": position}
            for position, event in enumerate(events, first)
        ],
    )
