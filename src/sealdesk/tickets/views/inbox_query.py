"""The query of the inbox: which tickets, in which order, which page."""

from collections.abc import Mapping
from functools import partial
from typing import Literal, cast
from urllib.parse import urlencode

import msgspec

from sealdesk import ids
from sealdesk.clock import Iso
from sealdesk.customers.types import CustomerRef
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import Position
from sealdesk.tickets.custom_fields.types import KEY
from sealdesk.tickets.ticket.clocks import Due
from sealdesk.tickets.ticket.store.filters import Filter, SortBy
from sealdesk.tickets.ticket.types import PRIORITIES, STATUSES, AuthorType, Priority, Status
from sealdesk.tickets.views import rules
from sealdesk.web.form import Form, parse_form
from sealdesk.web.pages import cursor_trail

PATH = "/tickets"
ANY, NOBODY, ME = "", "nobody", "me"
Sort = Literal["changed", "newest", "priority", "waiting", "due"]
_ORDERS: Mapping[Sort, SortBy] = {
    "changed": "updated_at",
    "newest": "created_at",
    "priority": "priority",
    "waiting": "waiting_since",
    "due": "due_at",
}
# Within how many hours something is due, by the value of the query; 0 for what is late.
DUE_HOURS: Mapping[str, int] = {"late": 0, "1": 1, "4": 4, "24": 24}
_HOUR_US = 3600 * 1_000_000
_EVER_US = 2**60
_FLAGS = ("waiting", "snoozed", "followed")
_MAX_TEXT_LENGTH = 320  # of an e-mail address
# Digits of the sort value in a position: none, microseconds, a rank.
_MAX_DIGITS: Mapping[Sort, int] = {
    "changed": 18,
    "newest": 0,
    "priority": 1,
    "waiting": 18,
    "due": 18,
}


class InboxRow(msgspec.Struct, frozen=True):
    """A ticket as the inbox lists it."""

    id: str
    number: int
    subject: str
    status: Status
    priority: Priority
    assignee_id: str | None
    tags: tuple[str, ...]
    created_at: Iso
    updated_at: Iso
    customer: CustomerRef
    last_reply_by: AuthorType | None = None
    team_id: str | None = None
    snoozed_until: str | None = None
    due: Due | None = None


class InboxQuery(msgspec.Struct, frozen=True):
    """What the inbox shows, as its URL says it.

    status: None for all. team: its id. customer: an id, an e-mail address, or words to find a
    customer by.
    trail: the positions where the previous pages ended, so that "newer" goes back one page at a
    time. waiting: only tickets whose customer waits for a reply; the order "waiting" has no others.
    due: one of DUE_HOURS: only tickets of which something is due so soon; the order "due" has no
    others than those with something due. snoozed: only tickets that are, which are in no other
    list; a search finds them too. followed: only tickets that the reader follows. q: words to
    search for, in any status by default. view: the id or key of the view that the query began with.
    field: the key and the value of a custom field, with a colon between them.
    """

    status: Status | None = "open"
    priority: Priority | None = None
    assignee: str = ANY
    team: str = ""
    customer: str = ""
    tag: str = ""
    sort: Sort = "changed"
    waiting: bool = False
    due: str = ""
    snoozed: bool = False
    followed: bool = False
    trail: tuple[str, ...] = ()
    q: str = ""
    view: str = ""
    field: str = ""

    def is_search(self) -> bool:
        """Whether the search finds its tickets, which are the newest first."""
        return bool(self.q or self.field)

    def is_narrowed(self) -> bool:
        """Whether it has filters besides the status."""
        filters = (self.priority, self.assignee, self.team, self.customer, self.tag, self.due)
        flags = (self.waiting, self.snoozed, self.followed)
        return bool(any(filters) or any(flags) or self.is_search())

    def link(self, **changes: object) -> str:
        """The URL of this query with some fields changed.

        A change of the filters or the order begins at the first page.
        """
        if changes and "trail" not in changes:
            changes["trail"] = ()
        return _url(PATH, msgspec.structs.replace(self, **changes)._parameters())

    def bulk(self) -> str:
        """The URL of the form that changes selected tickets of this list."""
        return _url(f"{PATH}/bulk", self._parameters())

    def bulk_macro(self) -> str:
        """The URL of the form that uses a macro on selected tickets of this list."""
        return _url(f"{PATH}/bulk/macro", self._parameters())

    def export(self) -> str:
        """The URL of the page that exports this list."""
        return _url(f"{PATH}/export", msgspec.structs.replace(self, trail=())._parameters())

    def ticket(self, position: Position) -> str:
        """The URL of a ticket at a position of this list."""
        query = msgspec.structs.replace(self, trail=())
        return _url(
            f"{PATH}/{position[-1]}", [*query._parameters(), ("at", position_text(position))]
        )

    def poll(self, since: Position) -> str:
        """The URL that counts tickets of this list with a later change than at this position."""
        parameters = [*self._parameters(), ("since", position_text(since))]
        return _url(f"{PATH}/arrived", parameters)

    def _parameters(self) -> list[tuple[str, str]]:
        """The query parameters; default values are left out.

        With a view the status is always there: without it the filters are those of the view.
        """
        is_default = self.status == (None if self.q else "open") and not self.view
        parameters = [
            ("q", self.q),
            ("view", self.view),
            ("status", "" if is_default else self.status or "all"),
            ("priority", self.priority or ""),
            ("assignee", self.assignee),
            ("team", self.team),
            ("customer", self.customer),
            ("tag", self.tag),
            ("field", self.field),
            ("due", self.due),
            *((name, "yes" if getattr(self, name) else "") for name in _FLAGS),
            ("sort", "" if self.sort == "changed" else self.sort),
            ("before", ",".join(self.trail)),
        ]
        return [(name, value) for name, value in parameters if value]

    def stored(self) -> str:
        """The filters and the order as a saved view stores them."""
        return urlencode(msgspec.structs.replace(self, view="", trail=())._parameters())

    def is_countable(self) -> bool:
        """Whether its filters alone tell the tickets: a search and an e-mail address do not."""
        return not self.is_search() and (not self.customer or ids.is_canonical(self.customer))

    def filter(self, reader_id: str, now_us: int) -> Filter:
        """The filters of the list. An e-mail address in customer_id is to be replaced by the id."""
        is_nobody = self.assignee == NOBODY
        assignee = reader_id if self.assignee == ME else self.assignee
        return Filter(
            status=(self.status,) if self.status else (),
            priority=(self.priority,) if self.priority else (),
            customer_id=self.customer or None,
            assignee_id=None if is_nobody else assignee or None,
            team_id=self.team or None,
            is_unassigned=is_nobody,
            tag=identity(self.tag) or None,
            is_waiting=True if self.waiting else None,
            due_before=self._due_before(now_us),
            is_snoozed=True if self.snoozed else None if self.q else False,
            follower_id=reader_id if self.followed else None,
            sort_by=_ORDERS[self.sort],
            newest_first=self.sort not in ("waiting", "due"),
        )

    def _due_before(self, now_us: int) -> int | None:
        if self.due:
            return now_us + DUE_HOURS[self.due] * _HOUR_US
        return _EVER_US if self.sort == "due" else None

    def after(self) -> Position | None:
        """The position where the previous page ended."""
        return _read_position(self.trail[-1]) if self.trail else None

    def next_trail(self, last: Position) -> tuple[str, ...]:
        """The trail of the next page."""
        return (*self.trail, position_text(last))


def read_inbox_query(form: Form) -> InboxQuery:
    """The query that URL parameters describe; unknown names and values are ignored."""
    words = form.text("q").strip()[:_MAX_TEXT_LENGTH]
    status, sort = form.text("status"), form.text("sort")
    priority, assignee, team = form.text("priority"), form.text("assignee"), form.text("team")
    is_known = assignee in (NOBODY, ME) or ids.is_canonical(assignee)
    query = InboxQuery(
        q=words,
        status=_status(status or "all") if words else _status(status),
        priority=priority if priority in PRIORITIES else None,
        assignee=assignee if is_known else ANY,
        team=team if ids.is_canonical(team) else "",
        customer=form.text("customer").strip()[:_MAX_TEXT_LENGTH],
        tag=form.text("tag").strip()[:_MAX_TEXT_LENGTH],
        sort=cast(Sort, sort) if sort in _ORDERS else "changed",
        waiting=form.text("waiting") == "yes",
        due=due if (due := form.text("due")) in DUE_HOURS else "",
        snoozed=form.text("snoozed") == "yes",
        followed=form.text("followed") == "yes",
        view=_view(form.text("view")),
        field=_field(form.text("field")),
    )
    # The search has the newest tickets first, whatever the order of the list is.
    order: Sort = "newest" if query.is_search() else query.sort
    is_position = partial(_is_position, max_digits=_MAX_DIGITS[order])
    return msgspec.structs.replace(query, trail=tuple(cursor_trail.read(form, is_position)))


def read_position(query: InboxQuery, text: str) -> Position | None:
    """A position in the order of the query; None when the text is none."""
    is_valid = _is_position(text, max_digits=_MAX_DIGITS[query.sort])
    return _read_position(text) if is_valid else None


def position_text(position: Position) -> str:
    """A position as addresses name it."""
    return "_".join(str(part) for part in position)


def _read_position(text: str) -> Position:
    value, _, last_id = text.rpartition("_")
    return [int(value), last_id] if value else [last_id]


def _url(path: str, parameters: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(parameters)}" if parameters else path


def parse_stored(text: str) -> InboxQuery:
    """The query that a saved view stores."""
    return read_inbox_query(parse_form(text.encode()))


def continued(query: InboxQuery, form: Form) -> InboxQuery:
    """The query of a view with the page that a form names."""
    typed = read_inbox_query(_with_sort(form, query.sort))
    return msgspec.structs.replace(query, view=typed.view, trail=typed.trail)


def _with_sort(form: Form, sort: Sort) -> Form:
    return Form([*(field for field in form.fields if field[0] != "sort"), ("sort", sort)])


def unknown_filters(stored: str) -> list[str]:
    """The names and values of a stored query that are no filters any more."""
    kept = parse_form(parse_stored(stored).stored().encode()).fields
    return [
        f"{name}: {value}"
        for name, value in parse_form(stored.encode()).fields
        if (name, value) not in kept
    ]


def _view(text: str) -> str:
    return text if rules.find_built_in(text) or ids.is_canonical(text) else ""


def _field(text: str) -> str:
    key, _, value = text.strip()[:_MAX_TEXT_LENGTH].partition(":")
    return f"{key}:{value.strip()}" if KEY.fullmatch(key) and value.strip() else ""


def _status(text: str) -> Status | None:
    if text == "all":
        return None
    return text if text in STATUSES else "open"


def _is_position(text: str, *, max_digits: int) -> bool:
    value, _, last_id = text.rpartition("_")
    is_value = value.isascii() and value.isdigit() and len(value) <= max_digits
    return ids.is_canonical(last_id) and (is_value if max_digits else text == last_id)
