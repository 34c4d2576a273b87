"""The rows of the inbox: tickets with their last message, who waits, and what is unread."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk import clock
from sealdesk.db.engine import Row
from sealdesk.tickets import rules
from sealdesk.tickets.hours.rules import reply_due_us
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.reads import Reads
from sealdesk.tickets.views.inbox_query import InboxRow
from sealdesk.web.pages.i18n import gettext

_MINUTE_US = 60 * 1_000_000
_HOUR_MIN, _DAY_MIN = 60, 24 * 60
_decode = msgspec.json.Decoder(InboxRow).decode


class ListedTicket(NamedTuple):
    """A row. waiting: how long the customer has waited, "" if nobody waits.

    due: in how long a reply is due, or how late it is, None without such an aim.
    """

    ticket: InboxRow
    snippet: str
    waiting: str
    is_unread: bool
    due: "Due | None"


class Due(NamedTuple):
    """When a reply is due. text: the time until then, or since then if it is late."""

    at: str
    text: str
    is_late: bool


class _Described(msgspec.Struct):
    description: str


def listed_tickets(
    rows: Sequence[Row], reads: Reads, hours: Hours | None, now_us: int
) -> list[ListedTicket]:
    """The rows of a list as the page shows them."""
    return [_listed(row, reads, hours, now_us) for row in rows]


def show_due(hours: Hours | None, waiting_since: int | None, now_us: int) -> Due | None:
    """When a customer who waits is due a reply; None without such an aim."""
    due_us = reply_due_us(hours, waiting_since)
    if due_us is None:
        return None
    return Due(clock.iso(due_us), duration_text(abs(due_us - now_us)), now_us >= due_us)


def _listed(row: Row, reads: Reads, hours: Hours | None, now_us: int) -> ListedTicket:
    waiting_since = row["waiting_us"]
    return ListedTicket(
        _decode(lists.to_json(row)),
        row["snippet"] or _first_snippet(row),
        "" if waiting_since is None else duration_text(now_us - waiting_since),
        reads.is_unread(row["id"], row["last_message_at"]),
        show_due(hours, waiting_since, now_us),
    )


def _first_snippet(row: Row) -> str:
    """Of a ticket of an earlier version, whose last message is not known."""
    return rules.snippet(msgspec.json.decode(row["document"], type=_Described).description)


def duration_text(duration_us: int) -> str:
    """A duration in minutes, hours or days."""
    minutes = max(1, duration_us // _MINUTE_US)
    if minutes < _HOUR_MIN:
        return gettext("%(count)s min") % {"count": minutes}
    if minutes < 2 * _DAY_MIN:
        return gettext("%(count)s h") % {"count": minutes // _HOUR_MIN}
    return gettext("%(count)s d") % {"count": minutes // _DAY_MIN}
