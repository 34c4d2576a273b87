"""The SQL with which the worker erases a customer in the logs and lists of a desk."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sealdesk.db.column_lists import delete_row, select_row, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.erasing.rules import ERASED
from sealdesk.tickets.erasing.steps.store import Params, of_customer
from sealdesk.tickets.erasing.types import FINISHED, Done, Erasure

_MAX_BYTES = 1024 * 1024  # of one step


class Log(NamedTuple):
    """A table whose rows are walked through. key: its primary key without the tenant.

    large: the columns that may be large.
    """

    rows: str
    store: str
    key: tuple[str, ...] = ("id",)
    large: tuple[str, ...] = ()


_EVENTS = """
SELECT id, object, changes FROM events WHERE tenant_id = :tenant_id AND id > :after
ORDER BY id LIMIT :limit
"""
_STORE_EVENT = update_row("events", "object changes")
_DELIVERIES = """
SELECT d.id, e.object FROM deliveries d
JOIN events e ON e.tenant_id = :tenant_id AND e.id = d.event_id
WHERE d.tenant_id = :tenant_id AND d.id > :after ORDER BY d.id LIMIT :limit
"""
_ERASE_ATTEMPTS = """
UPDATE attempts SET answer_headers = NULL, answer_body = NULL, error = NULL
WHERE tenant_id = :tenant_id AND delivery_id = :id
"""
_RESPONSES = """
SELECT key_id, scope, body FROM idempotency
WHERE tenant_id = :tenant_id AND (key_id, scope) > (:after, :after_2)
ORDER BY key_id, scope LIMIT :limit
"""
_STORE_RESPONSE = update_row("idempotency", "body", key="tenant_id key_id scope")
_DELETE_RESPONSE = delete_row("idempotency", "tenant_id key_id scope")
_REFUSALS = """
SELECT key_id, id, target FROM refusals
WHERE tenant_id = :tenant_id AND (key_id, id) > (:after, :after_2) ORDER BY key_id, id LIMIT :limit
"""
_STORE_REFUSAL = update_row("refusals", "target", key="tenant_id key_id id")
_AUDIT = """
SELECT id, details FROM audit WHERE tenant_id = :tenant_id AND id > :after ORDER BY id LIMIT :limit
"""
_STORE_AUDIT = update_row("audit", "details")
_VIEWS = """
SELECT id, name, query FROM views WHERE tenant_id = :tenant_id AND id > :after
ORDER BY id LIMIT :limit
"""
# Where somebody has saved it meanwhile, the step runs again.
_STORE_VIEW = """
UPDATE views SET name = :name, name_identity = :name_identity, query = :query
WHERE tenant_id = :tenant_id AND id = :id AND query = :before
"""
_NOTIFICATIONS = """
SELECT n.id, n.actor_name FROM notifications n
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = n.ticket_id
WHERE n.tenant_id = :tenant_id AND n.id > :after ORDER BY n.id LIMIT :limit
"""
_STORE_NOTIFICATION = update_row("notifications", "actor_name")
_IS_TICKET = select_row("tickets", "id", "tenant_id id customer_id")
_HAS_NAME = f"""
SELECT id FROM attachments WHERE tenant_id = :tenant_id AND id = :id AND name <> '{ERASED}' LIMIT 1
"""
_NEWEST_PENDING = """
SELECT id FROM event_outbox WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT 1
"""
_OLDEST_PENDING = """
SELECT id FROM event_outbox WHERE tenant_id = :tenant_id ORDER BY id LIMIT 1
"""

EVENTS = Log(_EVENTS, _STORE_EVENT, large=("object", "changes"))
DELIVERIES = Log(_DELIVERIES, _ERASE_ATTEMPTS, large=("object",))
RESPONSES = Log(_RESPONSES, _STORE_RESPONSE, key=("key_id", "scope"), large=("body",))
REFUSALS = Log(_REFUSALS, _STORE_REFUSAL, key=("key_id", "id"), large=("target",))
AUDIT = Log(_AUDIT, _STORE_AUDIT, large=("details",))
VIEWS = Log(_VIEWS, _STORE_VIEW, large=("query",))
NOTIFICATIONS = Log(_NOTIFICATIONS, _STORE_NOTIFICATION, large=("actor_name",))


async def list_rows(tx: Tx, erasure: Erasure, log: Log, limit: int) -> Sequence[Row]:
    """The next rows behind the cursor, up to 1 MiB."""
    after, _, after_2 = erasure.cursor.partition("\n")
    params = {"tenant_id": erasure.tenant_id, "after": after, "limit": limit}
    if len(log.key) > 1:
        params["after_2"] = after_2
    return await tx.fetch_page(log.rows, params, log.large, _MAX_BYTES)


async def store_rows(
    tx: Tx, erasure: Erasure, log: Log, rows: Sequence[Row], changed: Sequence[Params]
) -> Done:
    """How far the step is with these rows. changed: key and new values of each that differs."""
    if changed:
        many = [{"tenant_id": erasure.tenant_id, **each} for each in changed]
        await tx.execute_many(log.store, many)
    return Done("\n".join(rows[-1][name] for name in log.key)) if rows else FINISHED


async def delete_responses(tx: Tx, erasure: Erasure, rows: Sequence[Row]) -> None:
    keys = [{"key_id": row["key_id"], "scope": row["scope"]} for row in rows]
    if keys:
        many = [{"tenant_id": erasure.tenant_id, **each} for each in keys]
        await tx.execute_many(_DELETE_RESPONSE, many)


async def find_tickets(tx: Tx, erasure: Erasure, ticket_ids: Collection[str]) -> set[str]:
    """Which of these tickets are the customer's."""
    many = [{**of_customer(erasure), "id": each} for each in sorted(ticket_ids)]
    found = await tx.fetch_for_each(_IS_TICKET, many) if many else []
    return {rows[0]["id"] for rows in found if rows}


async def find_named(tx: Tx, erasure: Erasure, attachment_ids: Collection[str]) -> set[str]:
    """Which of these attachments still have their name."""
    many = [{"tenant_id": erasure.tenant_id, "id": each} for each in sorted(attachment_ids)]
    found = await tx.fetch_for_each(_HAS_NAME, many) if many else []
    return {rows[0]["id"] for rows in found if rows}


async def find_pending(tx: Tx, tenant_id: str) -> tuple[str, str] | None:
    """The oldest and the newest event of a desk that have no position yet."""
    oldest = await tx.fetch_one(_OLDEST_PENDING, {"tenant_id": tenant_id})
    newest = await tx.fetch_one(_NEWEST_PENDING, {"tenant_id": tenant_id})
    return None if oldest is None or newest is None else (oldest["id"], newest["id"])
