"""The SQL of searching: one statement for each kind of index."""

from sealdesk.db.engine import Tx
from sealdesk.search import rules
from sealdesk.search.rules import Term
from sealdesk.search.store import rebuilds
from sealdesk.search.store.customers import CUSTOMERS

# The index gives the newest first and is left as soon as there are enough. The word that stands
# for the tenant spares reading other tenants' tickets; the row says whose it is.
_FIND_BY_FTS5 = """
SELECT d.ticket_id FROM search_index s CROSS JOIN search_documents d
WHERE s.search_index MATCH :wanted AND s.tenant_id = :tenant_id AND d.number = s.rowid
    AND d.tenant_id = :tenant_id
ORDER BY s.rowid DESC LIMIT :limit
"""
_FIND_BY_FUNCTION = """
SELECT ticket_id FROM search_tickets(:tenant_id, :wanted, :at_most)
WHERE tenant_id = :tenant_id LIMIT :limit
"""
# The sign hides the bound from the planner, which would read all customers before it for each hit.
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
LAST_ID = "g"  # sorts behind every id


async def find(tx: Tx, tenant_id: str, terms: list[Term], limit: int) -> list[str]:
    """The ids of the newest tickets in which all of it stands."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": limit}
    if tx.dialect == "postgresql":
        params |= {"wanted": rules.query_of(terms), "at_most": limit}
        rows = await tx.fetch_all(_FIND_BY_FUNCTION, params)
    else:
        params["wanted"] = rules.match_of(terms, tenant_id)
        rows = await tx.fetch_all(_FIND_BY_FTS5, params)
    return sorted((row["ticket_id"] for row in rows), reverse=True)


async def find_customers(
    tx: Tx, tenant_id: str, terms: list[Term], before: str, limit: int
) -> list[str]:
    """The ids of the newest customers, of those before one, in whom all of it stands."""
    params: dict[str, object] = {"tenant_id": tenant_id, "before": before, "limit": limit}
    if tx.dialect == "postgresql":
        params |= {"wanted": rules.query_of(terms), "at_most": limit}
        rows = await tx.fetch_all(_FIND_CUSTOMERS_BY_FUNCTION, params)
    else:
        params["wanted"] = rules.match_of(terms, tenant_id)
        rows = await tx.fetch_all(_FIND_CUSTOMERS_BY_FTS5, params)
    return sorted((row["customer_id"] for row in rows), reverse=True)


async def are_customers_indexed(tx: Tx, tenant_id: str) -> bool:
    """Whether a rebuild has passed all customers of the tenant."""
    rebuilt = await rebuilds.find_rebuild(tx, CUSTOMERS.name)
    return rebuilt is None or rebuilt.tenant_id > tenant_id
