"""The structs of tickets and replies: as requested, as stored, and as shown."""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.customers.types import CustomerRef, CustomerResponse
from sealdesk.event_log.events import Changes
from sealdesk.ids import Id
from sealdesk.resources import merge_patch
from sealdesk.resources.representation import (
    CONDITIONS,
    Email,
    Object,
    Text255,
    check_instant,
    check_visible,
)
from sealdesk.tickets.ticket.clocks import Clocks, Due
from sealdesk.tickets.ticket.snoozing import check_snooze

Status = Literal["open", "pending", "on_hold", "resolved", "closed"]
FirstStatus = Literal["open", "pending", "on_hold", "resolved"]
Priority = Literal["low", "medium", "high", "urgent"]
Source = Literal["api", "dashboard", "email"]
AuthorType = Literal["api_key", "agent", "customer"]
Delivery = Literal["queued", "sent", "bounced", "failed"]
# What a reply has to do with e-mail that arrived, which a closed ticket takes too: a note about it,
# or an old one that is imported.
FromMail = Literal["note", "history"]

STATUSES: tuple[Status, ...] = ("open", "pending", "on_hold", "resolved", "closed")
ENDED: tuple[Status, ...] = ("resolved", "closed")
PRIORITIES: tuple[Priority, ...] = ("low", "medium", "high", "urgent")

CUSTOM = "custom-"  # before the key of a custom field: its name in forms and in the history
YES = "yes"  # a box that is ticked

Subject = Annotated[str, Meta(min_length=1, max_length=255, extra={"check": check_visible})]
MAX_TEXT_LENGTH = 65_536
LongText = Annotated[
    str, Meta(min_length=1, max_length=MAX_TEXT_LENGTH, extra={"check": check_visible})
]
MAX_TAG_LENGTH = 64
Tag = Annotated[str, Meta(min_length=1, max_length=MAX_TAG_LENGTH, extra={"check": check_visible})]
ImportedAt = Annotated[
    str,
    Meta(max_length=64, extra={"check": check_instant}, extra_json_schema={"format": "date-time"}),
]
SnoozedUntil = Annotated[str, Meta(max_length=64, extra={"check": check_snooze})]
# Ids of uploads that nothing refers to yet.
AttachmentIds = Annotated[list[str], Meta(max_length=20)]
MAX_TAGS = 50
Tags = Annotated[list[Tag], Meta(max_length=MAX_TAGS)]

_READ_ONLY = frozenset(
    """
    id number source reply_count attachments last_reply_by last_customer_reply_at waiting_since
    created_at updated_at first_response_at resolved_at closed_at merged_into_id due
    satisfaction version included description_html
""".split()
)


class TicketCustomer(msgspec.Struct, frozen=True):
    """The customer of a new ticket: found by e-mail address, or added.

    name: filled in only if none is known.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id"})

    email: Email
    name: Text255 | None = None


class TicketBody(msgspec.Struct, frozen=True):
    """The body of a request that creates a ticket, by a caller who may not import.

    customer: found by e-mail address, or added.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY

    subject: Subject
    description: LongText
    customer: TicketCustomer
    priority: Priority = "medium"
    status: FirstStatus = "open"
    assignee_id: str | None = None
    team_id: str | None = None
    tags: Tags | None = None
    custom_fields: Object | None = None
    external_id: Text255 | None = None
    snoozed_until: SnoozedUntil | None = None
    attachment_ids: AttachmentIds | None = None


class NewTicket(TicketBody, frozen=True):
    """The body of a request that creates a ticket.

    customer: found by e-mail address, or added.
    created_at: in the past, with the permission import:write; otherwise ignored. Without an offset
        it is UTC.
    """

    created_at: ImportedAt | None = None


class TicketChange(msgspec.Struct, frozen=True):
    """A merge patch of a ticket: fields left out stay as they are, null clears.

    tags: all tags of the ticket. add_tags, remove_tags: beside what it has, so that nothing is lost
    that others add at the same time; without `tags`.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY | {"customer"}
    MISTAKEN: ClassVar[dict[str, str]] = CONDITIONS

    subject: Subject | UnsetType = UNSET
    description: LongText | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    assignee_id: str | UnsetType | None = UNSET
    team_id: str | UnsetType | None = UNSET
    tags: Tags | UnsetType | None = UNSET
    add_tags: Tags | UnsetType = UNSET
    remove_tags: Tags | UnsetType = UNSET
    custom_fields: Object | UnsetType | None = UNSET
    external_id: Text255 | UnsetType | None = UNSET
    snoozed_until: SnoozedUntil | UnsetType | None = UNSET


class NewReplyAuthor(msgspec.Struct, frozen=True):
    """The author of a new reply: the calling key, the ticket's customer, or an agent.

    type: a reply by the customer reopens a ticket that is pending, on hold or resolved; agent needs
    the permission import:write.
    id: of the agent; ignored for others.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"name"})

    type: AuthorType
    id: str | None = None


_RECIPIENTS = "A reply goes to the ticket's participants unless it has `is_internal: true`."


class ReplyBody(msgspec.Struct, frozen=True):
    """The body of a request that creates a reply, by a caller who may not import.

    author: the calling key by default.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "ticket_id", "created_at", "attachments"})
    # A note that other help desks' names were meant to keep internal is not sent to the customer.
    # Without "is", in small letters.
    MISTAKEN: ClassVar[dict[str, str]] = dict.fromkeys(
        """
        public private internal visibility type commenttype messagetype replytype kind mode channel
        access audience external share shared draft whisper agentonly agentsonly
        teamonly onlyagents customerfacing send deliver
        """.split(),
        "is_internal",
    ) | dict.fromkeys("to cc bcc".split(), _RECIPIENTS)
    MISTAKEN_PARTS: ClassVar[dict[str, str]] = dict.fromkeys(
        """
        public privat intern visib hidden hide note secret silent confiden publish privacy restrict
        suppress notif staff
        """.split(),
        "is_internal",
    ) | dict.fromkeys("mail recipient sendto".split(), _RECIPIENTS)

    body: LongText
    is_internal: bool = False
    author: NewReplyAuthor | None = None
    attachment_ids: AttachmentIds | None = None


class NewReply(ReplyBody, frozen=True):
    """The body of a request that creates a reply.

    author: the calling key by default.
    created_at: in the past, not before the newest message of the ticket, with the permission
    import:write; otherwise ignored. Without an offset it is UTC.
    """

    created_at: ImportedAt | None = None


class Author(msgspec.Struct, frozen=True):
    """The author of a reply. id: of the key, the agent or the customer."""

    type: AuthorType
    id: Id
    name: str | None


class AttachmentRef(msgspec.Struct, frozen=True):
    """A file as its ticket or reply shows it. is_image: whether pages preview it."""

    id: Id
    name: str
    content_type: str
    size_bytes: int
    is_image: bool


class Reply(msgspec.Struct, frozen=True):
    """A reply as it is stored."""

    tenant_id: str
    ticket_id: str
    id: str
    body: str
    is_internal: bool
    author: Author
    created_at: int
    attachments: tuple[AttachmentRef, ...] = ()
    delivery: Delivery | None = None
    delivery_reason: str | None = None
    delivery_at: int | None = None


class Satisfaction(msgspec.Struct, frozen=True):
    """How the customer has rated a ticket.

    rating: from 1, very dissatisfied, to 5, very satisfied. comment: in their words; null for none.
    """

    rating: int
    comment: str | None
    rated_at: Iso


class TicketFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a ticket that the API shows as they are stored.

    number: unique within the tenant and rising, with gaps; never given twice.
    status: from `closed` only to `open`, otherwise from any to any.
    source: how the ticket came in.
    assignee_id: an active user of the tenant; GET /api/v1/external/agents lists them.
    team_id: a team of the tenant; GET /api/v1/external/teams lists them.
    tags: each once, in the order given; `tags` of a change replaces all of them.
    custom_fields: an object of at most 16 KiB as JSON; a change is merged into it. The value of a
    key that is defined as a custom field has its type; other keys are free.
    external_id: what your own system calls it; need not be unique.
    reply_count: of public replies.
    last_reply_by: who wrote the last public reply; null without one.
    merged_into_id: the ticket that this one was merged into.
    snoozed_until: a time within 366 days, or `next_reply`; null when it is awake. A reply of the
        customer, resolving and closing wake it earlier.
    satisfaction: how the customer has rated the ticket; null without a rating.
    """

    id: Id
    number: int
    subject: str
    description: str
    status: Status
    priority: Priority
    source: Source
    assignee_id: Id | None
    team_id: Id | None = None
    tags: tuple[str, ...]
    custom_fields: dict[str, Any]
    external_id: str | None
    reply_count: int
    last_reply_by: AuthorType | None = None
    merged_into_id: Id | None = None
    snoozed_until: str | None = None
    attachments: tuple[AttachmentRef, ...] = ()
    satisfaction: Satisfaction | None = None


class Ticket(TicketFields, frozen=True, kw_only=True):
    """A ticket as it is stored: its columns, with times in microseconds.

    snippet: the last message (the description, a reply or a note, which is marked) as one short
    line, and last_message_at its time. Both are None in rows of earlier versions.
    follower_count: of the people in `followers`, who change it.
    clocks: of an SLA policy; None without one. due_at: what is due first by it, and alert_at when
    the worker announces next that something is over; due, which has no column, follows from them.
    key_id: of the API key that created it; None of older ones, and of those that came otherwise.
    """

    tenant_id: str
    customer_id: str
    created_at: int
    updated_at: int
    first_response_at: int | None
    resolved_at: int | None
    closed_at: int | None
    last_customer_reply_at: int | None
    waiting_since: int | None
    last_message_at: int | None
    snippet: str | None
    follower_count: int = 0
    clocks: Clocks | None = None
    due_at: int | None = None
    alert_at: int | None = None
    due: Due | None = None
    key_id: str | None = None
    version: int


class TicketUpdate(NamedTuple):
    """A ticket before and after an update, the same object when nothing differs.

    changes: field → (old, new) of each field that a `TicketChange` could have changed, for events.
    """

    before: Ticket
    after: Ticket
    changes: Changes


class SeenChange(NamedTuple):
    """A change of some fields, with the values of these fields that its page showed.

    undone_id: the entry of the history that the change undoes, "" for none. custom: the values seen
    of the custom fields that are changed, by key. takes: whether who changes the ticket becomes its
    assignee if it has none.
    """

    change: TicketChange
    seen: TicketChange = TicketChange()
    undone_id: str = ""
    custom: dict[str, Any] = {}  # noqa: RUF012 - never changed
    takes: bool = False

    def names(self) -> list[str]:
        """The fields that are changed; custom fields each by itself."""
        given = merge_patch.given_fields(self.change)
        given.pop("custom_fields", None)
        return [*given, *(f"{CUSTOM}{key}" for key in self.custom)]


class TicketDocument(TicketFields, frozen=True, kw_only=True):
    """A ticket as the API shows it, without its customer: what the ready document holds.

    updated_at: of the last change or reply.
    first_response_at: of the first public reply that was not the customer's.
    resolved_at: cleared when the ticket is reopened.
    closed_at: cleared when the ticket is reopened.
    last_customer_reply_at: of the customer's last reply; the description is none.
    waiting_since: since when the customer waits for a public reply; null when nobody waits.
    due: by when an SLA policy promises what; null when nothing is due.
    version: rises with every change and reply.
    """

    created_at: Iso
    updated_at: Iso
    first_response_at: Iso | None
    resolved_at: Iso | None
    closed_at: Iso | None
    last_customer_reply_at: Iso | None = None
    waiting_since: Iso | None = None
    due: Due | None = None
    version: int


# Without it a document is of an earlier version. Each member that was added later has a default,
# which such a document gets when it is read.
NEWEST_MEMBER = "satisfaction"


class IncludedReplies(msgspec.Struct, frozen=True):
    """The newest replies of a ticket, newest first. has_more: there are older ones."""

    data: tuple["ReplyResponse", ...]
    has_more: bool


class Included(msgspec.Struct, frozen=True):
    """What a request has asked to include."""

    customer: CustomerResponse | UnsetType = UNSET
    replies: IncludedReplies | UnsetType = UNSET


class TicketResponse(TicketDocument, frozen=True, kw_only=True):
    """A ticket as the API shows it.

    customer: as they are now; renaming them changes the ticket's ETag, not its updated_at.
    description_html: the description as safe HTML; only with `html=true`.
    included: its customer with all fields, and its newest replies; only with `include`.
    """

    customer: CustomerRef
    description_html: str | UnsetType = UNSET
    included: Included | UnsetType = UNSET


class ReplyResponse(msgspec.Struct, frozen=True):
    """A reply as the API shows it.

    is_internal: a note between agents, which the customer must not see.
    delivery: of its e-mails together; null if it is not sent by e-mail.
    delivery_reason: why it is not delivered, perhaps in the words of a mail server.
    delivery_at: since when it is in this state.
    body_html: the body as safe HTML; only with `html=true`.
    """

    id: Id
    ticket_id: Id
    body: str
    is_internal: bool
    author: Author
    created_at: Iso
    attachments: tuple[AttachmentRef, ...] = ()
    delivery: Delivery | None = None
    delivery_reason: str | None = None
    delivery_at: Iso | None = None
    body_html: str | UnsetType = UNSET
