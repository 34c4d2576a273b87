"""The SQL of the feed."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest

_COLUMNS = (
    "e.position, f.last_position, f.pruned_position, e.id, e.type, e.object, e.changes,"
    " e.created_at"
)


class FeedPage(NamedTuple):
    """A page of events and both ends of the feed, read in one snapshot.

    rows: one more than the page when there are more. last_position: of the newest event.
    pruned_position: of the newest event that was deleted.
    """

    rows: Sequence[Row]
    last_position: int
    pruned_position: int


async def list_events(
    tx: Tx, tenant_id: str, types: Sequence[str], after: int, page: PageRequest
) -> FeedPage:
    """Events of these types after a position, in order; one more than the page has if there are
    more."""
    params = {"tenant_id": tenant_id, "after": after, "limit": page.per_page + 1}
    names = [f"type_{index}" for index in range(len(types))]
    params |= dict(zip(names, types, strict=True))
    rows = await tx.fetch_page(_statement(names), params, ("object", "changes"), page.max_bytes)
    if not rows:
        return FeedPage([], 0, 0)  # the tenant has never had an event
    events = [row for row in rows if row["position"] is not None]
    return FeedPage(events, rows[0]["last_position"], rows[0]["pruned_position"])


def _statement(names: Sequence[str]) -> str:
    """One statement, so that the events and both ends of the feed are read in one snapshot.

    It reads one range of the index for each type and merges them; without a LIMIT in each range,
    PostgreSQL reads all events of a common type next to a rare one. SQLite reads the events in
    order, without sorting them, so that a page can end early.
    """
    ranges = " UNION ALL ".join(
        "SELECT position FROM (SELECT position FROM events WHERE tenant_id = :tenant_id"
        f" AND type = :{name} AND position > :after ORDER BY position LIMIT :limit) {name}"
        for name in names
    )
    return (
        f"SELECT {_COLUMNS} FROM feed_positions f LEFT JOIN events e"
        " ON e.tenant_id = :tenant_id"
        f" AND e.position IN ({ranges} ORDER BY position LIMIT :limit)"
        " WHERE f.tenant_id = :tenant_id ORDER BY e.position"
    )
