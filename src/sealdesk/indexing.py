"""The indexer: keeps what is searched up to date with what happened, so that writes pay nothing."""

from sealdesk.db.engine import Tx
from sealdesk.search import queue
from sealdesk.search.queue import Behind
from sealdesk.shared import Shared

_STEP_TENANTS = 20
_STEP_TICKETS = 20
_TICKETS_OF_CUSTOMER = 100


async def index(shared: Shared) -> int:
    """Look at some tickets of tenants who are behind; how many tenants."""
    if not await shared.database.read(lambda tx: queue.list_behind(tx, 1)):
        return 0
    is_postgres = bool(shared.settings.database_url)
    return await shared.database.write(lambda tx: _step(tx, is_postgres=is_postgres))


async def _step(tx: Tx, *, is_postgres: bool) -> int:
    # Of several workers one at a time, so that a newer text is never replaced by an older one.
    if not await tx.try_lock("indexer"):
        return 0
    tenants = tickets = 0
    for behind in await queue.list_behind(tx, _STEP_TENANTS):
        ticket_ids, done = await _next(tx, behind)
        await queue.put(tx, behind.tenant_id, ticket_ids, is_postgres=is_postgres)
        await queue.note(tx, done)
        tenants, tickets = tenants + 1, tickets + len(ticket_ids)
        if tickets >= _STEP_TICKETS:
            break
    return tenants


async def _next(tx: Tx, behind: Behind) -> tuple[list[str], Behind]:
    """The tickets to look at, and how far one is then."""
    if behind.after_id is None:
        touched, position = await queue.list_touched(
            tx, behind, _STEP_TICKETS, _TICKETS_OF_CUSTOMER
        )
        return touched, behind._replace(position=position)
    older = await queue.list_older(tx, behind, _STEP_TICKETS)
    return older, behind._replace(after_id=older[-1] if len(older) == _STEP_TICKETS else None)
