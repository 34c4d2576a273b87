"""Which tickets a list contains, in which order, and whether one index serves it."""

from typing import Literal

import msgspec

from sealdesk.tickets.ticket.types import Priority, Status

# The tables and columns by the name of the filter.
MEMBERSHIPS = {"tag": ("ticket_tags", "tag"), "follower_id": ("ticket_followers", "user_id")}

SortBy = Literal["created_at", "updated_at", "priority", "waiting_since", "due_at"]
# These orders have only the tickets with a value.
PARTIAL: tuple[SortBy, ...] = ("waiting_since", "due_at")

# One index serves the tickets of an assignee in one status.
STATUS_AND_ASSIGNEE = "status_and_assignee"
STATUS_AND_CHANGE = "status_and_change"
TEAM_AND_CHANGE = "team_and_change"
ASSIGNEE_AND_CHANGE = "assignee_and_change"
NO_INDEX = "none"  # but the primary key
NUMBER = "number"  # of which a desk has one ticket
# A desk has few snoozed tickets (snoozing.rules), so they are all read and sorted.
SNOOZED = "snoozed"
UNASSIGNED = "unassigned"  # where few tickets have no assignee
COLUMNS_OF_INDEX = {
    SNOOZED: ("snoozed_until",),
    UNASSIGNED: ("assignee_id",),
    STATUS_AND_ASSIGNEE: ("status", "assignee_id"),
    STATUS_AND_CHANGE: ("status", "updated_at"),
    TEAM_AND_CHANGE: ("team_id", "status", "updated_at"),
    ASSIGNEE_AND_CHANGE: ("assignee_id", "status", "updated_at"),
    NO_INDEX: (),
}

UNFINISHED: tuple[Status, ...] = ("open", "pending", "on_hold")


class Filter(msgspec.Struct, frozen=True):
    """Which tickets a list contains, and in which order. Times are microseconds.

    is_waiting: whether the customer waits for a reply. The order by `waiting_since` has only those
    who wait, that by `due_at` only those with something due. due_before: something is due by an SLA
    policy before this time. customer_ids: one of these customers. follower_id: of a user who
    follows them. tag, more_tags: a ticket carries all of them. number: of one ticket.
    index: the filter whose index must be used, None to let the planner choose.
    """

    status: tuple[Status, ...] = ()
    priority: tuple[Priority, ...] = ()
    customer_id: str | None = None
    customer_ids: tuple[str, ...] = ()
    assignee_id: str | None = None
    team_id: str | None = None
    is_unassigned: bool = False
    is_waiting: bool | None = None
    is_snoozed: bool | None = None
    tag: str | None = None
    more_tags: tuple[str, ...] = ()
    number: int | None = None
    follower_id: str | None = None
    external_id: str | None = None
    rating: int | None = None
    created_after: int | None = None
    created_before: int | None = None
    updated_after: int | None = None
    updated_before: int | None = None
    due_before: int | None = None
    sort_by: SortBy = "created_at"
    newest_first: bool = True
    index: str | None = None

    def is_served(self) -> bool:
        """Whether one index serves the whole query."""
        if self.is_of_view() or self.is_snoozed or self.number is not None:
            return True
        if self.is_unassigned or self.customer_ids or self.follower_id or self.more_tags:
            return False
        if self.tag and self.is_snoozed is not None:
            return False
        is_by_waiting = self.sort_by == "waiting_since"
        if self.is_waiting is not None and not (is_by_waiting and self.is_waiting):
            return False
        if self.due_before is not None and self.sort_by != "due_at":
            return False
        one_value = (
            *(self.customer_id, self.assignee_id, self.team_id, self.tag, self.external_id),
            self.rating,
        )
        equalities = sum(map(bool, (self.status, self.priority, *one_value)))
        shares_index = self.assignee_id is not None and bool(self.status)
        has_updated_bound = self.updated_after is not None or self.updated_before is not None
        if self.sort_by == "created_at":
            return equalities <= (2 if shares_index else 1) and not has_updated_bound
        has_created_bound = self.created_after is not None or self.created_before is not None
        if self.sort_by == "updated_at":
            has_owner = self.team_id is not None or self.assignee_id is not None
            return equalities == bool(self.status) + has_owner and not has_created_bound
        return equalities == 0 and not has_created_bound and not has_updated_bound

    def is_of_view(self) -> bool:
        """Whether it has a partial index: what nobody has, or what is urgent, by time of change."""
        is_snoozed = self.is_snoozed or None  # few are, so they are read and left out
        filters = msgspec.structs.replace(
            self,
            status=(),
            sort_by="created_at",
            newest_first=True,
            index=None,
            is_snoozed=is_snoozed,
        )
        return self.sort_by == "updated_at" and filters in _WITH_PARTIAL_INDEX


URGENT: tuple[Priority, ...] = ("urgent",)
_WITH_PARTIAL_INDEX = (Filter(is_unassigned=True), Filter(priority=URGENT))


def membership_condition(name: str, key: str = "", *, is_leading: bool) -> str:
    """A condition on tickets `t`. is_leading: the rows of the value are read first.

    key: of the parameter with the value, if it is not the name.
    """
    table, column = MEMBERSHIPS[name]
    key = key or name
    of_value = f"g.tenant_id = :tenant_id AND g.{column} = :{key}"
    if is_leading:
        return f"t.id IN (SELECT g.ticket_id FROM {table} g WHERE {of_value})"
    return f"EXISTS (SELECT 1 FROM {table} g WHERE {of_value} AND g.ticket_id = t.id)"


def snoozed_conditions(is_snoozed: bool | None) -> list[str]:
    """The conditions on tickets `t` that are snoozed, or are not; none for all tickets."""
    if is_snoozed is None:
        return []
    # Only a comparison makes SQLite search the index by it.
    return ["t.snoozed_until > ''" if is_snoozed else "t.snoozed_until IS NULL"]
