"""The SQL of searches, for FTS5 and for PostgreSQL."""

from sealdesk.db.column_lists import select_row
from sealdesk.db.engine import Tx
from sealdesk.search import rules
from sealdesk.search.rules import Term
from sealdesk.search.store import rebuilds
from sealdesk.search.store.customers import CUSTOMERS

# The index is read newest first, up to the limit. The word of the tenant's id avoids reading other
# tenants' tickets; the condition on the document guarantees the tenant.
_FIND_BY_FTS5 = """
SELECT d.ticket_id FROM search_index s CROSS JOIN search_documents d
WHERE s.search_index MATCH :wanted AND s.tenant_id = :tenant_id AND d.number = s.rowid
    AND d.tenant_id = :tenant_id AND s.rowid < :most AND +d.ticket_id < :before
ORDER BY s.rowid DESC LIMIT :limit
"""
_NUMBER = select_row("search_documents", "number", "tenant_id ticket_id")
# Tickets get their numbers in the order of their commits, their ids in that of their requests.
_UNORDERED = 50
_HIGHEST_NUMBER = 2**62
_FIND_BY_FUNCTION = """
SELECT ticket_id FROM search_tickets(:tenant_id, :wanted, :before, :at_most)
WHERE tenant_id = :tenant_id LIMIT :limit
"""
# The + hides the bound from the planner, which would read all customers before it for each match.
_FIND_CUSTOMERS_BY_FTS5 = """
SELECT d.customer_id FROM search_index_customers s CROSS JOIN customer_documents d
WHERE s.search_index_customers MATCH :wanted AND s.tenant_id = :tenant_id AND d.number = s.rowid
    AND d.tenant_id = :tenant_id AND +d.customer_id < :before
ORDER BY s.rowid DESC LIMIT :limit
"""
_FIND_CUSTOMERS_BY_FUNCTION = """
SELECT customer_id FROM search_customers(:tenant_id, :wanted, :before, :at_most)
WHERE tenant_id = :tenant_id LIMIT :limit
"""
# The newest documents, whose words are what a misspelt word may have meant.
_WORDS = {
    "sqlite": """
SELECT substr(words, 1, 1000) AS words FROM search_documents WHERE tenant_id = :tenant_id
ORDER BY ticket_id DESC LIMIT :limit
""",
    "postgresql": """
SELECT substr(array_to_string(tsvector_to_array(words), ' '), 1, 1000) AS words
FROM search_documents WHERE tenant_id = :tenant_id ORDER BY ticket_id DESC LIMIT :limit
""",
}


async def find(tx: Tx, tenant_id: str, terms: list[Term], before: str, limit: int) -> list[str]:
    """The ids of the newest tickets before an id that match all terms."""
    params: dict[str, object] = {"tenant_id": tenant_id, "before": before, "limit": limit}
    if tx.dialect == "postgresql":
        params |= {"wanted": rules.tsquery(terms), "at_most": limit}
        rows = await tx.fetch_all(_FIND_BY_FUNCTION, params)
    else:
        params |= {"wanted": rules.fts5_query(terms, tenant_id), "limit": limit + _UNORDERED}
        params["most"] = await _highest_number(tx, tenant_id, before)
        rows = await tx.fetch_all(_FIND_BY_FTS5, params)
    return sorted((row["ticket_id"] for row in rows), reverse=True)[:limit]


async def _highest_number(tx: Tx, tenant_id: str, before: str) -> int:
    """Above the numbers of all tickets before an id, so that the index is read from there on."""
    row = await tx.fetch_one(_NUMBER, {"tenant_id": tenant_id, "ticket_id": before})
    return row["number"] + _UNORDERED if row else _HIGHEST_NUMBER


async def find_customers(
    tx: Tx, tenant_id: str, terms: list[Term], before: str, limit: int
) -> list[str]:
    """The ids of the newest customers before an id that match all terms."""
    params: dict[str, object] = {"tenant_id": tenant_id, "before": before, "limit": limit}
    if tx.dialect == "postgresql":
        params |= {"wanted": rules.tsquery(terms), "at_most": limit}
        rows = await tx.fetch_all(_FIND_CUSTOMERS_BY_FUNCTION, params)
    else:
        params["wanted"] = rules.fts5_query(terms, tenant_id)
        rows = await tx.fetch_all(_FIND_CUSTOMERS_BY_FTS5, params)
    return sorted((row["customer_id"] for row in rows), reverse=True)


async def list_texts(tx: Tx, tenant_id: str, limit: int) -> list[str]:
    """The words of the newest tickets, separated by spaces; 1,000 characters of each."""
    params = {"tenant_id": tenant_id, "limit": limit}
    return [row["words"] for row in await tx.fetch_all(_WORDS[tx.dialect], params)]


async def are_customers_indexed(tx: Tx, tenant_id: str) -> bool:
    rebuilt = await rebuilds.find_rebuild(tx, CUSTOMERS.name)
    return rebuilt is None or rebuilt.tenant_id > tenant_id
