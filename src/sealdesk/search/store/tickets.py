"""The SQL of keeping the search of tickets up to date, which the background loop alone does."""

from sealdesk.db.engine import Row, Tx
from sealdesk.search.store.queue import Kind, about

# Tenants whose tickets of before are not all done, or to whom more has happened; these come first.
_LOOK = """
SELECT t.id AS tenant_id, p.after_id, p.position, f.last_position, f.pruned_position
FROM tenants t
LEFT JOIN search_progress p ON p.tenant_id = t.id
LEFT JOIN feed_positions f ON f.tenant_id = t.id
WHERE p.position IS NULL OR p.after_id IS NOT NULL OR p.position < f.last_position
ORDER BY p.position IS NULL OR p.after_id IS NOT NULL, t.id LIMIT :limit
"""
_NOTE = """
INSERT INTO search_progress (tenant_id, after_id, position)
VALUES (:tenant_id, :after_id, :position)
ON CONFLICT (tenant_id) DO UPDATE SET after_id = :after_id, position = :position
"""
_OLDER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND id > :after_id ORDER BY id LIMIT :limit
"""
_OF_CUSTOMER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND customer_id = :customer_id
ORDER BY id DESC LIMIT :limit
"""
_TICKET = """
SELECT t.number, t.subject, substr(t.description, 1, 20000) AS description,
    c.email, c.name, c.company
FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id AND t.id = :ticket_id LIMIT 1
"""
# The newest ones and not all of them: it is a text to find a ticket by.
_REPLIES = """
SELECT substr(body, 1, 4000) AS body FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
ORDER BY id DESC LIMIT :limit
"""
_LAST_NUMBER = "SELECT number FROM search_documents ORDER BY number DESC LIMIT 1"
_KEPT = """
SELECT number, words FROM search_documents
WHERE tenant_id = :tenant_id AND ticket_id = :about_id LIMIT 1
"""
_PUT = """
INSERT INTO search_documents (tenant_id, ticket_id, number, words)
VALUES (:tenant_id, :about_id, :number, :words)
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET words = excluded.words
WHERE search_documents.words <> excluded.words
"""
_TAKE_OUT = """
INSERT INTO search_index (search_index, rowid, tenant_id, words)
VALUES ('delete', :number, :tenant_id, :words)
"""
_PUT_IN = """
INSERT INTO search_index (rowid, tenant_id, words) VALUES (:number, :tenant_id, :words)
"""
_MERGE = "INSERT INTO search_index (search_index, rank) VALUES ('merge', :pages)"
_MOST_REPLIES = 100
_TICKETS_OF_CUSTOMER = 100  # so many of the newest are told the customer's new name


async def _touched(tx: Tx, event: Row, tenant_id: str) -> list[str]:
    kind, what = event["type"], about(event["object"])
    if kind == "customer.updated":
        params = {"tenant_id": tenant_id, "customer_id": what.id, "limit": _TICKETS_OF_CUSTOMER}
        return [ticket["id"] for ticket in reversed(await tx.fetch_all(_OF_CUSTOMER, params))]
    if kind == "reply.created":
        return [what.ticket_id]
    return [what.id] if kind in ("ticket.created", "ticket.updated") else []


async def _texts(tx: Tx, tenant_id: str, ticket_id: str) -> list[str | None]:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    row = await tx.fetch_one(_TICKET, params)
    if row is None:
        return []
    replies = await tx.fetch_all(_REPLIES, {**params, "limit": _MOST_REPLIES})
    texts = [str(row["number"]), row["subject"], row["email"], row["name"], row["company"]]
    return [*texts, row["description"], *(reply["body"] for reply in replies)]


TICKETS = Kind(
    _LOOK, _NOTE, _OLDER, _touched, _texts, _LAST_NUMBER, _KEPT, _PUT, _TAKE_OUT, _PUT_IN, _MERGE
)
