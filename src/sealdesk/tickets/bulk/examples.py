"""Examples of requests with several tickets for the API reference."""

from sealdesk.tickets import examples
from sealdesk.tickets.bulk.types import BulkMeta, TicketResult

RESULT = TicketResult(201, '"1.1"', examples.TICKET)
META = BulkMeta(item_count=1, refused_count=0)
NEW_TICKETS = {"tickets": [examples.NEW_TICKET]}
TICKET_CHANGES = {"tickets": [{"id": examples.TICKET.id, "status": "pending", "if_match": '"1.1"'}]}
