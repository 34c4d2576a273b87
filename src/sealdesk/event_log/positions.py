"""The SQL of positions: the last of each feed, the last of the log, and that of each consumer."""

from sealdesk.db.engine import Counter, Tx

# The name of the last position of the log.
END = "sequencer"

FEEDS = Counter("feed_positions", "tenant_id", "last_position", zeros=("pruned_position",))
LOG = Counter("log_positions", "name", "position")
_STORE = """
INSERT INTO log_positions (name, position) VALUES (:name, :position)
ON CONFLICT (name) DO UPDATE SET position = :position
"""
_ADVANCE = "UPDATE log_positions SET position = :after WHERE name = :name AND position = :before"
_LIST = "SELECT name, position FROM log_positions ORDER BY name LIMIT :limit"
_MAX_NAMES = 100


async def list_positions(tx: Tx) -> dict[str, int]:
    """Name → position, without consumers that have none yet."""
    rows = await tx.fetch_all(_LIST, {"limit": _MAX_NAMES})
    return {row["name"]: row["position"] for row in rows}


async def store_position(tx: Tx, name: str, position: int) -> None:
    await tx.enqueue(_STORE, {"name": name, "position": position})


async def advance(tx: Tx, name: str, before: int, after: int) -> None:
    """Store a position, if it is still `before`; otherwise the work runs again."""
    await tx.execute_one(_ADVANCE, {"name": name, "before": before, "after": after})
