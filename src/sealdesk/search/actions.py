"""Search for tickets by words, and for customers by the beginnings of words."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.paging import PageRequest
from sealdesk.search import rules
from sealdesk.search.store import lookup
from sealdesk.state import AppState


class SearchResult(NamedTuple):
    """The ids of the newest tickets that match, and whether there are more."""

    ticket_ids: list[str]
    has_more: bool


async def find_tickets(state: AppState, tenant_id: str, query: str) -> SearchResult:
    """Find the newest tickets that match a query. Raises ServiceUnavailable, QueryTooSlow."""
    terms = rules.parse_query(query)
    if not terms:
        return SearchResult([], False)

    async def work(tx: Tx) -> list[str]:
        limit = rules.MAX_RESULTS + 1
        return await lookup.find(tx, tenant_id, terms, limit)

    rows = await state.database.read_unindexed(work, tenant_id)
    return SearchResult(rows[: rules.MAX_RESULTS], len(rows) > rules.MAX_RESULTS)


async def find_customers(
    state: AppState, tenant_id: str, query: str, page: PageRequest
) -> list[str] | None:
    """The ids of matching customers, newest first; one more than the page when there are more.

    None while the tenant's customers are not indexed yet. Raises ServiceUnavailable, QueryTooSlow.
    """
    terms = rules.parse_prefixes(query)
    before = str(page.after[0]) if page.after else lookup.LAST_ID

    async def work(tx: Tx) -> list[str] | None:
        if not await lookup.are_customers_indexed(tx, tenant_id):
            return None
        limit = page.per_page + 1
        return await lookup.find_customers(tx, tenant_id, terms, before, limit)

    return await state.database.read_unindexed(work, tenant_id) if terms else []
