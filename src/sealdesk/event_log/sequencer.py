"""The sequencer of PostgreSQL: moves committed events from the outbox to the log, with positions.

On SQLite events have their positions when they are committed (decision 0037).
"""

from sealdesk.db.engine import Tx

_LOCK = "sequencer"
# Goes from tenant to tenant in the index, however many events each has.
_TENANTS = """
WITH RECURSIVE pending(tenant_id) AS (
    SELECT min(tenant_id) FROM event_outbox
    UNION ALL
    SELECT (SELECT min(o.tenant_id) FROM event_outbox o WHERE o.tenant_id > p.tenant_id)
    FROM pending p WHERE p.tenant_id IS NOT NULL
)
"""
_OLDEST = f"""
SELECT min((SELECT min(o.id) FROM event_outbox o WHERE o.tenant_id = p.tenant_id)) AS id
FROM ({_TENANTS} SELECT tenant_id FROM pending) p LIMIT 1
"""
_IS_PENDING = "SELECT 1 FROM event_outbox LIMIT 1"
# One statement, so that all parts see the same events, whatever is committed meanwhile. The first
# event of each tenant comes first, then the second of each: so tenants have equal shares.
_PLACE = f"""
{_TENANTS}, chosen AS (
    SELECT o.tenant_id, o.id, o.turn FROM pending p CROSS JOIN LATERAL (
        SELECT e.tenant_id, e.id, row_number() OVER (ORDER BY e.id) AS turn FROM event_outbox e
        WHERE e.tenant_id = p.tenant_id ORDER BY e.id LIMIT :limit
    ) o ORDER BY o.turn, o.id LIMIT :limit
), taken AS (
    DELETE FROM event_outbox o USING chosen c WHERE o.tenant_id = c.tenant_id AND o.id = c.id
    RETURNING o.tenant_id, o.id, o.type, o.object, o.changes, o.created_at, c.turn
), feeds AS (
    INSERT INTO feed_positions (tenant_id, last_position, pruned_position)
    SELECT tenant_id, count(*), 0 FROM taken GROUP BY tenant_id ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE
        SET last_position = feed_positions.last_position + excluded.last_position
    RETURNING tenant_id, last_position
), log AS (
    INSERT INTO log_positions (name, position) SELECT 'sequencer', count(*) FROM taken
    ON CONFLICT (name) DO UPDATE SET position = log_positions.position + excluded.position
    RETURNING position
), placed AS (
    INSERT INTO events (tenant_id, id, type, object, changes, created_at, position, log_position)
    SELECT t.tenant_id, t.id, t.type, t.object, t.changes, t.created_at,
        f.last_position + 1 - row_number() OVER (PARTITION BY t.tenant_id ORDER BY t.id DESC),
        l.position + 1 - row_number() OVER (ORDER BY t.turn DESC, t.id DESC)
    FROM taken t JOIN feeds f ON f.tenant_id = t.tenant_id CROSS JOIN log l
    RETURNING 1
)
SELECT count(*) AS count FROM placed
"""


async def find_oldest_pending(tx: Tx) -> str | None:
    """The id of the oldest committed event without positions."""
    row = await tx.fetch_one(_OLDEST, {})
    return None if row is None else row["id"]


async def has_pending(tx: Tx) -> bool:
    return await tx.fetch_one(_IS_PENDING, {}) is not None


async def place_pending(tx: Tx, limit: int) -> int:
    """Give committed events the next positions, the oldest of each tenant first; how many events.

    While more events than `limit` are pending, every tenant has the same share. The positions of
    the log have no gaps, so a reader sees where events are missing.
    """
    # One sequencer at a time: no reader sees a higher position before a lower one. The statement
    # after the lock sees all that the previous sequencer has committed.
    if not await tx.try_lock(_LOCK):
        return 0
    row = await tx.fetch_one(_PLACE, {"limit": limit})
    return 0 if row is None else int(row["count"])
