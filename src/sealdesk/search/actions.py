"""Search for tickets by words, and for customers by the beginnings of words."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db import threads
from sealdesk.db.engine import Tx
from sealdesk.resources.paging import LAST_ID, PageRequest
from sealdesk.search import rules, spelling
from sealdesk.search.rules import Term
from sealdesk.search.store import lookup
from sealdesk.state import AppState

_DOCUMENTS_WITH_WORDS = 2000  # the newest ones, of which a misspelt word may be corrected


class SearchResult(NamedTuple):
    """The ids of the newest tickets that match, and whether there are more.

    terms: that they match. corrected: the query that found them where the one that was asked found
    nothing, "" otherwise.
    """

    ticket_ids: list[str]
    has_more: bool
    terms: Sequence[Term] = ()
    corrected: str = ""


async def find_tickets(
    state: AppState,
    tenant_id: str,
    query: str,
    *,
    besides: Sequence[Term] = (),
    before: str = LAST_ID,
    limit: int = rules.MAX_RESULTS,
) -> SearchResult:
    """Find the newest tickets that match a query. Raises ServiceUnavailable, QueryTooSlow.

    Its phone numbers are also looked up as people dial them; fewer digits where they find none.
    besides: further terms that they match, of tags and of custom fields. before: the id behind
    which the page begins.
    """
    terms = rules.parse_query(query)
    found = await _find(state, tenant_id, [*terms, *besides], before, limit)
    may_be_dialled = rules.has_phone(query) or not found.ticket_ids
    dialled = rules.parse_dialled(query) if may_be_dialled else ()
    if not dialled:
        return found
    by_phone = await _find(state, tenant_id, [*dialled, *besides], before, limit)
    ids = sorted({*found.ticket_ids, *by_phone.ticket_ids}, reverse=True)
    has_more = found.has_more or by_phone.has_more or len(ids) > limit
    return SearchResult(ids[:limit], has_more, [*found.terms, *by_phone.terms])


async def find_corrected(
    state: AppState,
    tenant_id: str,
    query: str,
    *,
    besides: Sequence[Term] = (),
    before: str = LAST_ID,
    limit: int,
) -> SearchResult:
    """Find tickets by the words that were probably meant, where the query itself finds none.

    Raises ServiceUnavailable, QueryTooSlow.
    """
    texts = await state.database.read_unindexed(
        lambda tx: lookup.list_texts(tx, tenant_id, _DOCUMENTS_WITH_WORDS), tenant_id
    )
    # A set of the words of 2,000 tickets takes 30 ms: not in the event loop.
    terms = await threads.run_in(None, spelling.correct, rules.parse_query(query), texts)
    if terms is None:
        return SearchResult([], has_more=False)
    found = await _find(state, tenant_id, [*terms, *besides], before, limit)
    return found._replace(terms=terms, corrected=rules.as_query(terms))


async def _find(
    state: AppState, tenant_id: str, terms: list[Term], before: str, limit: int
) -> SearchResult:
    if not terms:
        return SearchResult([], has_more=False)
    rows = await state.database.read_unindexed(
        lambda tx: lookup.find(tx, tenant_id, terms, before, limit + 1), tenant_id
    )
    return SearchResult(rows[:limit], len(rows) > limit, terms)


async def find_customers(
    state: AppState, tenant_id: str, query: str, page: PageRequest
) -> list[str] | None:
    """The ids of matching customers, newest first; one more than the page when there are more.

    None while the tenant's customers are not indexed yet. Raises ServiceUnavailable, QueryTooSlow.
    """
    terms = rules.parse_prefixes(query)

    async def work(tx: Tx) -> list[str] | None:
        if not await lookup.are_customers_indexed(tx, tenant_id):
            return None
        limit = page.per_page + 1
        return await lookup.find_customers(tx, tenant_id, terms, page.before, limit)

    return await state.database.read_unindexed(work, tenant_id) if terms else []
