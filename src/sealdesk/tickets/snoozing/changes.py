"""What the end of a snooze does to a ticket; no IO."""

import msgspec

from sealdesk.tickets.rules import TicketUpdate
from sealdesk.tickets.types import Ticket


def wake(ticket: Ticket, now_us: int) -> TicketUpdate:
    """What the end of its snooze does to a ticket."""
    after = msgspec.structs.replace(
        ticket,
        snoozed_until=None,
        updated_at=max(now_us, ticket.updated_at),
        version=ticket.version + 1,
    )
    return TicketUpdate(ticket, after, {"snoozed_until": (ticket.snoozed_until, None)})
