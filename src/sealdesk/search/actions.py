"""Finding the tickets in which words stand."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.search import rules, store
from sealdesk.shared import Shared


class Found(NamedTuple):
    """The newest tickets in which the words stand, and whether there are more."""

    ticket_ids: list[str]
    has_more: bool


async def find_tickets(shared: Shared, tenant_id: str, question: str) -> Found:
    """Raises Unavailable, with the code query_too_slow when it takes too long."""
    terms = rules.terms_of(question)
    if not terms:
        return Found([], False)
    is_postgres = bool(shared.settings.database_url)

    async def work(tx: Tx) -> list[str]:
        most = rules.MOST_FOUND + 1
        return await store.find(tx, tenant_id, terms, most, is_postgres=is_postgres)

    found = await shared.database.read_slowly(work, tenant_id)
    return Found(found[: rules.MOST_FOUND], len(found) > rules.MOST_FOUND)
