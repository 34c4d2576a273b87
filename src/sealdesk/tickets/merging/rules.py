"""What merging and splitting do to tickets; no IO."""

from itertools import takewhile
from typing import Any

import msgspec

from sealdesk.errors import Conflict
from sealdesk.resources import merge_patch
from sealdesk.tickets.merging.errors import MERGE_INTO_ITSELF, NOT_MERGED, TOO_MANY_REPLIES
from sealdesk.tickets.merging.types import Conversation, StoredMerge
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.errors import TICKET_CLOSED
from sealdesk.tickets.ticket.types import ENDED, Author, Reply, Status, Ticket, TicketUpdate

# Moving one takes about 20 µs, and other writes wait meanwhile.
MAX_REPLIES = 1000
Fields = dict[str, Any]
UNDO_HOURS = 24
UNDO_US = UNDO_HOURS * 3600 * 1_000_000
_INTO_CLOSED = TICKET_CLOSED.variant(
    'The other ticket is closed. Set its status to "open" first, or merge the other way round.'
)
_NAMED_IN_EVENTS = ("status", "reply_count", "merged_into_id", "snoozed_until")


def check_merge(source: Ticket, target: Ticket) -> None:
    """Raises Conflict if one ticket cannot be merged into the other."""
    if source.id == target.id:
        raise Conflict(MERGE_INTO_ITSELF)
    ticket_rules.check_not_merged(source)
    ticket_rules.check_not_merged(target)
    if target.status == "closed":
        raise Conflict(_INTO_CLOSED)


def is_final(merge: StoredMerge, now_us: int) -> bool:
    """Whether a merge is too old to be undone."""
    return now_us - merge.merged_at >= UNDO_US


def check_count(reply_count: int) -> None:
    """Raises Conflict if so many replies and notes cannot move."""
    if reply_count > MAX_REPLIES:
        raise Conflict(TOO_MANY_REPLIES, max_replies=MAX_REPLIES)


def check_is_merged(ticket: Ticket) -> str:
    """The id of the ticket that this one was merged into. Raises Conflict."""
    if ticket.merged_into_id is None:
        raise Conflict(NOT_MERGED)
    return ticket.merged_into_id


def close_merged(source: Ticket, target_id: str, now_us: int) -> Fields:
    """The fields that merging sets in the ticket that ends."""
    closed_at = source.closed_at or now_us
    return {
        "status": "closed",
        "closed_at": closed_at,
        "merged_into_id": target_id,
        "snoozed_until": None,
    }


def reopen_unmerged(source: Ticket, status: Status) -> Fields:
    """The fields that undoing a merge sets in the ticket that had ended."""
    closed_at = source.closed_at if status == "closed" else None
    return {"status": status, "closed_at": closed_at, "merged_into_id": None}


def update(
    ticket: Ticket, fields: Fields, conversation: Conversation, *, reply_count: int, now_us: int
) -> TicketUpdate:
    """A ticket whose replies have moved. reply_count: of its public replies now."""
    fields = {
        **fields,
        "reply_count": reply_count,
        "last_message_at": conversation.last_message_at or ticket.created_at,
        "snippet": ticket_rules.snippet(
            conversation.text or ticket.description, is_note=conversation.ends_in_note
        ),
        **_turn(ticket, fields.get("status", ticket.status), conversation),
        "updated_at": max(now_us, ticket.updated_at),
        "version": ticket.version + 1,
    }
    after = msgspec.structs.replace(ticket, **fields)
    return TicketUpdate(ticket, after, merge_patch.differences(ticket, after, _NAMED_IN_EVENTS))


def opening_reply(source: Ticket, target: Ticket, reply_id: str, author_name: str | None) -> Reply:
    """The description of a merged ticket as a reply of its customer, at the time of the ticket."""
    return Reply(
        tenant_id=source.tenant_id,
        ticket_id=target.id,
        id=reply_id,
        body=source.description,
        is_internal=False,
        author=Author("customer", source.customer_id, author_name),
        created_at=source.created_at,
        attachments=source.attachments,
    )


def _turn(ticket: Ticket, status: Status, conversation: Conversation) -> Fields:
    """Who wrote last, and since when the customer waits."""
    replies = conversation.public_replies
    unanswered = [at for _, at in takewhile(lambda reply: reply[0] == "customer", replies)]
    since = min(unanswered, default=None)
    if len(unanswered) == len(replies):  # there is no answer at all
        since = min([*unanswered, ticket.created_at])
    return {
        "last_reply_by": replies[0][0] if replies else None,
        "last_customer_reply_at": next((at for by, at in replies if by == "customer"), None),
        "waiting_since": None if status in ENDED else since,
    }
