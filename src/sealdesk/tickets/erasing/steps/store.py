"""The SQL with which the worker erases a customer: their tickets, and what is next of the work."""

from collections.abc import Sequence

from sealdesk.customers.store import STORED as CUSTOMER_COLUMNS
from sealdesk.customers.store import customer_of
from sealdesk.customers.store import list_merged as list_merged_customers
from sealdesk.customers.types import Customer
from sealdesk.db.column_lists import column_list, delete_row, select_row, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.erasing.rules import ERASED
from sealdesk.tickets.erasing.store import ERASURES
from sealdesk.tickets.erasing.types import Erasure
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store.tickets import COLUMNS, encode_part, ticket_of
from sealdesk.tickets.ticket.types import Ticket

Params = dict[str, object]
_MAX_BYTES = 1024 * 1024
# Longer than any request that has found the customer by their address before they were erased.
_BEGINS_AFTER_US = 10_000_000

# The inner LIMIT lets SQLite read the index of unfinished ones instead of all by their tenant.
_LIST_TENANTS = """
SELECT tenant_id FROM (
    SELECT tenant_id, stepped_at FROM erasures WHERE finished_at IS NULL AND created_at <= :ready_at
    ORDER BY stepped_at, tenant_id, customer_id LIMIT 100000
) d GROUP BY tenant_id ORDER BY min(stepped_at), tenant_id LIMIT :limit
"""
_CLAIM = f"""
SELECT {column_list(ERASURES.columns)} FROM erasures
WHERE tenant_id = :tenant_id AND finished_at IS NULL AND created_at <= :ready_at
ORDER BY stepped_at, customer_id LIMIT 1
"""
_STORE_STEP = update_row(
    "erasures",
    "texts stage cursor stepped_at erased_ticket_count finished_at",
    key="tenant_id customer_id",
)
_POSTPONE = """
UPDATE erasures SET stepped_at = :stepped_at
WHERE tenant_id = :tenant_id AND customer_id = (SELECT customer_id FROM erasures
    WHERE tenant_id = :tenant_id AND finished_at IS NULL AND created_at <= :ready_at
    ORDER BY stepped_at, customer_id LIMIT 1)
"""
_CUSTOMER = select_row("customers", column_list(CUSTOMER_COLUMNS))
_TICKET_IDS = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND customer_id = :customer_id AND id >= :first
ORDER BY id LIMIT :limit
"""
_REPLIES = """
SELECT r.ticket_id, r.id, r.attachments
FROM tickets t JOIN replies r ON r.tenant_id = :tenant_id AND r.ticket_id = t.id
WHERE t.tenant_id = :tenant_id AND t.customer_id = :customer_id
    AND t.id >= :first AND t.id <= :last AND (t.id > :first OR r.id > :after)
ORDER BY t.id, r.id LIMIT :limit
"""
_CHANGES = """
SELECT r.ticket_id, r.id, r.changes
FROM tickets t JOIN ticket_changes r ON r.tenant_id = :tenant_id AND r.ticket_id = t.id
WHERE t.tenant_id = :tenant_id AND t.customer_id = :customer_id
    AND t.id >= :first AND t.id <= :last AND (t.id > :first OR r.id > :after)
ORDER BY t.id, r.id LIMIT :limit
"""
_ERASE_REPLY = f"""
UPDATE replies SET body = '{ERASED}', attachments = NULL, delivery_reason = NULL,
    author_name = CASE WHEN author_type = 'customer' THEN NULL ELSE author_name END
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :id
"""
_STORE_CHANGES = update_row("ticket_changes", "changes", key="tenant_id ticket_id id")
# Without its ticket, retention deletes it like an upload that nothing refers to.
_ERASE_ATTACHMENT = f"""
UPDATE attachments SET name = '{ERASED}', ticket_id = NULL, reply_id = NULL
WHERE tenant_id = :tenant_id AND id = :id
"""
_TICKETS = f"""
SELECT {COLUMNS} FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.customer_id = :customer_id AND t.id > :after
ORDER BY t.id LIMIT :limit
"""
_ERASE_TICKET = f"""
UPDATE tickets SET subject = '{ERASED}', description = '{ERASED}', snippet = '{ERASED}',
    custom_fields = '{{}}', external_id = NULL, attachments = NULL,
    satisfaction = :satisfaction, document = :document, version = :version
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""
_MERGED = """
SELECT id, merged_into_id FROM tickets
WHERE tenant_id = :tenant_id AND customer_id = :customer_id AND merged_into_id IS NOT NULL
    AND id > :after ORDER BY id LIMIT :limit
"""
_TARGET = select_row("tickets", "customer_id, merged_into_id")
_THEIRS = f"""
SELECT ticket_id, id, attachments FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND author_type = 'customer'
    AND author_id = :customer_id AND body <> '{ERASED}' ORDER BY id LIMIT :limit
"""
_REPLY = f"""
SELECT ticket_id, id, attachments FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :id AND body <> '{ERASED}'
LIMIT 1
"""
_DELETE_MERGE = delete_row("ticket_merges", "tenant_id source_id")
_UPDATES = """
SELECT position, object, changes FROM events
WHERE tenant_id = :tenant_id AND type = 'customer.updated' AND position > :after
ORDER BY position LIMIT :limit
"""
_ERASE_SNIPPET = f"""
UPDATE tickets SET snippet = '{ERASED}' WHERE tenant_id = :tenant_id AND id = :id
    AND '{ERASED}' = (SELECT r.body FROM replies r WHERE r.tenant_id = :tenant_id
        AND r.ticket_id = :id ORDER BY r.id DESC LIMIT 1)
"""


async def list_due_tenants(tx: Tx, now_us: int, limit: int) -> list[str]:
    """The desks with erasures to continue, first those that had no step for the longest time."""
    params = {"ready_at": now_us - _BEGINS_AFTER_US, "limit": limit}
    return [row["tenant_id"] for row in await tx.fetch_all(_LIST_TENANTS, params)]


async def claim_erasure(tx: Tx, tenant_id: str, now_us: int) -> Erasure | None:
    """Lock the erasure of a desk that had no step for the longest time."""
    rows = await tx.select_for_update(_CLAIM, _due(tenant_id, now_us))
    return ERASURES.read(rows[0]) if rows else None


def _due(tenant_id: str, now_us: int) -> Params:
    return {"tenant_id": tenant_id, "ready_at": now_us - _BEGINS_AFTER_US}


async def store_step(tx: Tx, erasure: Erasure) -> None:
    await tx.execute_one(_STORE_STEP, ERASURES.params(erasure))


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Let the desk's other erasures have their steps before the one that would be next."""
    await tx.execute(_POSTPONE, {**_due(tenant_id, now_us), "stepped_at": now_us})


async def find_customer(tx: Tx, erasure: Erasure) -> Customer | None:
    params = {"tenant_id": erasure.tenant_id, "id": erasure.customer_id}
    row = await tx.fetch_one(_CUSTOMER, params)
    return None if row is None else customer_of(row)


async def list_updates(tx: Tx, erasure: Erasure, after: int, limit: int) -> Sequence[Row]:
    """The next changes of customers of the desk, up to 1 MiB. after: a position."""
    params = {"tenant_id": erasure.tenant_id, "after": after, "limit": limit}
    return await tx.fetch_page(_UPDATES, params, ("object", "changes"), _MAX_BYTES)


async def list_ticket_ids(tx: Tx, erasure: Erasure, first: str, limit: int) -> list[str]:
    """The customer's tickets from an id on."""
    params = {**of_customer(erasure), "first": first, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_TICKET_IDS, params)]


async def list_replies(
    tx: Tx, erasure: Erasure, *, first: str, after: str, last: str, limit: int
) -> Sequence[Row]:
    """Replies in these tickets, those of the first one behind a reply."""
    span = {"first": first, "after": after, "last": last, "limit": limit}
    return await tx.fetch_all(_REPLIES, {**of_customer(erasure), **span})


async def list_changes(
    tx: Tx, erasure: Erasure, *, first: str, after: str, last: str, limit: int
) -> Sequence[Row]:
    """Changes of these tickets, those of the first one behind a change."""
    span = {"first": first, "after": after, "last": last, "limit": limit}
    return await tx.fetch_all(_CHANGES, {**of_customer(erasure), **span})


async def erase_replies(tx: Tx, tenant_id: str, rows: Sequence[Row]) -> None:
    """rows: with the ticket_id and id of each reply."""
    keys = [
        {"tenant_id": tenant_id, "ticket_id": row["ticket_id"], "id": row["id"]} for row in rows
    ]
    await _for_each(tx, _ERASE_REPLY, keys)


async def store_changes(tx: Tx, tenant_id: str, changed: Sequence[Params]) -> None:
    """changed: ticket_id, id and changes of each."""
    await _for_each(tx, _STORE_CHANGES, [{"tenant_id": tenant_id, **each} for each in changed])


async def erase_attachments(tx: Tx, tenant_id: str, ids: Sequence[str]) -> None:
    await _for_each(tx, _ERASE_ATTACHMENT, [{"tenant_id": tenant_id, "id": each} for each in ids])


async def list_tickets(tx: Tx, erasure: Erasure, after: str, limit: int) -> list[Ticket]:
    """The customer's tickets behind an id."""
    params = {**of_customer(erasure), "after": after, "limit": limit}
    rows = await tx.fetch_page(_TICKETS, params, ("description",), _MAX_BYTES)
    return [ticket_of(row) for row in rows]


async def erase_ticket(tx: Tx, before: int, ticket: Ticket) -> None:
    """Store an erased ticket. before: the version that it had."""
    params: Params = {
        "tenant_id": ticket.tenant_id,
        "id": ticket.id,
        "before": before,
        "version": ticket.version,
        "satisfaction": encode_part(ticket.satisfaction),
        "document": documents.ready_document(ticket),
    }
    await tx.execute_one(_ERASE_TICKET, params)


async def list_merged(tx: Tx, erasure: Erasure, after: str, limit: int) -> Sequence[Row]:
    """The id and merged_into_id of the customer's tickets that were merged into others."""
    return await tx.fetch_all(_MERGED, {**of_customer(erasure), "after": after, "limit": limit})


async def find_target(tx: Tx, tenant_id: str, ticket_id: str) -> Row | None:
    """The customer_id and merged_into_id of a ticket."""
    return await tx.fetch_one(_TARGET, {"tenant_id": tenant_id, "id": ticket_id})


async def list_theirs(tx: Tx, erasure: Erasure, ticket_id: str, limit: int) -> Sequence[Row]:
    """Replies of the customer in a ticket that still have their text, and of merged customers."""
    merged = await list_merged_customers(tx, erasure.tenant_id, erasure.customer_id)
    one = {"tenant_id": erasure.tenant_id, "ticket_id": ticket_id, "limit": limit}
    many = [{**one, "customer_id": each} for each in (erasure.customer_id, *merged)]
    found = await tx.fetch_for_each(_THEIRS, many)
    return [row for rows in found for row in rows][:limit]


async def list_moved(tx: Tx, tenant_id: str, ticket_id: str, reply_ids: Sequence[str]) -> list[Row]:
    """Of these replies those that are in a ticket and still have their text."""
    one = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    found = await tx.fetch_for_each(_REPLY, [{**one, "id": each} for each in reply_ids])
    return [rows[0] for rows in found if rows]


async def end_merge(tx: Tx, tenant_id: str, source_id: str, target_id: str) -> None:
    """Make a merge final, and erase the beginning of the last reply where it was erased."""
    await tx.execute(_DELETE_MERGE, {"tenant_id": tenant_id, "source_id": source_id})
    await tx.execute(_ERASE_SNIPPET, {"tenant_id": tenant_id, "id": target_id})


def of_customer(erasure: Erasure) -> Params:
    return {"tenant_id": erasure.tenant_id, "customer_id": erasure.customer_id}


async def _for_each(tx: Tx, sql: str, many: Sequence[Params]) -> None:
    if many:
        await tx.execute_many(sql, many)
