"""The sequencer of PostgreSQL: moves committed events from the outbox to the log, with positions.

On SQLite events have their positions when they are committed (decision 0037).
"""

from sealdesk.db.engine import Tx

_LOCK = "sequencer"
_FEW = 200  # events; going through them takes less than going from tenant to tenant
# Goes from tenant to tenant in the index, however many events each has.
_TENANTS = """
WITH RECURSIVE pending(tenant_id) AS (
    SELECT min(tenant_id) FROM event_outbox
    UNION ALL
    SELECT (SELECT min(o.tenant_id) FROM event_outbox o WHERE o.tenant_id > p.tenant_id)
    FROM pending p WHERE p.tenant_id IS NOT NULL
)
"""
_OLDEST_OF_FEW = """
SELECT min(p.id) AS id, count(*) AS count FROM (
    SELECT id FROM event_outbox ORDER BY tenant_id, id LIMIT :limit
) p
"""
_OLDEST = f"""
SELECT min((SELECT min(o.id) FROM event_outbox o WHERE o.tenant_id = p.tenant_id)) AS id
FROM ({_TENANTS} SELECT tenant_id FROM pending) p LIMIT 1
"""
_COUNT = """
SELECT count(*) AS count FROM (
    SELECT 1 FROM event_outbox ORDER BY tenant_id, id LIMIT :limit
) pending
"""
_CHOOSE_ALL = "WITH chosen AS (SELECT ctid FROM event_outbox ORDER BY tenant_id, id LIMIT :limit)"
# The first event of each tenant comes first, then the second of each: so tenants have equal shares.
_CHOOSE_IN_TURNS = f"""
{_TENANTS}, chosen AS (
    SELECT o.ctid FROM pending p CROSS JOIN LATERAL (
        SELECT e.ctid, e.id, row_number() OVER (ORDER BY e.id) AS turn FROM event_outbox e
        WHERE e.tenant_id = p.tenant_id ORDER BY e.id LIMIT :limit
    ) o ORDER BY o.turn, o.id LIMIT :limit
)
"""
# One statement, so that all parts see the same events, whatever is committed meanwhile.
_PLACE = """
, taken AS (
    DELETE FROM event_outbox WHERE ctid = ANY (ARRAY(SELECT ctid FROM chosen))
    RETURNING tenant_id, id, type, object, changes, created_at
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
), counted AS (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS turn,
        count(*) OVER (PARTITION BY tenant_id) AS of_tenant, count(*) OVER () AS of_all
    FROM taken
), placed AS (
    INSERT INTO events (tenant_id, id, type, object, changes, created_at, position, log_position)
    SELECT c.tenant_id, c.id, c.type, c.object, c.changes, c.created_at,
        f.last_position - c.of_tenant + c.turn,
        l.position - c.of_all + row_number() OVER (ORDER BY c.turn, c.id)
    FROM counted c JOIN feeds f ON f.tenant_id = c.tenant_id CROSS JOIN log l
    RETURNING 1
)
SELECT count(*) AS count FROM placed
"""
_PLACE_ALL = _CHOOSE_ALL + _PLACE
_PLACE_IN_TURNS = _CHOOSE_IN_TURNS + _PLACE


async def find_oldest_pending(tx: Tx) -> str | None:
    """The id of the oldest committed event without positions."""
    row = await tx.fetch_one(_OLDEST_OF_FEW, {"limit": _FEW})
    if row is not None and row["count"] == _FEW:
        row = await tx.fetch_one(_OLDEST, {})
    return None if row is None else row["id"]


async def place_pending(tx: Tx, limit: int) -> int:
    """Give committed events the next positions, the oldest of each tenant first; how many events.

    While more events than `limit` are pending, every tenant has the same share. The positions of
    the log have no gaps, so a reader sees where events are missing.
    """
    # One sequencer at a time: no reader sees a higher position before a lower one. The statement
    # after the lock sees all that the previous sequencer has committed.
    if not await tx.try_lock(_LOCK):
        return 0
    pending_count = await _fetch_count(tx, _COUNT, limit + 1)
    if not pending_count:
        return 0
    # Going from tenant to tenant costs as much as placing, and only many events need it.
    return await _fetch_count(tx, _PLACE_IN_TURNS if pending_count > limit else _PLACE_ALL, limit)


async def _fetch_count(tx: Tx, sql: str, limit: int) -> int:
    row = await tx.fetch_one(sql, {"limit": limit})
    return 0 if row is None else int(row["count"])
