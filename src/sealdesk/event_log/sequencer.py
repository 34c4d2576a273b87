"""The sequencer of PostgreSQL: moves committed events from the outbox to the log, with positions.

On SQLite events have their positions when they are committed (decision 0037). Where tables are
distributed over nodes, each tenant has a sequencer and a log of its own (decision 0081).
"""

from sealdesk.db.engine import SerializationConflict, Tx

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
_OLDEST_ON_NODES = "SELECT min(id) AS id FROM event_outbox LIMIT 1"
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

# Of one tenant, each on the node of the tenant. Without a log position: such events are in no log
# but the feed.
_LIST_TENANTS = """
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
_PLACE_OF = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at, position)
SELECT tenant_id, id, type, object, changes, created_at,
    :last_position + row_number() OVER (ORDER BY id)
FROM event_outbox WHERE tenant_id = :tenant_id AND id = ANY (:ids)
"""
_TAKE_OF = "DELETE FROM event_outbox WHERE tenant_id = :tenant_id AND id = ANY (:ids)"
_STORE_LAST_OF = """
UPDATE feed_positions SET last_position = :last_position WHERE tenant_id = :tenant_id
"""


async def find_oldest_pending(tx: Tx) -> str | None:
    """The id of the oldest committed event without positions."""
    if tx.is_distributed:
        row = await tx.fetch_one(_OLDEST_ON_NODES, {})
        return None if row is None else row["id"]
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


async def list_pending_tenants(tx: Tx, after: str, limit: int) -> list[str]:
    """The tenants behind an id that have committed events without positions."""
    rows = await tx.fetch_nearby(_LIST_TENANTS, {"after": after, "limit": limit})
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


async def _fetch_count(tx: Tx, sql: str, limit: int) -> int:
    row = await tx.fetch_one(sql, {"limit": limit})
    return 0 if row is None else int(row["count"])
