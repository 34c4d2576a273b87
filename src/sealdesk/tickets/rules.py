"""What a ticket and a reply are, and which moves are allowed; no IO, no clock."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.customers.rules import CustomerRef, Email, Object, Text255, is_same, merged
from sealdesk.errors import Clash
from sealdesk.events import Changes
from sealdesk.ids import Id

Status = Literal["open", "pending", "on_hold", "resolved", "closed"]
FirstStatus = Literal["open", "pending", "on_hold", "resolved"]
Priority = Literal["low", "medium", "high", "urgent"]
Source = Literal["api", "dashboard", "email"]
AuthorType = Literal["api_key", "agent", "customer"]

STATUSES: tuple[Status, ...] = ("open", "pending", "on_hold", "resolved", "closed")
PRIORITIES: tuple[Priority, ...] = ("low", "medium", "high", "urgent")

# From each status the ones it can change to (decisions 7). The same status is no change.
TRANSITIONS: dict[Status, tuple[Status, ...]] = {
    "open": ("pending", "on_hold", "resolved", "closed"),
    "pending": ("open", "on_hold", "resolved", "closed"),
    "on_hold": ("open", "pending", "resolved", "closed"),
    "resolved": ("open", "pending", "on_hold", "closed"),
    "closed": ("open",),
}
_REOPENED_BY_CUSTOMER: tuple[Status, ...] = ("pending", "on_hold", "resolved")
_ENDED: tuple[Status, ...] = ("resolved", "closed")

Found = list[tuple[str, str, str]]


def _not_blank(text: str) -> Found:
    return [] if text.strip() else [("", "too_short", "This must hold more than white space.")]


Subject = Annotated[str, Meta(min_length=1, max_length=255, extra={"check": _not_blank})]
LongText = Annotated[str, Meta(min_length=1, max_length=65536, extra={"check": _not_blank})]
Tag = Annotated[str, Meta(min_length=1, max_length=64, extra={"check": _not_blank})]
Tags = Annotated[list[Tag], Meta(max_length=50)]

_READ_ONLY = frozenset(
    {
        "id",
        "number",
        "source",
        "reply_count",
        "created_at",
        "updated_at",
        "first_response_at",
        "resolved_at",
        "closed_at",
        "version",
    }
)


class TicketCustomer(msgspec.Struct, frozen=True):
    """The customer of a new ticket: found by e-mail address, or added.

    name: filled in only if none is known.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id"})

    email: Email
    name: Text255 | None = None


class NewTicket(msgspec.Struct, frozen=True):
    """What creating a ticket takes.

    customer: found by e-mail address, or added.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY

    subject: Subject
    description: LongText
    customer: TicketCustomer
    priority: Priority = "medium"
    status: FirstStatus = "open"
    assignee_id: str | None = None
    tags: Tags | None = None
    custom_fields: Object | None = None
    external_id: Text255 | None = None


class TicketChange(msgspec.Struct, frozen=True):
    """What changing a ticket takes; what is left out stays, null clears."""

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY | {"customer"}

    subject: Subject | UnsetType = UNSET
    description: LongText | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    assignee_id: str | UnsetType | None = UNSET
    tags: Tags | UnsetType | None = UNSET
    custom_fields: Object | UnsetType | None = UNSET
    external_id: Text255 | UnsetType | None = UNSET


class NewReplyAuthor(msgspec.Struct, frozen=True):
    """In whose name a reply is posted: the calling key's, or the ticket's customer's.

    type: a reply by the customer reopens a ticket that is pending, on hold or resolved.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "name"})

    type: Literal["api_key", "customer"]


class NewReply(msgspec.Struct, frozen=True):
    """What creating a reply takes.

    author: left out, the calling key writes.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "ticket_id", "created_at"})

    body: LongText
    is_internal: bool = False
    author: NewReplyAuthor | None = None


class Ticket(msgspec.Struct, frozen=True):
    """A ticket as it is stored."""

    tenant_id: str
    id: str
    number: int
    subject: str
    description: str
    status: Status
    priority: Priority
    source: Source
    customer_id: str
    assignee_id: str | None
    tags: tuple[str, ...]
    custom_fields: dict[str, Any]
    external_id: str | None
    reply_count: int
    created_at: int
    updated_at: int
    first_response_at: int | None
    resolved_at: int | None
    closed_at: int | None
    version: int


class Author(msgspec.Struct, frozen=True):
    """Who wrote a reply. id: of the key, the agent or the customer."""

    type: AuthorType
    id: Id
    name: str | None


class Reply(msgspec.Struct, frozen=True):
    """A reply as it is stored."""

    tenant_id: str
    ticket_id: str
    id: str
    body: str
    is_internal: bool
    author: Author
    created_at: int


class TicketDocument(msgspec.Struct, frozen=True):
    """A ticket as the API shows it, but for its customer.

    number: unique within the tenant and rising, with gaps; never given twice.
    status: from `closed` only to `open`, otherwise from any to any.
    source: how the ticket came in.
    assignee_id: an active user of the tenant; GET /api/v1/external/agents lists them.
    tags: each once, in the order given; a change replaces all of them.
    custom_fields: a free object of at most 16 KiB as JSON; a change is merged into it.
    external_id: what your own system calls it; need not be unique.
    reply_count: of public replies.
    updated_at: of the last change or reply.
    first_response_at: of the first public reply that was not the customer's.
    resolved_at: cleared when the ticket is reopened.
    closed_at: cleared when the ticket is reopened.
    version: rises with every change and reply.
    """

    id: Id
    number: int
    subject: str
    description: str
    status: Status
    priority: Priority
    source: Source
    assignee_id: Id | None
    tags: tuple[str, ...]
    custom_fields: dict[str, Any]
    external_id: str | None
    reply_count: int
    created_at: Iso
    updated_at: Iso
    first_response_at: Iso | None
    resolved_at: Iso | None
    closed_at: Iso | None
    version: int


class TicketShown(TicketDocument, frozen=True):
    """A ticket as the API shows it.

    customer: as they are now; renaming them changes the ticket's ETag, not its updated_at.
    """

    customer: CustomerRef


class ReplyShown(msgspec.Struct, frozen=True):
    """A reply as the API shows it.

    is_internal: a note between agents, which the customer must not see.
    """

    id: Id
    ticket_id: Id
    body: str
    is_internal: bool
    author: Author
    created_at: Iso


def rank_of(priority: Priority) -> int:
    """1 for low … 4 for urgent: what priorities are stored and sorted as."""
    return PRIORITIES.index(priority) + 1


def changed(ticket: Ticket, change: TicketChange, now_us: int) -> Ticket:
    """The ticket after a change; the same one when nothing differs. Raises Clash."""
    wanted = {k: v for k, v in msgspec.structs.asdict(change).items() if v is not UNSET}
    if "tags" in wanted:
        wanted["tags"] = distinct(wanted["tags"])
    if "custom_fields" in wanted:
        wanted["custom_fields"] = merged(ticket.custom_fields, wanted["custom_fields"])
    if "status" in wanted:
        wanted |= _moved(ticket, wanted.pop("status"), now_us)
    return _raised(ticket, msgspec.structs.replace(ticket, **wanted), now_us)


def replied(ticket: Ticket, reply: Reply, now_us: int) -> Ticket:
    """The ticket after a reply. Raises Clash when it is closed."""
    if ticket.status == "closed":
        raise Clash(
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
        raise Clash(
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
    return b'%b,"customer":%b}' % (ticket_document[:-1], reference)


def reply_document(reply: Reply) -> bytes:
    """ReplyShown as JSON."""
    return msgspec.json.encode(
        ReplyShown(
            reply.id,
            reply.ticket_id,
            reply.body,
            reply.is_internal,
            reply.author,
            clock.iso(reply.created_at),
        )
    )


_WATCHED = (
    "subject",
    "description",
    "status",
    "priority",
    "assignee_id",
    "tags",
    "custom_fields",
    "external_id",
)


def differences(before: Ticket, after: Ticket) -> Changes:
    """field → (old, new), for the event of a change."""
    return {
        name: (getattr(before, name), getattr(after, name))
        for name in _WATCHED
        if not is_same(getattr(before, name), getattr(after, name))
    }


def etag(ticket_version: int, customer_version: int) -> str:
    """Of a ticket with its customer: a renamed customer changes it too."""
    return f'"{ticket_version}.{customer_version}"'
