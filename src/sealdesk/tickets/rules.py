"""Which moves are allowed, what a change or a reply does to a ticket, and how it is shown."""

from typing import Any

import msgspec

from sealdesk import clock
from sealdesk.errors import Conflict
from sealdesk.event_log.events import Changes
from sealdesk.resources import etags, merge_patch
from sealdesk.tickets.types import (
    PRIORITIES,
    Priority,
    Reply,
    ReplyResponse,
    Status,
    Ticket,
    TicketChange,
    TicketDocument,
)

# From each status the ones it can change to (decisions 7). The same status is no change.
TRANSITIONS: dict[Status, tuple[Status, ...]] = {
    "open": ("pending", "on_hold", "resolved", "closed"),
    "pending": ("open", "on_hold", "resolved", "closed"),
    "on_hold": ("open", "pending", "resolved", "closed"),
    "resolved": ("open", "pending", "on_hold", "closed"),
    "closed": ("open",),
}
_REOPENED_BY_CUSTOMER: tuple[Status, ...] = ("pending", "on_hold", "resolved")
# Events name each of these that a change alters.
_CHANGEABLE = TicketChange.__struct_fields__
_ENDED: tuple[Status, ...] = ("resolved", "closed")


def rank_of(priority: Priority) -> int:
    """1 for low … 4 for urgent: what priorities are stored and sorted as."""
    return PRIORITIES.index(priority) + 1


def changed(ticket: Ticket, change: TicketChange, now_us: int) -> Ticket:
    """The ticket after a change; the same one when nothing differs. Raises Clash."""
    wanted = merge_patch.given_fields(change)
    if "tags" in wanted:
        wanted["tags"] = distinct(wanted["tags"])
    if "custom_fields" in wanted:
        wanted["custom_fields"] = merge_patch.merge(ticket.custom_fields, wanted["custom_fields"])
    if "status" in wanted:
        wanted |= _moved(ticket, wanted.pop("status"), now_us)
    return _raised(ticket, msgspec.structs.replace(ticket, **wanted), now_us)


def replied(ticket: Ticket, reply: Reply, now_us: int) -> Ticket:
    """The ticket after a reply. Raises Clash when it is closed."""
    if ticket.status == "closed":
        raise Conflict(
            "ticket_closed", 'A closed ticket takes no replies. Set its status to "open" first.'
        )
    after: dict[str, Any] = {
        "updated_at": max(now_us, ticket.updated_at),
        "version": ticket.version + 1,
    }
    if not reply.is_internal:
        after["reply_count"] = ticket.reply_count + 1
        if reply.author.type != "customer" and ticket.first_response_at is None:
            after["first_response_at"] = now_us
        if reply.author.type == "customer" and ticket.status in _REOPENED_BY_CUSTOMER:
            after |= _moved(ticket, "open", now_us)
    return msgspec.structs.replace(ticket, **after)


def distinct(tags: list[str] | None) -> tuple[str, ...]:
    """Tags in the order given, each once."""
    return tuple(dict.fromkeys(tags or ()))


def _moved(ticket: Ticket, status: Status, now_us: int) -> dict[str, Any]:
    """The fields that a change of status sets. Raises Clash."""
    if status == ticket.status:
        return {}
    allowed = TRANSITIONS[ticket.status]
    if status not in allowed:
        raise Conflict(
            "invalid_transition",
            f"A ticket that is {ticket.status} can only become {', '.join(allowed)}.",
            allowed=list(allowed),
        )
    fields: dict[str, Any] = {"status": status}
    if status == "resolved":
        fields["resolved_at"] = now_us
    elif status == "closed":
        fields["closed_at"] = now_us
    elif ticket.status in _ENDED:
        fields |= {"resolved_at": None, "closed_at": None}
    return fields


def _raised(before: Ticket, after: Ticket, now_us: int) -> Ticket:
    if not differences(before, after):
        return before
    updated_at = max(now_us, before.updated_at)
    return msgspec.structs.replace(after, updated_at=updated_at, version=before.version + 1)


def document(ticket: Ticket) -> bytes:
    """The ready JSON of a ticket without its customer, stored beside its columns."""
    return msgspec.json.encode(
        TicketDocument(
            id=ticket.id,
            number=ticket.number,
            subject=ticket.subject,
            description=ticket.description,
            status=ticket.status,
            priority=ticket.priority,
            source=ticket.source,
            assignee_id=ticket.assignee_id,
            tags=ticket.tags,
            custom_fields=ticket.custom_fields,
            external_id=ticket.external_id,
            reply_count=ticket.reply_count,
            created_at=clock.iso(ticket.created_at),
            updated_at=clock.iso(ticket.updated_at),
            first_response_at=clock.iso_or_none(ticket.first_response_at),
            resolved_at=clock.iso_or_none(ticket.resolved_at),
            closed_at=clock.iso_or_none(ticket.closed_at),
            version=ticket.version,
        )
    )


def with_customer(ticket_document: bytes, reference: bytes) -> bytes:
    """TicketShown as JSON, from the ready JSON of a ticket and of what it shows of its customer."""
    return b"".join((ticket_document[:-1], b',"customer":', reference, b"}"))


def reply_document(reply: Reply) -> bytes:
    """ReplyShown as JSON."""
    return msgspec.json.encode(reply_shown(reply))


def reply_shown(reply: Reply) -> ReplyResponse:
    return ReplyResponse(
        reply.id,
        reply.ticket_id,
        reply.body,
        reply.is_internal,
        reply.author,
        clock.iso(reply.created_at),
    )


def differences(before: Ticket, after: Ticket) -> Changes:
    """field → (old, new), for the event of a change."""
    return merge_patch.differences(before, after, _CHANGEABLE)


def etag(ticket_version: int, customer_version: int) -> str:
    """Of a ticket with its customer: a renamed customer changes it too."""
    return etags.etag(ticket_version, customer_version)
