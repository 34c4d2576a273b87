"""The SQL of notifications."""

from collections.abc import Collection, Sequence

from sealdesk import clock, ids
from sealdesk.db.column_lists import insert_into, select_row
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.notifications.types import Kind, Notification

MAX_OF_USER = 500
MAX_COUNT = 99  # that are counted as unread
_KEPT_US = 90 * 24 * 3600 * 1_000_000

_ADD = insert_into("notifications", "tenant_id id user_id kind ticket_id actor_name created_at")
_DELETE_OLD = """
DELETE FROM notifications WHERE tenant_id = :tenant_id AND user_id = :user_id AND (id < :oldest
    OR id <= (SELECT n.id FROM notifications n WHERE n.tenant_id = :tenant_id
        AND n.user_id = :user_id ORDER BY n.id DESC LIMIT 1 OFFSET :kept))
"""
_LIST = """
SELECT n.id, n.kind, n.ticket_id, t.number, t.subject, n.actor_name, n.created_at, n.read_at
FROM notifications n JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = n.ticket_id
WHERE n.tenant_id = :tenant_id AND n.user_id = :user_id AND n.id < :before
ORDER BY n.id DESC LIMIT :limit
"""
_COUNT_UNREAD = """
SELECT count(*) AS count FROM (SELECT 1 FROM notifications
    WHERE tenant_id = :tenant_id AND user_id = :user_id AND read_at IS NULL LIMIT :limit) unread
"""
_FIND_TICKET = select_row("notifications", "ticket_id", "tenant_id id user_id")
_MARK = """
UPDATE notifications SET read_at = :now
WHERE tenant_id = :tenant_id AND user_id = :user_id AND id = :id AND read_at IS NULL
"""
_MARK_ALL = """
UPDATE notifications SET read_at = :now
WHERE tenant_id = :tenant_id AND user_id = :user_id AND id <= :until AND read_at IS NULL
"""
_LIST_NOTIFIED = """
SELECT ticket_id, created_at, user_id FROM notifications
WHERE tenant_id = :tenant_id AND id >= :low AND id < :high ORDER BY id LIMIT :limit
"""
_MAX_NOTIFIED = 500


async def add(
    tx: Tx,
    tenant_id: str,
    user_ids: Collection[str],
    kind: Kind,
    ticket_id: str,
    *,
    actor_name: str,
    now_us: int,
) -> None:
    """Notify users; first delete what they have above their limit, and what is 90 days old."""
    oldest = {"oldest": ids.lowest(now_us - _KEPT_US), "kept": MAX_OF_USER - 1}
    users = [{"tenant_id": tenant_id, "user_id": user_id} for user_id in sorted(user_ids)]
    if users:  # in one round trip, as followers may be many
        await tx.execute_many(_DELETE_OLD, [{**params, **oldest} for params in users])
    for params in users:
        added = {"id": ids.mint(now_us), "kind": kind, "ticket_id": ticket_id}
        await tx.execute_one(
            _ADD, {**params, **added, "actor_name": actor_name, "created_at": now_us}
        )


async def list_notifications(
    tx: Tx, tenant_id: str, user_id: str, page: PageRequest
) -> list[Notification]:
    """Newest first; one more than the page when there are more."""
    rows = await tx.fetch_all(_LIST, page.params(tenant_id) | {"user_id": user_id})
    return [_notification(row) for row in rows]


async def count_unread(tx: Tx, tenant_id: str, user_id: str) -> int:
    """How many are unread, at most one more than MAX_COUNT."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": MAX_COUNT + 1}
    row = await tx.fetch_one(_COUNT_UNREAD, params)
    return 0 if row is None else int(row["count"])


async def find_ticket_id(tx: Tx, tenant_id: str, user_id: str, notification_id: str) -> str | None:
    """The ticket of a notification of this user."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "id": notification_id}
    row = await tx.fetch_one(_FIND_TICKET, params)
    return None if row is None else str(row["ticket_id"])


async def mark_read(
    tx: Tx, tenant_id: str, user_id: str, notification_id: str, now_us: int
) -> None:
    params = {"tenant_id": tenant_id, "user_id": user_id, "id": notification_id}
    await tx.execute(_MARK, {**params, "now": now_us})


async def mark_all_read(tx: Tx, tenant_id: str, user_id: str, until_id: str, now_us: int) -> None:
    """Mark those up to the newest that the page has shown."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "until": until_id}
    await tx.execute(_MARK_ALL, {**params, "now": now_us})


async def list_notified(
    tx: Tx, tenant_id: str, since_us: int, until_us: int
) -> dict[tuple[str, int], Sequence[str]]:
    """Users by the ticket and the time of what they were notified of, between two times."""
    params = {"low": ids.lowest(since_us), "high": ids.lowest(until_us + 1)}
    rows = await tx.fetch_all(
        _LIST_NOTIFIED, {"tenant_id": tenant_id, **params, "limit": _MAX_NOTIFIED}
    )
    found: dict[tuple[str, int], list[str]] = {}
    for row in rows:
        found.setdefault((row["ticket_id"], row["created_at"]), []).append(row["user_id"])
    return dict(found)


def _notification(row: Row) -> Notification:
    return Notification(
        row["id"],
        row["kind"],
        row["ticket_id"],
        row["number"],
        row["subject"],
        row["actor_name"],
        clock.iso(row["created_at"]),
        row["read_at"] is not None,
    )
