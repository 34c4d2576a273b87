"""Which notes can be edited, and what that does to the ticket; no IO."""

import msgspec

from sealdesk import ids
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.types import Reply, ReplyResponse, Ticket

MINUTES = 5
_EDITABLE_US = MINUTES * 60 * 1_000_000


def is_own_note(reply: Reply | ReplyResponse, user_id: str) -> bool:
    """Whether it is an internal note that this user wrote."""
    return reply.is_internal and (reply.author.type, reply.author.id) == ("agent", user_id)


def is_recent(note_id: str, now_us: int) -> bool:
    """Whether a note can still be edited; its id has the time at which it was written."""
    return now_us - ids.instant_of(note_id) < _EDITABLE_US


def apply_edit(ticket: Ticket, note: Reply, now_us: int) -> Ticket:
    """The ticket of an edited note."""
    is_newest = ticket.last_message_at == note.created_at
    return msgspec.structs.replace(
        ticket,
        snippet=ticket_rules.snippet(note.body, is_note=True) if is_newest else ticket.snippet,
        updated_at=max(now_us, ticket.updated_at),
        version=ticket.version + 1,
    )
