"""The SQL of keeping the search of customers up to date, which the background loop alone does."""

from sealdesk.db.engine import Row, Tx
from sealdesk.search import rules
from sealdesk.search.store.queue import Kind, about

_LOOK = """
SELECT t.id AS tenant_id, p.after_id, p.position, f.last_position, f.pruned_position
FROM tenants t
LEFT JOIN customer_progress p ON p.tenant_id = t.id
LEFT JOIN feed_positions f ON f.tenant_id = t.id
WHERE p.position IS NULL OR p.after_id IS NOT NULL OR p.position < f.last_position
ORDER BY p.position IS NULL OR p.after_id IS NOT NULL, t.id LIMIT :limit
"""
_NOTE = """
INSERT INTO customer_progress (tenant_id, after_id, position)
VALUES (:tenant_id, :after_id, :position)
ON CONFLICT (tenant_id) DO UPDATE SET after_id = :after_id, position = :position
"""
_OLDER = """
SELECT id FROM customers WHERE tenant_id = :tenant_id AND id > :after_id ORDER BY id LIMIT :limit
"""
_CUSTOMER = """
SELECT name, email, company, phone, external_id FROM customers
WHERE tenant_id = :tenant_id AND id = :customer_id LIMIT 1
"""
_LAST_NUMBER = "SELECT number FROM customer_documents ORDER BY number DESC LIMIT 1"
_KEPT = """
SELECT number, words FROM customer_documents
WHERE tenant_id = :tenant_id AND customer_id = :about_id LIMIT 1
"""
_PUT = """
INSERT INTO customer_documents (tenant_id, customer_id, number, words)
VALUES (:tenant_id, :about_id, :number, :words)
ON CONFLICT (tenant_id, customer_id) DO UPDATE SET words = excluded.words
WHERE customer_documents.words <> excluded.words
"""
_TAKE_OUT = """
INSERT INTO search_index_customers (search_index_customers, rowid, tenant_id, words)
VALUES ('delete', :number, :tenant_id, :words)
"""
_PUT_IN = """
INSERT INTO search_index_customers (rowid, tenant_id, words) VALUES (:number, :tenant_id, :words)
"""
_MERGE = """
INSERT INTO search_index_customers (search_index_customers, rank) VALUES ('merge', :pages)
"""


async def _touched(_: Tx, event: Row, tenant_id: str) -> list[str]:
    is_of_customer = event["type"] in ("customer.created", "customer.updated")
    return [about(event["object"]).id] if is_of_customer else []


async def _texts(tx: Tx, tenant_id: str, customer_id: str) -> list[str | None]:
    params = {"tenant_id": tenant_id, "customer_id": customer_id}
    row = await tx.fetch_one(_CUSTOMER, params)
    return [] if row is None else [*row, rules.digits_of(row["phone"] or "")]


CUSTOMERS = Kind(
    _LOOK, _NOTE, _OLDER, _touched, _texts, _LAST_NUMBER, _KEPT, _PUT, _TAKE_OUT, _PUT_IN, _MERGE
)
