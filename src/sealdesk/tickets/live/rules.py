"""The lines of a stream: server-sent events (HTML standard, section 9.2); no I/O."""

import msgspec

from sealdesk.event_log.positions import FeedEnds
from sealdesk.event_log.stream import Batch
from sealdesk.tickets.live.types import By, ByKind, Feed, Message, Recorded, TicketPart
from sealdesk.tickets.ticket.types import AuthorType

# A page that has missed more loads its parts anew.
MAX_MISSED = 200
_MAX_DIGITS = 18
# The status and the rating are told by the change of their ticket, and due times stand on the page.
_UNTOLD = {
    *("ticket.status_changed", "ticket.rated"),
    *("ticket.sla_warning", "ticket.sla_breached"),
    "ticket.rule_matched",
}
_KINDS: dict[AuthorType, ByKind] = {"agent": "user", "api_key": "api_key", "customer": "customer"}
_encode = msgspec.json.Encoder().encode


def read_position(text: str) -> int | None:
    """The position in a header or a query; None when there is none."""
    is_position = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_position else None


def start_position(known: int | None, ends: FeedEnds) -> tuple[int, bool]:
    """Behind which position a page continues, and whether it has missed what it cannot be told."""
    if known is None:
        return ends.last, False
    has_missed = known < ends.pruned or not 0 <= ends.last - known <= MAX_MISSED
    return (ends.last, True) if has_missed else (known, False)


def hello(position: int, user_id: str, retry_ms: int, *, has_missed: bool) -> bytes:
    """The first lines of a stream. retry_ms: when a browser connects again after its end."""
    data = _encode({"me": user_id, "missed": has_missed})
    return b"retry: %d\nid: %d\nevent: hello\ndata: %b\n\n" % (retry_ms, position, data)


def to_batch(feed: Feed, after: int) -> Batch:
    """The lines of events."""
    lines = [
        (event.position, _lines(feed, event))
        for event in feed.events
        if event.part is not None and event.type not in _UNTOLD
    ]
    position = feed.events[-1].position if feed.events else after
    return Batch(lines, position, has_more=bool(feed.events))


def _lines(feed: Feed, event: Recorded) -> bytes:
    message = Message(
        event.type,
        event.ticket_id,
        event.position,
        feed.numbers.get(event.ticket_id),
        _by(feed, event),
        feed.notified.get(event.change, ()),
    )
    return b"id: %d\nevent: ticket\ndata: %b\n\n" % (event.position, _encode(message))


def _by(feed: Feed, event: Recorded) -> By | None:
    if event.part is None:
        return None
    if not isinstance(event.part, TicketPart):
        author = event.part.author
        return By(_KINDS[author.type], author.id)
    if event.type == "ticket.created":
        return By("customer", event.part.customer.id)
    return feed.actors.get(event.change)
