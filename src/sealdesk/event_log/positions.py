"""The SQL of positions: the last of each feed, the last of the log, and that of each consumer.

A log is that of the installation, of all tenants, or the feed of one tenant.
"""

from typing import NamedTuple

from sealdesk.db.column_lists import insert_or_update, select_row
from sealdesk.db.engine import Counter, Tx

# The name of the last position of the log.
END = "sequencer"
# Where each tenant has a log of its own: how often some feeds have grown.
GROWTH = "feeds"

FEEDS = Counter("feed_positions", "tenant_id", "last_position", zeros=("pruned_position",))
LOG = Counter("log_positions", "name", "position")
_STORE = insert_or_update("log_positions", "name", "position")
_ADVANCE = "UPDATE log_positions SET position = :after WHERE name = :name AND position = :before"
_STORE_OF = insert_or_update("consumer_positions", "tenant_id name", "position")
_ADVANCE_OF = """
UPDATE consumer_positions SET position = :after
WHERE tenant_id = :tenant_id AND name = :name AND position = :before
"""
_LIST_OF = f"""
SELECT name, position FROM consumer_positions WHERE tenant_id = :tenant_id
UNION ALL
SELECT '{END}', last_position FROM feed_positions WHERE tenant_id = :tenant_id LIMIT :limit
"""
_LIST = "SELECT name, position FROM log_positions ORDER BY name LIMIT :limit"
_MAX_NAMES = 100
_ENDS = select_row("feed_positions", "tenant_id, last_position, pruned_position", "tenant_id")


class FeedEnds(NamedTuple):
    """The newest position of a feed, and the newest that was deleted."""

    last: int
    pruned: int


async def find_ends(tx: Tx, tenant_id: str) -> FeedEnds:
    """The ends of a tenant's feed; both 0 before its first event."""
    row = await tx.fetch_one(_ENDS, {"tenant_id": tenant_id})
    if row is None:
        return FeedEnds(0, 0)
    return FeedEnds(row["last_position"], row["pruned_position"])


async def list_positions(tx: Tx, tenant_id: str = "") -> dict[str, int]:
    """Name → position, without consumers that have none yet. tenant_id: whose feed is the log."""
    params = {"tenant_id": tenant_id, "limit": _MAX_NAMES}
    rows = await tx.fetch_all(_LIST_OF if tenant_id else _LIST, params)
    return {row["name"]: row["position"] for row in rows}


async def read_growth(tx: Tx) -> int:
    """A number that changes when the feed of any tenant grows."""
    found = await list_positions(tx)
    return found.get(END, 0) + found.get(GROWTH, 0)


async def store_position(tx: Tx, name: str, position: int, tenant_id: str = "") -> None:
    params = {"tenant_id": tenant_id, "name": name, "position": position}
    await tx.enqueue(_STORE_OF if tenant_id else _STORE, params)


async def advance(tx: Tx, name: str, before: int, after: int, tenant_id: str = "") -> None:
    """Store a position, if it is still `before`; otherwise the work runs again."""
    params = {"tenant_id": tenant_id, "name": name, "before": before, "after": after}
    await tx.execute_one(_ADVANCE_OF if tenant_id else _ADVANCE, params)
