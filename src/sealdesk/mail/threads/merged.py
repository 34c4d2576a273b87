"""The ticket that the messages of a merged ticket belong to."""

from sealdesk.db.engine import Tx
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.store.tickets import TicketAndCustomer

_MAX_MERGES = 10  # a ticket was merged into another one, and that one into the next


async def find_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer:
    """The ticket, or the one that it was merged into. Raises NotFound."""
    stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
    for _ in range(_MAX_MERGES):
        if stored.ticket.merged_into_id is None:
            break
        stored = await tickets.get_ticket(tx, tenant_id, stored.ticket.merged_into_id)
    return stored
