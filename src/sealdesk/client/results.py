"""The results of the client: structs that ignore unknown members and accept unknown values.

Texts such as `status` are plain strings, because a later version of the service may add values.
Members that the service does not send have their defaults, and those that it adds are ignored.
"""

from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

import msgspec

from sealdesk.client.received import Received

T = TypeVar("T")


class Result(msgspec.Struct, frozen=True, dict=True):
    """What a method of a desk returns."""

    @property
    def response(self) -> Received | None:
        """The response that it came with: None of the rows of a list, whose page has it."""
        return self.__dict__.get("response_")

    @property
    def etag(self) -> str | None:
        """Its version, for `if_match`, if it was asked for by itself."""
        return self.response.etag if self.response else None

    def to_dict(self) -> dict[str, Any]:
        """Return its members as JSON has them."""
        members: dict[str, Any] = msgspec.to_builtins(self)
        return members

    # Without these, copies and pickles would have no response, so no ETag for `if_match`.

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), self.__dict__)

    def __copy__(self) -> Self:
        make, values, response = self.__reduce__()
        copied: Self = make(*values)
        copied.__dict__.update(response)
        return copied


class Done(Result, frozen=True):
    """What a method returns whose response has no members."""


class Content(bytes):
    """The bytes of a file. response: that they came with."""

    response: Received | None = None


def with_response(result: T, response: Received) -> T:
    """Remember the response on a result."""
    if isinstance(result, Result):
        result.__dict__["response_"] = response
    elif isinstance(result, Content):
        result.response = response
    return result


class CustomerRef(msgspec.Struct, frozen=True):
    """The customer of a ticket."""

    id: str
    email: str
    name: str | None = None


class AttachmentRef(msgspec.Struct, frozen=True):
    """A file of a ticket or a reply."""

    id: str
    name: str
    content_type: str = ""
    size_bytes: int = 0
    is_image: bool = False


class Due(msgspec.Struct, frozen=True):
    """By when an SLA policy promises what; None for what is not due."""

    policy_id: str
    first_response: str | None = None
    next_response: str | None = None
    resolution: str | None = None


class Satisfaction(msgspec.Struct, frozen=True):
    """How the customer has rated a ticket, from 1 to 5."""

    rating: int
    comment: str | None = None
    rated_at: str = ""


class RatingLink(Result, frozen=True):
    """A secret link to a page on which a customer rates a ticket."""

    url: str
    expires_at: str = ""


class Ticket(Result, frozen=True, kw_only=True):
    """A ticket. Times are texts such as 2026-03-02T09:15:41.556301Z."""

    id: str
    number: int = 0
    subject: str
    description: str = ""
    status: str
    priority: str = ""
    source: str = ""
    assignee_id: str | None = None
    team_id: str | None = None
    tags: Sequence[str] = ()
    custom_fields: dict[str, Any] = {}
    external_id: str | None = None
    reply_count: int = 0
    last_reply_by: str | None = None
    merged_into_id: str | None = None
    snoozed_until: str | None = None
    attachments: Sequence[AttachmentRef] = ()
    satisfaction: Satisfaction | None = None
    created_at: str
    updated_at: str
    first_response_at: str | None = None
    resolved_at: str | None = None
    closed_at: str | None = None
    last_customer_reply_at: str | None = None
    waiting_since: str | None = None
    due: Due | None = None
    version: int = 0
    customer: CustomerRef | None = None
    description_html: str | None = None
    included: "Included | None" = None


class FoundTicket(Result, frozen=True):
    """A result of a search. highlights: subject and snippet in parts, of which some are hits."""

    ticket: Ticket
    highlights: dict[str, Any] = {}


class Author(msgspec.Struct, frozen=True):
    """The author of a reply: an API key, an agent or the customer."""

    type: str
    id: str = ""
    name: str | None = None


class Reply(Result, frozen=True, kw_only=True):
    """A public reply, or an internal note, which the customer must not see."""

    id: str
    ticket_id: str
    body: str
    is_internal: bool = False
    author: Author | None = None
    created_at: str
    attachments: Sequence[AttachmentRef] = ()
    delivery: str | None = None
    delivery_reason: str | None = None
    delivery_at: str | None = None
    body_html: str | None = None


class Customer(Result, frozen=True, kw_only=True):
    """A customer; the e-mail address is unique within the tenant."""

    id: str
    email: str
    name: str | None = None
    phone: str | None = None
    company: str | None = None
    external_id: str | None = None
    metadata: dict[str, Any] = {}
    other_emails: tuple[str, ...] = ()
    other_phones: tuple[str, ...] = ()
    merged_into_id: str | None = None
    created_at: str
    updated_at: str
    version: int = 0


class Erasure(Result, frozen=True, kw_only=True):
    """How far the erasure of a customer is. status: `pending` or `finished`."""

    customer_id: str
    status: str
    ticket_count: int = 0
    erased_ticket_count: int = 0
    created_at: str = ""
    finished_at: str | None = None


class IncludedReplies(msgspec.Struct, frozen=True):
    """The newest replies of a ticket, newest first. has_more: there are older ones."""

    data: Sequence[Reply] = ()
    has_more: bool = False


class Included(msgspec.Struct, frozen=True):
    """What `include` has asked for: the whole customer, and the newest replies."""

    customer: Customer | None = None
    replies: IncludedReplies | None = None


class TicketResult(msgspec.Struct, frozen=True):
    """The result of one item of several. problem: why it was refused, with its `code`.

    data: None if it was refused, and behind the first 4 MiB of changed tickets.
    """

    status: int
    etag: str | None = None
    data: Ticket | None = None
    problem: dict[str, Any] | None = None


class BulkResult(Result, frozen=True):
    """The results of all items, in their order."""

    data: Sequence[TicketResult]
    item_count: int
    refused_count: int


class Follower(Result, frozen=True):
    """A user who follows a ticket."""

    id: str
    name: str
    is_active: bool = True


class TicketLink(Result, frozen=True):
    """A link of a ticket to another one, whose id, number, subject and status it has."""

    id: str
    number: int
    subject: str
    status: str
    relation: str
    created_at: str


class Participant(msgspec.Struct, frozen=True):
    """Somebody who gets the public replies of a ticket by e-mail."""

    email: str
    name: str | None = None
    created_at: str = ""


class Participants(Result, frozen=True):
    """Who gets the public replies of a ticket by e-mail."""

    participants: Sequence[Participant]


class Attachment(Result, frozen=True, kw_only=True):
    """An uploaded file."""

    id: str
    name: str
    content_type: str = ""
    size_bytes: int = 0
    is_image: bool = False
    sha256: str = ""
    ticket_id: str | None = None
    reply_id: str | None = None
    created_at: str
    content_path: str = ""
    content_until: str = ""


class Agent(Result, frozen=True):
    """A user to whom tickets can be assigned."""

    id: str
    name: str


class Team(Result, frozen=True):
    """A team to which tickets can be given."""

    id: str
    name: str


class TenantRef(msgspec.Struct, frozen=True):
    """The tenant of a key."""

    id: str
    name: str


class RateLimit(msgspec.Struct, frozen=True):
    """The rate limit of a key. limit: requests a minute."""

    limit: int
    remaining: int
    full_in_s: float = 0.0


class WhoAmI(Result, frozen=True, kw_only=True):
    """The key that signed the request. skew_s: how far its clock is behind the service's."""

    key_id: str
    name: str
    key_prefix: str = ""
    mode: str = "live"
    tenant: TenantRef
    permissions: Sequence[str] = ()
    rate_limit: RateLimit
    expires_at: str | None = None
    skew_s: int = 0


class TestClock(Result, frozen=True):
    """The clock of a test tenant. real_now: the time of the service, which signatures need."""

    now: str
    real_now: str
    ahead_s: float = 0


class EventData(msgspec.Struct, frozen=True):
    """The object as the API showed it right after the change, and the old and new values."""

    object: dict[str, Any] = {}
    changes: dict[str, Sequence[Any]] = {}


class Event(Result, frozen=True):
    """A change. id: the same in the feed and in every webhook."""

    id: str
    type: str
    timestamp: str
    data: EventData = EventData()


class Page(Result, Generic[T], frozen=True):
    """A page of a list. next_cursor: None on the last page. resume_cursor: of events only."""

    data: Sequence[T]
    has_more: bool
    next_cursor: str | None
    resume_cursor: str | None = None
