"""Finding the tickets in which words stand, and the customers in whom they begin."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.paging import PageRequest
from sealdesk.search import rules
from sealdesk.search.store import lookup
from sealdesk.state import AppState


class Found(NamedTuple):
    """The newest tickets in which the words stand, and whether there are more."""

    ticket_ids: list[str]
    has_more: bool


async def find_tickets(state: AppState, tenant_id: str, question: str) -> Found:
    """Raises ServiceUnavailable, with the code query_too_slow when it takes too long."""
    terms = rules.terms_of(question)
    if not terms:
        return Found([], False)

    async def work(tx: Tx) -> list[str]:
        most = rules.MOST_FOUND + 1
        return await lookup.find(tx, tenant_id, terms, most)

    found = await state.database.read_unindexed(work, tenant_id)
    return Found(found[: rules.MOST_FOUND], len(found) > rules.MOST_FOUND)


async def find_customers(
    state: AppState, tenant_id: str, question: str, page: PageRequest
) -> list[str] | None:
    """The ids of customers in whom words begin so, newest first; one more when there are more.

    None while a rebuild has not passed the tenant. Raises ServiceUnavailable, QueryTooSlow.
    """
    terms = rules.beginnings_of(question)
    before = str(page.after[0]) if page.after else lookup.LAST_ID

    async def work(tx: Tx) -> list[str] | None:
        if not await lookup.are_customers_indexed(tx, tenant_id):
            return None
        most = page.per_page + 1
        return await lookup.find_customers(tx, tenant_id, terms, before, most)

    return await state.database.read_unindexed(work, tenant_id) if terms else []
