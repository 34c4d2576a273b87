"""The resources of `AsyncDesk`: tickets, replies, customers, files and events."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, Unpack

from sealdesk.client import operations
from sealdesk.client.aio.iterators import AsyncFeed, AsyncPages
from sealdesk.client.bodies import MAX_FILE_BYTES
from sealdesk.client.feed import OnFailure
from sealdesk.client.operation import IfMatch, ListOperation, Operation
from sealdesk.client.parameters import (
    CustomerChange,
    CustomerFilters,
    CustomerUpsert,
    IdentifiedChange,
    NewCustomer,
    NewReply,
    NewTicket,
    ReplyFilters,
    TicketChange,
    TicketFilters,
)
from sealdesk.client.results import (
    Attachment,
    BulkResult,
    Content,
    Customer,
    Done,
    Erasure,
    Event,
    Follower,
    FoundTicket,
    Page,
    RatingLink,
    Reply,
    Ticket,
    TicketLink,
)
from sealdesk.client.results import Participants as ParticipantList

T = TypeVar("T")


class Runner(Protocol):
    """What resources need of a desk."""

    async def run(self, operation: Operation[T]) -> T:
        """Send the request of an operation and return its result."""

    def list(self, operation: ListOperation[T]) -> AsyncPages[T]:
        """Return the rows of a list."""

    @property
    def sleep(self) -> Callable[[float], Awaitable[None]]:
        """Wait for seconds."""


class Resource:
    """The methods of one kind of object."""

    def __init__(self, desk: Runner) -> None:
        self._desk = desk


class Tickets(Resource):
    """The tickets of a desk."""

    def list(self, **filters: Unpack[TicketFilters]) -> AsyncPages[Ticket]:
        """List the tickets that match all filters, newest first."""
        return self._desk.list(operations.list_tickets(filters))

    def search(self, q: str, *, per_page: int = 100, cursor: str = "") -> AsyncPages[FoundTicket]:
        """Search tickets by words and filters such as status:open, as the inbox does."""
        query = {"q": q, "per_page": per_page, "cursor": cursor or None}
        return self._desk.list(operations.search_tickets(query))

    async def get(
        self, ticket_id: str, *, html: bool = False, include: Sequence[str] = ()
    ) -> Ticket:
        """Get a ticket. html: with its description as safe HTML. include: customer, replies."""
        operation = operations.get_ticket(ticket_id, html=html, include=include)
        return await self._desk.run(operation)

    async def create(
        self, *, idempotency_key: str | None = None, **fields: Unpack[NewTicket]
    ) -> Ticket:
        """Open a ticket. Its customer is found by e-mail address, or added."""
        return await self._desk.run(operations.create_ticket(fields, idempotency_key))

    async def update(
        self, ticket_id: str, *, if_match: IfMatch = None, **fields: Unpack[TicketChange]
    ) -> Ticket:
        """Change fields of a ticket.

        if_match: its ETag, or what `get` returned; refused if the ticket has changed since.
        """
        return await self._desk.run(operations.update_ticket(ticket_id, fields, if_match))

    async def bulk_create(
        self, tickets: Sequence[NewTicket], *, idempotency_key: str | None = None
    ) -> BulkResult:
        """Open up to 100 tickets. One that is refused stops no other: see `refused_count`."""
        return await self._desk.run(operations.create_tickets(tickets, idempotency_key))

    async def bulk_update(self, changes: Sequence[IdentifiedChange]) -> BulkResult:
        """Change up to 100 tickets. One that is refused stops no other: see `refused_count`."""
        return await self._desk.run(operations.change_tickets(changes))

    async def merge(
        self, ticket_id: str, *, into: str, idempotency_key: str | None = None
    ) -> Ticket:
        """Merge a ticket into another, and return that one."""
        return await self._desk.run(operations.merge_ticket(ticket_id, into, idempotency_key))

    async def undo_merge(self, ticket_id: str) -> Ticket:
        """Undo the merge of a ticket within a day."""
        return await self._desk.run(operations.undo_merge(ticket_id))

    async def split(
        self,
        ticket_id: str,
        *,
        reply_id: str,
        subject: str,
        last_reply_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Ticket:
        """Make a new ticket of a reply and all later ones, or those up to another reply."""
        fields = {"reply_id": reply_id, "subject": subject}
        if last_reply_id:
            fields["last_reply_id"] = last_reply_id
        operation = operations.split_ticket(ticket_id, fields, idempotency_key)
        return await self._desk.run(operation)

    async def rating_link(self, ticket_id: str) -> RatingLink:
        """Create a secret link to the page on which the customer rates a ticket."""
        return await self._desk.run(operations.create_rating_link(ticket_id))


class Replies(Resource):
    """The replies of tickets."""

    def list(self, ticket_id: str, **filters: Unpack[ReplyFilters]) -> AsyncPages[Reply]:
        """List the replies and notes of a ticket, newest first."""
        return self._desk.list(operations.list_replies(ticket_id, filters))

    async def create(
        self, ticket_id: str, *, idempotency_key: str | None = None, **fields: Unpack[NewReply]
    ) -> Reply:
        """Write a public reply, or an internal note with is_internal=True."""
        return await self._desk.run(operations.create_reply(ticket_id, fields, idempotency_key))


class Followers(Resource):
    """The followers of tickets."""

    def list(self, ticket_id: str) -> AsyncPages[Follower]:
        """List the users who follow a ticket."""
        return self._desk.list(operations.list_followers(ticket_id))

    async def add(
        self, ticket_id: str, user_id: str, *, idempotency_key: str | None = None
    ) -> Follower:
        """Make a user follow a ticket."""
        operation = operations.add_follower(ticket_id, user_id, idempotency_key)
        return await self._desk.run(operation)

    async def remove(self, ticket_id: str, user_id: str) -> Done:
        """Make a user follow a ticket no more."""
        return await self._desk.run(operations.remove_follower(ticket_id, user_id))


class Links(Resource):
    """The links between tickets."""

    def list(self, ticket_id: str) -> AsyncPages[TicketLink]:
        """List the tickets that a ticket is linked to."""
        return self._desk.list(operations.list_links(ticket_id))

    async def add(
        self,
        ticket_id: str,
        relation: str,
        other_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> TicketLink:
        """Link a ticket to another one.

        relation: "relates_to", "blocks", "blocked_by", "duplicate_of" or "has_duplicate".
        """
        operation = operations.add_link(ticket_id, relation, other_id, idempotency_key)
        return await self._desk.run(operation)

    async def remove(self, ticket_id: str, other_id: str) -> Done:
        """Remove the link between two tickets."""
        return await self._desk.run(operations.remove_link(ticket_id, other_id))


class Participants(Resource):
    """The people who get the public replies of a ticket by e-mail."""

    async def get(self, ticket_id: str) -> ParticipantList:
        """Get the participants of a ticket."""
        return await self._desk.run(operations.get_participants(ticket_id))

    async def set(
        self, ticket_id: str, participants: Sequence[Mapping[str, Any]]
    ) -> ParticipantList:
        """Set all participants of a ticket: their `email`, and their `name` if it is known."""
        return await self._desk.run(operations.set_participants(ticket_id, participants))


class Customers(Resource):
    """The customers of a desk."""

    def list(self, **filters: Unpack[CustomerFilters]) -> AsyncPages[Customer]:
        """List the customers that match all filters, newest first."""
        return self._desk.list(operations.list_customers(filters))

    async def get(self, customer_id: str) -> Customer:
        """Get a customer."""
        return await self._desk.run(operations.get_customer(customer_id))

    async def create(
        self, *, idempotency_key: str | None = None, **fields: Unpack[NewCustomer]
    ) -> Customer:
        """Add a customer."""
        return await self._desk.run(operations.create_customer(fields, idempotency_key))

    async def update(
        self, customer_id: str, *, if_match: IfMatch = None, **fields: Unpack[CustomerChange]
    ) -> Customer:
        """Change fields of a customer."""
        return await self._desk.run(operations.update_customer(customer_id, fields, if_match))

    async def delete(self, customer_id: str, *, if_match: IfMatch = None) -> Done:
        """Delete a customer.

        if_match: their ETag, or what `get` returned; refused if the customer has changed since.
        """
        return await self._desk.run(operations.delete_customer(customer_id, if_match))

    async def merge(
        self, customer_id: str, into: str, *, idempotency_key: str | None = None
    ) -> Customer:
        """Merge a customer into another, and return that one."""
        return await self._desk.run(operations.merge_customer(customer_id, into, idempotency_key))

    async def undo_merge(self, customer_id: str) -> Customer:
        """Undo the merge of a customer within a day."""
        return await self._desk.run(operations.undo_customer_merge(customer_id))

    async def erase(self, customer_id: str, *, idempotency_key: str | None = None) -> Erasure:
        """Begin to erase a customer and all texts of their tickets, for good."""
        return await self._desk.run(operations.erase_customer(customer_id, idempotency_key))

    async def erasure(self, customer_id: str) -> Erasure:
        """Get how far the erasure of a customer is."""
        return await self._desk.run(operations.get_erasure(customer_id))

    async def upsert(self, external_id: str, **fields: Unpack[CustomerUpsert]) -> Customer:
        """Change the customer with this id of another system, or add one."""
        return await self._desk.run(operations.upsert_customer(external_id, fields))


class Attachments(Resource):
    """The files of tickets and replies."""

    async def upload(
        self,
        name: str,
        content: bytes,
        content_type: str = "application/octet-stream",
        *,
        idempotency_key: str | None = None,
    ) -> Attachment:
        """Upload a file. Its id goes into `attachment_ids` of a new ticket or reply."""
        operation = operations.upload_attachment(name, content, content_type, idempotency_key)
        return await self._desk.run(operation)

    async def get(self, attachment_id: str) -> Attachment:
        """Get what is known of a file."""
        return await self._desk.run(operations.get_attachment(attachment_id))

    async def download(self, attachment_id: str, *, max_bytes: int = MAX_FILE_BYTES) -> Content:
        """Get the bytes of a file. A larger one raises UnexpectedResponse."""
        return await self._desk.run(operations.download_attachment(attachment_id, max_bytes))


class Events(Resource):
    """The events feed of a desk."""

    def follow(
        self,
        *,
        cursor: str | None = None,
        types: Sequence[str] = (),
        start: str = "latest",
        wait_s: int = 30,
        on_failure: OnFailure | None = None,
    ) -> AsyncFeed[Event]:
        """Return the events after the cursor, and then each new one, without end.

        start: "latest" or "oldest", where to begin without a cursor. on_failure(error, pause_s) is
        called before each pause after a failure, and on_failure(None, 0) when the service responds.
        """
        return AsyncFeed(
            self._desk.run,
            partial(operations.list_events, types, start),
            cursor=cursor,
            wait_s=wait_s,
            on_failure=on_failure,
            sleep=self._desk.sleep,
        )

    async def page(
        self, *, cursor: str | None = None, types: Sequence[str] = (), start: str = "oldest"
    ) -> Page[Event]:
        """Return one page of the feed without waiting."""
        return await self._desk.run(operations.list_events(types, start, cursor, 0))
