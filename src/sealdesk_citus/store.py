"""The SQL of feeds that are the logs of their tenants, each on the node of its tenant."""

from sealdesk.db.column_lists import update_row
from sealdesk.db.engine import SerializationConflict, Tx
from sealdesk.event_log import positions

_OLDEST = "SELECT min(id) AS id FROM event_outbox LIMIT 1"
LIST_TENANTS = """
SELECT DISTINCT tenant_id FROM event_outbox WHERE tenant_id > :after
ORDER BY tenant_id LIMIT :limit
"""
_LAST_OF = "SELECT last_position FROM feed_positions WHERE tenant_id = :tenant_id LIMIT :limit"
_ADD_FEED = """
INSERT INTO feed_positions (tenant_id, last_position, pruned_position) VALUES (:tenant_id, 0, 0)
ON CONFLICT (tenant_id) DO NOTHING
"""
_PENDING_OF = """
SELECT id FROM event_outbox WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit
"""
# Without a log position: such events are in no log but the feed.
_PLACE_OF = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at, position)
SELECT tenant_id, id, type, object, changes, created_at,
    :last_position + row_number() OVER (ORDER BY id)
FROM event_outbox WHERE tenant_id = :tenant_id AND id = ANY (:ids)
"""
_TAKE_OF = "DELETE FROM event_outbox WHERE tenant_id = :tenant_id AND id = ANY (:ids)"
_STORE_LAST_OF = update_row("feed_positions", "last_position", "tenant_id")
# A tenant that some consumer has not caught up with. All consumers that are not behind are counted.
_LIST_BEHIND = """
SELECT f.tenant_id FROM feed_positions f LEFT JOIN consumer_positions c
    ON c.tenant_id = f.tenant_id AND c.position >= f.last_position
WHERE f.tenant_id > :after AND f.last_position > 0
GROUP BY f.tenant_id HAVING count(c.position) < :count ORDER BY f.tenant_id LIMIT :limit
"""


async def find_oldest_pending(tx: Tx) -> str | None:
    """The id of the oldest committed event without a position."""
    row = await tx.fetch_one(_OLDEST, {})
    return None if row is None else row["id"]


async def list_pending_tenants(tx: Tx, after: str, limit: int) -> list[str]:
    """The tenants behind an id that have committed events without positions."""
    rows = await tx.fetch_all(LIST_TENANTS, {"after": after, "limit": limit})
    return [row["tenant_id"] for row in rows]


async def place_pending_of(tx: Tx, tenant_id: str, limit: int) -> int:
    """Give a tenant's committed events the next positions of its feed; how many events.

    0 also while another process does so. All rows are on the node of the tenant.
    """
    last = await _hold_feed(tx, tenant_id)
    if last is None:
        return 0
    # Read after the lock: the previous sequencer has committed what it placed.
    rows = await tx.fetch_all(_PENDING_OF, {"tenant_id": tenant_id, "limit": limit})
    if not rows:
        return 0
    taken = {"tenant_id": tenant_id, "ids": [row["id"] for row in rows]}
    placed = await tx.execute(_PLACE_OF, {**taken, "last_position": last})
    if placed != len(rows) or await tx.execute(_TAKE_OF, taken) != placed:
        raise SerializationConflict
    await tx.execute(_STORE_LAST_OF, {"tenant_id": tenant_id, "last_position": last + placed})
    return placed


async def _hold_feed(tx: Tx, tenant_id: str) -> int | None:
    """Lock the last position of a feed; None when another transaction holds it."""
    params = {"tenant_id": tenant_id, "limit": 1}
    rows = await tx.select_for_update(_LAST_OF, params)
    if rows:
        return int(rows[0]["last_position"])
    if await tx.fetch_one(_LAST_OF, params) is not None:
        return None
    return 0 if await tx.execute(_ADD_FEED, {"tenant_id": tenant_id}) else None


async def list_behind(tx: Tx, after: str, consumer_count: int, limit: int) -> list[str]:
    """The tenants behind an id whose feed one of so many consumers has not read to its end."""
    params = {"after": after, "count": consumer_count, "limit": limit}
    return [row["tenant_id"] for row in await tx.fetch_all(_LIST_BEHIND, params)]


async def note_growth(tx: Tx) -> None:
    """Let `positions.read_growth` change: some feeds have grown."""
    await tx.increment(positions.LOG, positions.GROWTH)
