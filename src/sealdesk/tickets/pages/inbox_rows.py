"""The rows of the inbox: tickets with their last message, who waits, and what is unread."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk import clock
from sealdesk.db.engine import Row
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.clocks import Due, Target
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.reads import Reads
from sealdesk.tickets.views.inbox_query import InboxRow
from sealdesk.web.pages.durations import due_text, duration_text

_RANDOM_PART = 12  # of an id, which tells customers apart
_decode = msgspec.json.Decoder(InboxRow).decode


class ListedTicket(NamedTuple):
    """A row. is_note: whether its snippet is of a note. waiting: how long the customer waits, ""
    if nobody does. due: what is due first by an SLA policy: at most one.
    """

    ticket: InboxRow
    snippet: str
    is_note: bool
    waiting: str
    is_unread: bool
    due: "Sequence[ShownDue]"


class ShownDue(NamedTuple):
    """What is due. text: how long it is until then, or since then."""

    target: Target
    at: str
    text: str
    is_late: bool


class RowValues(NamedTuple):
    """What scripts know of the tickets of a list, each text once. places: of a ticket's texts."""

    texts: list[str]
    places: dict[str, str]


class _Described(msgspec.Struct):
    description: str


def listed_tickets(rows: Sequence[Row], reads: Reads, now_us: int) -> list[ListedTicket]:
    """The rows of a list as the page shows them."""
    return [_listed(row, reads, now_us) for row in rows]


def row_values(rows: Sequence[ListedTicket]) -> RowValues:
    """The texts of these rows: written in each row they would be a sixth of the page."""
    at: dict[str, int] = {}
    places = {
        row.ticket.id: " ".join([str(at.setdefault(text, len(at))) for text in _texts(row.ticket)])
        for row in rows
    }
    return RowValues(list(at), places)


def _texts(ticket: InboxRow) -> list[str]:
    """As `FIELDS_OF_ROWS` of bulk.js has them, then the tags."""
    person, team, until = ticket.assignee_id or "", ticket.team_id or "", ticket.snoozed_until or ""
    customer = ticket.customer.id[-_RANDOM_PART:]
    return [ticket.status, ticket.priority, person, team, until, customer, *ticket.tags]


def show_due(due: Due | None, now_us: int) -> list[ShownDue]:
    """What is promised, in the order in which it is due."""
    return [_shown(at, target, now_us) for at, target in due.times()] if due else []


def _shown(at: str, target: Target, now_us: int) -> ShownDue:
    due_us = clock.parse_instant(at) or 0
    return ShownDue(target, at, due_text(due_us, now_us), now_us >= due_us)


def _listed(row: Row, reads: Reads, now_us: int) -> ListedTicket:
    waiting_since, ticket = row["waiting_us"], _decode(lists.to_json(row))
    snippet = row["snippet"] or _first_snippet(row)
    return ListedTicket(
        ticket,
        snippet.removeprefix(rules.NOTE_MARK),
        snippet.startswith(rules.NOTE_MARK),
        "" if waiting_since is None else duration_text(now_us - waiting_since),
        reads.is_unread(row["id"], row["last_message_at"]),
        show_due(ticket.due, now_us)[:1],
    )


def _first_snippet(row: Row) -> str:
    """Of a ticket of an earlier version, whose last message is not known."""
    return rules.snippet(msgspec.json.decode(row["document"], type=_Described).description)
