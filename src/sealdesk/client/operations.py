"""The requests of the API and how to read their responses: pure, shared by both clients."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from sealdesk.client.errors import InvalidConfiguration
from sealdesk.client.operation import (
    JSON_HEADERS,
    PAGE_ROWS,
    IfMatch,
    ListOperation,
    Operation,
    delete,
    key_header,
    page_reader_of,
    patch,
    post,
    reader_of,
)
from sealdesk.client.parameters import (
    CustomerChange,
    CustomerFilters,
    CustomerUpsert,
    IdentifiedChange,
    NewCustomer,
    NewReply,
    NewTicket,
    ReplyFilters,
    ReportFilters,
    ReportTicketFilters,
    TicketChange,
    TicketCustomer,
    TicketFilters,
    check_names,
)
from sealdesk.client.report_results import Report
from sealdesk.client.results import (
    Agent,
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
    Participants,
    RatingLink,
    Reply,
    Team,
    TestClock,
    Ticket,
    TicketLink,
    TicketResult,
    WhoAmI,
)
from sealdesk.client.targets import ROOT, encode_segment, make_target
from sealdesk.client.values import encode

T = TypeVar("T")


class _BulkMeta(msgspec.Struct):
    item_count: int
    refused_count: int


class _Bulk(msgspec.Struct):
    data: list[TicketResult]
    meta: _BulkMeta


_decode_bulk = msgspec.json.Decoder(_Bulk).decode
_read_follower, _read_followers = reader_of(Follower), page_reader_of(Follower)
_read_link, _read_links = reader_of(TicketLink), page_reader_of(TicketLink)
_read_ticket, _read_tickets = reader_of(Ticket), page_reader_of(Ticket)
_read_rating_link, _read_report = reader_of(RatingLink), reader_of(Report)
_read_found = page_reader_of(FoundTicket)
_read_reply, _read_replies = reader_of(Reply), page_reader_of(Reply)
_read_customer, _read_customers = reader_of(Customer), page_reader_of(Customer)
_read_erasure = reader_of(Erasure)
_read_agents, _read_teams = page_reader_of(Agent), page_reader_of(Team)
_read_attachment, _read_events = reader_of(Attachment), page_reader_of(Event)
_read_whoami, _read_row = reader_of(WhoAmI), reader_of(msgspec.Raw)
_read_rows = page_reader_of(msgspec.Raw)
_read_test_clock = reader_of(TestClock)
_read_participants = reader_of(Participants)


def _read_bulk(body: bytes) -> BulkResult:
    found = _decode_bulk(body)
    return BulkResult(found.data, found.meta.item_count, found.meta.refused_count)


def whoami() -> Operation[WhoAmI]:
    """Ask for the key that signs."""
    return Operation("GET", f"{ROOT}/whoami", b"", {}, _read_whoami)


def get_test_clock() -> Operation[TestClock]:
    """Ask for the time of the test tenant."""
    return Operation("GET", f"{ROOT}/test-clock", b"", {}, _read_test_clock)


def set_test_clock(change: Mapping[str, Any]) -> Operation[TestClock]:
    """Set the clock of the test tenant ahead."""
    return Operation("PUT", f"{ROOT}/test-clock", encode(change), JSON_HEADERS, _read_test_clock)


def get_report(filters: Mapping[str, Any]) -> Operation[Report]:
    """Get a report of a period."""
    check_names(filters, ReportFilters)
    return Operation("GET", make_target(f"{ROOT}/reports", filters), b"", {}, _read_report)


def list_report_tickets(filters: Mapping[str, Any]) -> ListOperation[Ticket]:
    """List the tickets behind a figure of a report."""
    check_names(filters, ReportTicketFilters)
    return ListOperation(f"{ROOT}/reports/tickets", filters, _read_tickets)


def list_rows(path: str, query: Mapping[str, Any]) -> ListOperation[msgspec.Raw]:
    """List the rows of any list as the bytes of their JSON."""
    return ListOperation(path, query, _read_rows)


def list_tickets(query: Mapping[str, Any]) -> ListOperation[Ticket]:
    """List tickets."""
    check_names(query, TicketFilters)
    return ListOperation(f"{ROOT}/tickets", query, _read_tickets)


def search_tickets(query: Mapping[str, Any]) -> ListOperation[FoundTicket]:
    """Search tickets by words and filters."""
    if not isinstance(query["q"], str):  # without it the newest tickets would be found
        raise InvalidConfiguration(f"q must be a text, not {query['q']!r}")
    return ListOperation(f"{ROOT}/search", query, _read_found)


def get_ticket(ticket_id: str, *, html: bool, include: Sequence[str] = ()) -> Operation[Ticket]:
    """Get a ticket."""
    query = {"html": html or None, "include": include or None}
    target = make_target(f"{ROOT}/tickets/{encode_segment(ticket_id)}", query)
    return Operation("GET", target, b"", {}, _read_ticket, resource_id=ticket_id)


def create_tickets(
    tickets: Sequence[Mapping[str, Any]], idempotency_key: str | None
) -> Operation[BulkResult]:
    """Create several tickets."""
    for index, each in enumerate(tickets):
        _check_new_ticket(each, f"ticket {index}: ")
    return post(f"{ROOT}/tickets/bulk", {"tickets": tickets}, idempotency_key, _read_bulk)


def change_tickets(changes: Sequence[Mapping[str, Any]]) -> Operation[BulkResult]:
    """Change several tickets. With an ETag, a second attempt would be refused."""
    for index, each in enumerate(changes):
        check_names(each, IdentifiedChange, f"ticket {index}: ")
    operation = patch(f"{ROOT}/tickets/bulk", {"tickets": changes}, None, _read_bulk)
    return operation._replace(is_repeatable=not any("if_match" in each for each in changes))


def list_followers(ticket_id: str) -> ListOperation[Follower]:
    """List the followers of a ticket."""
    return ListOperation(_followers_path(ticket_id), {}, _read_followers)


def add_follower(ticket_id: str, user_id: str, idempotency_key: str | None) -> Operation[Follower]:
    """Make a user follow a ticket."""
    return post(_followers_path(ticket_id), {"user_id": user_id}, idempotency_key, _read_follower)


def remove_follower(ticket_id: str, user_id: str) -> Operation[Done]:
    """Make a user follow a ticket no more."""
    return delete(f"{_followers_path(ticket_id)}/{encode_segment(user_id)}")


def list_links(ticket_id: str) -> ListOperation[TicketLink]:
    """List the links of a ticket."""
    return ListOperation(_links_path(ticket_id), {}, _read_links)


def add_link(
    ticket_id: str, relation: str, other_id: str, idempotency_key: str | None
) -> Operation[TicketLink]:
    """Link a ticket to another one."""
    fields = {"relation": relation, "ticket_id": other_id}
    return post(_links_path(ticket_id), fields, idempotency_key, _read_link)


def remove_link(ticket_id: str, other_id: str) -> Operation[Done]:
    """Remove the link between two tickets."""
    return delete(f"{_links_path(ticket_id)}/{encode_segment(other_id)}")


def create_ticket(fields: Mapping[str, Any], idempotency_key: str | None) -> Operation[Ticket]:
    """Create a ticket."""
    _check_new_ticket(fields)
    return post(f"{ROOT}/tickets", fields, idempotency_key, _read_ticket)


def _check_new_ticket(fields: Mapping[str, Any], where: str = "") -> None:
    check_names(fields, NewTicket, where)
    if isinstance(fields.get("customer"), Mapping):
        check_names(fields["customer"], TicketCustomer, f"{where}customer: ")


def update_ticket(
    ticket_id: str, fields: Mapping[str, Any], if_match: IfMatch
) -> Operation[Ticket]:
    """Change fields of a ticket."""
    check_names(fields, TicketChange, shown=Ticket.__struct_fields__)
    target = f"{ROOT}/tickets/{encode_segment(ticket_id)}"
    operation = patch(target, fields, if_match, _read_ticket)
    return operation._replace(resource_id=ticket_id)


def merge_ticket(ticket_id: str, into: str, idempotency_key: str | None) -> Operation[Ticket]:
    """Merge a ticket into another."""
    path = f"{ROOT}/tickets/{encode_segment(ticket_id)}/merge"
    operation = post(path, {"into": into}, idempotency_key, _read_ticket)
    return operation._replace(resource_id=into)


def undo_merge(ticket_id: str) -> Operation[Ticket]:
    """Undo the merge of a ticket."""
    target = f"{ROOT}/tickets/{encode_segment(ticket_id)}/merge"
    return Operation("DELETE", target, b"", {}, _read_ticket, resource_id=ticket_id)


def split_ticket(
    ticket_id: str, fields: Mapping[str, str], idempotency_key: str | None
) -> Operation[Ticket]:
    """Split a ticket at a reply."""
    path = f"{ROOT}/tickets/{encode_segment(ticket_id)}/split"
    return post(path, fields, idempotency_key, _read_ticket)


def create_rating_link(ticket_id: str) -> Operation[RatingLink]:
    """Create a link to rate a ticket."""
    target = f"{ROOT}/tickets/{encode_segment(ticket_id)}/rating-link"
    return post(target, {}, None, _read_rating_link)


def list_replies(ticket_id: str, query: Mapping[str, Any]) -> ListOperation[Reply]:
    """List the replies of a ticket."""
    check_names(query, ReplyFilters)
    return ListOperation(replies_path(ticket_id), query, _read_replies)


def replies_path(ticket_id: str) -> str:
    """Return the path of the replies of a ticket."""
    return f"{ROOT}/tickets/{encode_segment(ticket_id)}/replies"


def create_reply(
    ticket_id: str, fields: Mapping[str, Any], idempotency_key: str | None
) -> Operation[Reply]:
    """Write a reply."""
    check_names(fields, NewReply)
    return post(replies_path(ticket_id), fields, idempotency_key, _read_reply)


def list_customers(query: Mapping[str, Any]) -> ListOperation[Customer]:
    """List customers."""
    check_names(query, CustomerFilters)
    return ListOperation(f"{ROOT}/customers", query, _read_customers)


def get_customer(customer_id: str) -> Operation[Customer]:
    """Get a customer."""
    target = f"{ROOT}/customers/{encode_segment(customer_id)}"
    return Operation("GET", target, b"", {}, _read_customer, resource_id=customer_id)


def create_customer(fields: Mapping[str, Any], idempotency_key: str | None) -> Operation[Customer]:
    """Create a customer."""
    check_names(fields, NewCustomer)
    return post(f"{ROOT}/customers", fields, idempotency_key, _read_customer)


def update_customer(
    customer_id: str, fields: Mapping[str, Any], if_match: IfMatch
) -> Operation[Customer]:
    """Change fields of a customer."""
    check_names(fields, CustomerChange, shown=Customer.__struct_fields__)
    target = f"{ROOT}/customers/{encode_segment(customer_id)}"
    operation = patch(target, fields, if_match, _read_customer)
    return operation._replace(resource_id=customer_id)


def delete_customer(customer_id: str, if_match: IfMatch) -> Operation[Done]:
    """Delete a customer without tickets."""
    return delete(f"{ROOT}/customers/{encode_segment(customer_id)}", if_match)


def merge_customer(customer_id: str, into: str, idempotency_key: str | None) -> Operation[Customer]:
    """Merge a customer into another."""
    path = f"{ROOT}/customers/{encode_segment(customer_id)}/merge"
    operation = post(path, {"into": into}, idempotency_key, _read_customer)
    return operation._replace(resource_id=into)


def undo_customer_merge(customer_id: str) -> Operation[Customer]:
    """Undo the merge of a customer."""
    target = f"{ROOT}/customers/{encode_segment(customer_id)}/merge"
    return Operation("DELETE", target, b"", {}, _read_customer, resource_id=customer_id)


def erase_customer(customer_id: str, idempotency_key: str | None) -> Operation[Erasure]:
    """Begin to erase a customer."""
    target = f"{ROOT}/customers/{encode_segment(customer_id)}/erase"
    headers = key_header(idempotency_key)
    return Operation("POST", target, b"", headers, _read_erasure)


def get_erasure(customer_id: str) -> Operation[Erasure]:
    """Get the erasure of a customer."""
    target = f"{ROOT}/customers/{encode_segment(customer_id)}/erasure"
    return Operation("GET", target, b"", {}, _read_erasure)


def upsert_customer(external_id: str, fields: Mapping[str, Any]) -> Operation[Customer]:
    """Create or change the customer with this id of another system."""
    check_names(fields, CustomerUpsert)
    target = f"{ROOT}/customers/by-external-id/{encode_segment(external_id)}"
    return Operation("PUT", target, encode(fields), JSON_HEADERS, _read_customer)


def list_agents() -> ListOperation[Agent]:
    """List the users to whom tickets can be assigned."""
    return ListOperation(f"{ROOT}/agents", {}, _read_agents)


def list_teams() -> ListOperation[Team]:
    """List the teams to which tickets can be given."""
    return ListOperation(f"{ROOT}/teams", {}, _read_teams)


def upload_attachment(
    name: str, content: bytes, content_type: str, idempotency_key: str | None
) -> Operation[Attachment]:
    """Upload a file."""
    headers = {"content-type": content_type, **key_header(idempotency_key)}
    target = make_target(f"{ROOT}/attachments", {"name": name})
    return Operation("POST", target, content, headers, _read_attachment)


def get_attachment(attachment_id: str) -> Operation[Attachment]:
    """Get what is known of a file."""
    target = f"{ROOT}/attachments/{encode_segment(attachment_id)}"
    return Operation("GET", target, b"", {}, _read_attachment, resource_id=attachment_id)


def download_attachment(attachment_id: str, max_bytes: int) -> Operation[Content]:
    """Get the bytes of a file."""
    target = f"{ROOT}/attachments/{encode_segment(attachment_id)}/content"
    return Operation("GET", target, b"", {}, Content, max_bytes=max_bytes)


def list_events(
    types: Sequence[str], start: str, cursor: str | None, wait_s: int
) -> Operation[Page[Event]]:
    """Read a page of the events feed; wait for the next event if there is none."""
    return Operation(
        "GET", _events_target(types, start, cursor, wait_s), b"", {}, _read_events, wait_s
    )


def list_event_rows(
    types: Sequence[str], start: str, cursor: str | None, wait_s: int
) -> Operation[Page[msgspec.Raw]]:
    """Read a page of the events feed as the bytes of their JSON."""
    return Operation(
        "GET", _events_target(types, start, cursor, wait_s), b"", {}, _read_rows, wait_s
    )


def read_row(body: bytes) -> bytes:
    """Return the object in a response as the bytes of its JSON."""
    return bytes(_read_row(body))


def _followers_path(ticket_id: str) -> str:
    return f"{ROOT}/tickets/{encode_segment(ticket_id)}/followers"


def _links_path(ticket_id: str) -> str:
    return f"{ROOT}/tickets/{encode_segment(ticket_id)}/links"


def _events_target(types: Sequence[str], start: str, cursor: str | None, wait_s: int) -> str:
    begin = {"cursor": cursor} if cursor else {"start": start}
    query = {"type": types or None, "per_page": PAGE_ROWS, "wait": wait_s, **begin}
    return make_target(f"{ROOT}/events", query)


def get_participants(ticket_id: str) -> Operation[Participants]:
    """Get the people who get the public replies of a ticket by e-mail."""
    return Operation("GET", _participants_path(ticket_id), b"", {}, _read_participants)


def set_participants(
    ticket_id: str, participants: Sequence[Mapping[str, Any]]
) -> Operation[Participants]:
    """Set the people who get the public replies of a ticket by e-mail."""
    body = encode({"participants": participants})
    return Operation("PUT", _participants_path(ticket_id), body, JSON_HEADERS, _read_participants)


def _participants_path(ticket_id: str) -> str:
    return f"{ROOT}/tickets/{encode_segment(ticket_id)}/participants"
