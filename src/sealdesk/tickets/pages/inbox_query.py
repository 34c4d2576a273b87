"""What the inbox is asked for: which tickets, in which order, from where on."""

from collections.abc import Mapping
from functools import partial
from typing import Literal, cast
from urllib.parse import urlencode

import msgspec

from sealdesk import ids
from sealdesk.clock import Iso
from sealdesk.customers.types import CustomerRef
from sealdesk.paging import Position
from sealdesk.tickets.store.lists import Filter, SortBy
from sealdesk.tickets.types import PRIORITIES, STATUSES, Priority, Status
from sealdesk.web.pages import cursor_trail
from sealdesk.web.pages.forms import Form

PATH = "/tickets"
ANY, NOBODY, ME = "", "nobody", "me"
Sort = Literal["newest", "changed", "priority"]
_ORDERS: Mapping[Sort, SortBy] = {
    "newest": "created_at",
    "changed": "updated_at",
    "priority": "priority",
}
_MOST = 320  # of what is typed: an e-mail address
# Of the value that a page ended with: none, an instant in microseconds, a rank.
_DIGITS: Mapping[Sort, int] = {"newest": 0, "changed": 18, "priority": 1}


class Row(msgspec.Struct, frozen=True):
    """A ticket as a line of the inbox shows it."""

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


class InboxQuery(msgspec.Struct, frozen=True):
    """A view of the inbox, as its address says it.

    status: None for all. customer: an id, or an e-mail address. trail: where each page before
    this one ended, so that "newer" leads back one page at a time. q: the words to find, beside
    which nothing else is asked.
    """

    status: Status | None = "open"
    priority: Priority | None = None
    assignee: str = ANY
    customer: str = ""
    tag: str = ""
    sort: Sort = "newest"
    trail: tuple[str, ...] = ()
    q: str = ""

    def is_narrowed(self) -> bool:
        """Whether more than a status is asked for."""
        return bool(self.priority or self.assignee or self.customer or self.tag or self.q)

    def link(self, **changes: object) -> str:
        """The address of this view, or of one that differs in something.

        Other tickets or another order begin at their first page.
        """
        if changes and "trail" not in changes:
            changes["trail"] = ()
        return _address(PATH, msgspec.structs.replace(self, **changes).said())

    def bulk(self) -> str:
        """Where what is to be done with chosen tickets of this view is sent."""
        return _address(f"{PATH}/bulk", self.said())

    def poll(self, since: str) -> str:
        """Where it is asked what is new in this view."""
        return _address(f"{PATH}/arrived", [*self.said(), ("since", since)])

    def said(self) -> list[tuple[str, str]]:
        """What the address says of it: what is not as it is without saying."""
        if self.q:
            return [("q", self.q)]
        said = [
            ("status", "" if self.status == "open" else self.status or "all"),
            ("priority", self.priority or ""),
            ("assignee", self.assignee),
            ("customer", self.customer),
            ("tag", self.tag),
            ("sort", "" if self.sort == "newest" else self.sort),
            ("before", ",".join(self.trail)),
        ]
        return [(name, value) for name, value in said if value]

    def filter(self, reader_id: str) -> Filter:
        """The same for the list. A customer that is given by address is yet to be found."""
        is_nobody = self.assignee == NOBODY
        assignee = reader_id if self.assignee == ME else self.assignee
        return Filter(
            status=(self.status,) if self.status else (),
            priority=(self.priority,) if self.priority else (),
            customer_id=self.customer or None,
            assignee_id=None if is_nobody else assignee or None,
            is_unassigned=is_nobody,
            tag=self.tag or None,
            sort_by=_ORDERS[self.sort],
        )

    def after(self) -> Position | None:
        """Where the page before this one ended."""
        if not self.trail:
            return None
        value, _, last_id = self.trail[-1].rpartition("_")
        return [int(value), last_id] if value else [last_id]

    def further(self, last: Position) -> tuple[str, ...]:
        """The trail of the page behind this one."""
        return (*self.trail, "_".join(str(part) for part in last))


def asked(form: Form) -> InboxQuery:
    """The view that an address asks for; what no view knows is passed over."""
    if words := form.text("q").strip()[:_MOST]:
        return InboxQuery(status=None, q=words)
    status, sort = form.text("status"), form.text("sort")
    priority, assignee = form.text("priority"), form.text("assignee")
    is_known = assignee in (NOBODY, ME) or ids.is_canonical(assignee)
    view = InboxQuery(
        status=_status(status),
        priority=priority if priority in PRIORITIES else None,
        assignee=assignee if is_known else ANY,
        customer=form.text("customer").strip()[:_MOST],
        tag=form.text("tag").strip()[:_MOST],
        sort=cast(Sort, sort) if sort in _ORDERS else "newest",
    )
    is_place = partial(_is_place, digits=_DIGITS[view.sort])
    return msgspec.structs.replace(view, trail=tuple(cursor_trail.read(form, is_place)))


def _address(path: str, said: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(said)}" if said else path


def _status(text: str) -> Status | None:
    if text == "all":
        return None
    return text if text in STATUSES else "open"


def _is_place(text: str, *, digits: int) -> bool:
    value, _, last_id = text.rpartition("_")
    is_value = value.isascii() and value.isdigit() and len(value) <= digits
    return ids.is_canonical(last_id) and (is_value if digits else text == last_id)
