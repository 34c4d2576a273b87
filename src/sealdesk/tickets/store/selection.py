"""Which tickets a list contains, in which order, and the SQL that selects them.

The default order is the primary key read backwards. A filter of one value has an index that ends
in the id, so its entries are in that order too; a filter of several values merges those indexes.
The order by change merges the tickets of each status, so that one index serves it for every status.
"""

from typing import Literal

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Dialect
from sealdesk.paging import Position
from sealdesk.tickets import rules
from sealdesk.tickets.store import memberships
from sealdesk.tickets.store.memberships import MEMBERSHIPS
from sealdesk.tickets.types import STATUSES, Priority, Status

SortBy = Literal["created_at", "updated_at", "priority", "waiting_since"]

# One index serves the tickets of an assignee in one status.
STATUS_AND_ASSIGNEE = "status_and_assignee"
_STATUS_AND_CHANGE = "status_and_change"
_TEAM_AND_CHANGE = "team_and_change"
# A desk has few snoozed tickets (snoozing.rules), so they are all read and sorted.
SNOOZED = "snoozed"
COLUMNS_OF_INDEX = {
    SNOOZED: ("snoozed_until",),
    STATUS_AND_ASSIGNEE: ("status", "assignee_id"),
    _STATUS_AND_CHANGE: ("status", "updated_at"),
    _TEAM_AND_CHANGE: ("team_id", "status", "updated_at"),
}


class Filter(msgspec.Struct, frozen=True):
    """Which tickets a list contains, and in which order. Times are microseconds.

    is_waiting: whether the customer waits for a reply. The order by `waiting_since` has only those
    who wait. customer_ids: one of these customers. follower_id: of a user who follows them.
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
    follower_id: str | None = None
    external_id: str | None = None
    created_after: int | None = None
    created_before: int | None = None
    updated_after: int | None = None
    sort_by: SortBy = "created_at"
    newest_first: bool = True
    index: str | None = None

    def is_served(self) -> bool:
        """Whether one index serves the whole query."""
        if self.is_of_view() or self.is_snoozed:
            return True
        if self.is_unassigned or self.customer_ids or self.follower_id:
            return False
        if self.tag and self.is_snoozed is not None:
            return False
        is_by_waiting = self.sort_by == "waiting_since"
        if self.is_waiting is not None and not (is_by_waiting and self.is_waiting):
            return False
        one_value = (
            self.customer_id, self.assignee_id, self.team_id, self.tag, self.external_id
        )  # fmt: skip
        equalities = sum(map(bool, (self.status, self.priority, *one_value)))
        shares_index = self.assignee_id is not None and len(self.status) == 1
        if self.sort_by == "created_at":
            return equalities <= (2 if shares_index else 1) and self.updated_after is None
        has_created_bound = self.created_after is not None or self.created_before is not None
        if self.sort_by == "updated_at":
            shared = bool(self.status) + (self.team_id is not None)
            return equalities == shared and not has_created_bound
        return equalities == 0 and not has_created_bound and self.updated_after is None

    def is_of_view(self) -> bool:
        """Whether it has a partial index: what nobody has, or what is urgent, by time of change."""
        is_snoozed = self.is_snoozed or None  # few are, so they are read and left out
        filters = msgspec.structs.replace(
            self, status=(), sort_by="created_at", newest_first=True, index=None,
            is_snoozed=is_snoozed,
        )  # fmt: skip
        return self.sort_by == "updated_at" and filters in _WITH_PARTIAL_INDEX


_URGENT: tuple[Priority, ...] = ("urgent",)
_WITH_PARTIAL_INDEX = (Filter(is_unassigned=True), Filter(priority=_URGENT))


def statement(
    dialect: Dialect,
    select: str,
    filters: Filter,
    after: Position | None,
    params: dict[str, object],
) -> str:
    """The SQL of a list, made of constants; the values are added to `params`.

    select: up to the condition on the tenant, with the column that is sorted by and the id.
    """
    if filters.sort_by == "updated_at" and filters.index in (None, "status"):
        branches = _merged_statuses(select, filters, after, params)
        order = _order_by_change(filters, "")
        if dialect == "postgresql" and len(branches) > 1:
            # Without statistics it would sort the tickets of all statuses.
            limited = f" {_order_by_change(filters, 't.')})"
            branches = [f"({branch}{limited}" for branch in branches]
        return f"{' UNION ALL '.join(branches)} {order}"
    return f"{select} {_selection(filters, after, params)}"


# As the partial index has it, so that its condition is seen to hold.
_IS_URGENT = f"t.priority = {rules.rank_of('urgent')}"


def _order_by_change(filters: Filter, table: str) -> str:
    direction = "DESC" if filters.newest_first else "ASC"
    return f"ORDER BY {table}updated_at {direction}, {table}id {direction} LIMIT :limit"


def _merged_statuses(
    select: str, filters: Filter, after: Position | None, params: dict[str, object]
) -> list[str]:
    """The tickets of each status."""
    index = _STATUS_AND_CHANGE if filters.team_id is None else _TEAM_AND_CHANGE
    others = msgspec.structs.replace(filters, status=(), index=index)
    is_urgent = others.priority == _URGENT
    if is_urgent:
        others = msgspec.structs.replace(others, priority=())
    conditions = [
        *([_IS_URGENT] if is_urgent else []),
        *_equalities(others, params),
        *_in_conditions(others, params),
        *_ranges(others, after, params),
    ]
    return [
        " AND ".join([f"{select} AND t.status = :{key}", *conditions])
        for key in bind("status", [*(filters.status or STATUSES)], params)
    ]


def _selection(filters: Filter, after: Position | None, params: dict[str, object]) -> str:
    direction = "DESC" if filters.newest_first else "ASC"
    ranges = _ranges(filters, after, params)
    conditions = _equalities(filters, params)
    if _is_merge(filters):
        branches = _branches(filters, ranges, params)
        conditions.append(f"t.id IN ({branches} ORDER BY id {direction} LIMIT :limit)")
    else:
        conditions += _in_conditions(filters, params) + ranges
    narrowed = "".join(f"AND {condition} " for condition in conditions)
    return f"{narrowed}ORDER BY {_order(filters)} LIMIT :limit"


def _order(filters: Filter) -> str:
    direction = "DESC" if filters.newest_first else "ASC"
    if filters.sort_by == "created_at":
        return f"{_id(filters)} {direction}"
    return f"{_column(filters, filters.sort_by)} {direction}, t.id {direction}"


def _id(filters: Filter) -> str:
    """The id to order by; as an expression if the primary key must not be read in this order."""
    return "coalesce(t.id, NULL)" if filters.index == SNOOZED else "t.id"


def _column(filters: Filter, name: str) -> str:
    """A column to filter or sort by; if its index must not be used, as an expression."""
    index = filters.index
    is_hidden = index is not None and name not in COLUMNS_OF_INDEX.get(index, (index,))
    return f"coalesce(t.{name}, NULL)" if is_hidden else f"t.{name}"


def _equalities(filters: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name in ("customer_id", "assignee_id", "team_id", "external_id"):
        value = getattr(filters, name)
        if value is not None:
            params[name] = value
            conditions.append(f"{_column(filters, name)} = :{name}")
    if filters.is_unassigned:
        conditions.append("t.assignee_id IS NULL")
    if filters.is_waiting is False:
        conditions.append("t.waiting_since IS NULL")
    if filters.sort_by == "waiting_since":
        conditions.append("t.waiting_since IS NOT NULL")
    conditions += memberships.of_snoozed(filters.is_snoozed)
    if filters.sort_by != "waiting_since" and filters.is_waiting:
        # Times are positive, and only a comparison makes SQLite search the index by it.
        conditions.append(f"{_column(filters, 'waiting_since')} > 0")
    return conditions


def _in_conditions(filters: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name, values in multi_valued(filters):
        keys = bind(name, values, params)
        column = _column(filters, name)
        conditions.append(f"{column} IN ({', '.join(f':{key}' for key in keys)})")
    for name in (each for each in MEMBERSHIPS if getattr(filters, each) is not None):
        params[name] = getattr(filters, name)
        conditions.append(memberships.condition(name, is_leading=filters.index == name))
    return conditions


def _is_merge(filters: Filter) -> bool:
    """Whether the ids of the page are merged from ranges of one index, which are in order."""
    has_ranges = filters.tag is not None or len(filters.status) > 1 or len(filters.priority) > 1
    is_by_id = filters.sort_by == "created_at" and not filters.is_snoozed
    return has_ranges and is_by_id and filters.is_served()


def _branches(filters: Filter, ranges: list[str], params: dict[str, object]) -> str:
    if filters.tag is not None:
        params["tag"] = filters.tag
        bounds = [text.replace("t.id", "t.ticket_id") for text in ranges]
        where = " AND ".join(["t.tenant_id = :tenant_id", "t.tag = :tag", *bounds])
        return f"SELECT t.ticket_id AS id FROM ticket_tags t WHERE {where}"
    ((name, values),) = multi_valued(filters)
    ranges = [*ranges, *memberships.of_snoozed(filters.is_snoozed)]
    return " UNION ALL ".join(
        "SELECT t.id FROM tickets t WHERE "
        + " AND ".join(["t.tenant_id = :tenant_id", f"t.{name} = :{key}", *ranges])
        for key in bind(name, values, params)
    )


def multi_valued(filters: Filter) -> list[tuple[str, list[object]]]:
    """(column, stored values) of the filters that can have several values."""
    columns: list[tuple[str, list[object]]] = [
        ("status", [*filters.status]),
        ("priority", [rules.rank_of(priority) for priority in filters.priority]),
        ("customer_id", [*filters.customer_ids]),
    ]
    return [(name, values) for name, values in columns if values]


def bind(name: str, values: list[object], params: dict[str, object]) -> list[str]:
    """The names of parameters that are added for the values."""
    keys = [f"{name}_{place}" for place in range(len(values))]
    params.update(zip(keys, values, strict=True))
    return keys


def _ranges(filters: Filter, after: Position | None, params: dict[str, object]) -> list[str]:
    """Bounds on the times, and on the end of the previous page; ids contain the time of creation.

    A time bound on the same side as the end of the previous page is left out: of the two, SQLite
    may use the looser one, or another index, and read everything in between for each page.
    """
    side = None if after is None else "before" if filters.newest_first else "after"
    redundant = (filters.sort_by, side)
    conditions = []
    if filters.created_after is not None and redundant != ("created_at", "after"):
        params["created_after"] = ids.lowest(filters.created_after)
        conditions.append(f"{_id(filters)} >= :created_after")
    if filters.created_before is not None and redundant != ("created_at", "before"):
        params["created_before"] = ids.lowest(filters.created_before)
        conditions.append(f"{_id(filters)} < :created_before")
    if filters.updated_after is not None and redundant != ("updated_at", "after"):
        params["updated_after"] = filters.updated_after
        conditions.append(f"{_column(filters, 'updated_at')} >= :updated_after")
    if after is not None:
        conditions.append(_after_position(filters, after, params))
    return conditions


def _after_position(filters: Filter, after: Position, params: dict[str, object]) -> str:
    sign = "<" if filters.newest_first else ">"
    params["after_id"] = after[-1]
    if filters.sort_by == "created_at":
        return f"{_id(filters)} {sign} :after_id"
    params["after_value"] = after[0]
    column = _column(filters, filters.sort_by)
    return f"({column}, t.id) {sign} (:after_value, :after_id)"


def conditions(filters: Filter, params: dict[str, object]) -> str:
    """The SQL of the filters alone, without order and page; the values are added to `params`."""
    is_waiting = True if filters.sort_by == "waiting_since" else filters.is_waiting
    index, order = SNOOZED if filters.is_snoozed else None, "created_at"
    chosen = msgspec.structs.replace(filters, index=index, sort_by=order, is_waiting=is_waiting)
    parts = [_IS_URGENT] if filters.priority == _URGENT else []
    parts += [
        *_equalities(chosen, params),
        *_in_conditions(chosen, params),
        *_ranges(chosen, None, params),
    ]
    return " AND ".join(parts) or "t.tenant_id = :tenant_id"
