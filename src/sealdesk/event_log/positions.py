"""The SQL of log positions: of the sequencer and of each consumer."""

from sealdesk.db.engine import Tx

_ADVANCE = """
INSERT INTO log_positions (name, position) VALUES (:name, :count)
ON CONFLICT (name) DO UPDATE SET position = log_positions.position + :count
RETURNING position
"""
_STORE = """
INSERT INTO log_positions (name, position) VALUES (:name, :position)
ON CONFLICT (name) DO UPDATE SET position = :position
"""
_LIST = "SELECT name, position FROM log_positions ORDER BY name LIMIT :limit"
_MAX_NAMES = 100


async def list_positions(tx: Tx) -> dict[str, int]:
    """Name → position, without consumers that have none yet."""
    rows = await tx.fetch_all(_LIST, {"limit": _MAX_NAMES})
    return {row["name"]: row["position"] for row in rows}


async def advance(tx: Tx, name: str, count: int) -> int:
    """Increase a position, which starts at 0; the new position."""
    row = await tx.fetch_one(_ADVANCE, {"name": name, "count": count})
    if row is None:
        raise RuntimeError("an upsert returns its row")
    return int(row["position"])


async def store_position(tx: Tx, name: str, position: int) -> None:
    await tx.enqueue(_STORE, {"name": name, "position": position})
