"""The SQL that selects the tickets of a list in its order.

The default order is the primary key read backwards. A filter of one value has an index that ends
in the id, so its entries are in that order too; a filter of several values merges those indexes.
The tickets of an assignee, and the order by change, merge those of each status, so that one index
serves every status.
"""

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Dialect
from sealdesk.resources.paging import Position
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.store.filters import (
    ASSIGNEE_AND_CHANGE,
    COLUMNS_OF_INDEX,
    MEMBERSHIPS,
    NO_INDEX,
    PARTIAL,
    SNOOZED,
    STATUS_AND_CHANGE,
    TEAM_AND_CHANGE,
    UNASSIGNED,
    UNFINISHED,
    URGENT,
    Filter,
    membership_condition,
    snoozed_conditions,
)
from sealdesk.tickets.ticket.types import STATUSES, Status


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


def newest_ids(filters: Filter, params: dict[str, object]) -> str:
    """The SQL of the ids of a list in the default order; the values are added to `params`."""
    select = "SELECT t.id AS id FROM tickets t WHERE t.tenant_id = :tenant_id"
    return f"{select} {_selection(filters, None, params)}"


# As the partial index has it, so that its condition is seen to hold.
_IS_URGENT = f"t.priority = {rules.rank_of('urgent')}"


# SQLite searches a partial index only by its columns.
_OF_EVERY_STATUS = f"t.status IN {STATUSES} AND t.updated_at > 0"


def _order_by_change(filters: Filter, table: str) -> str:
    direction = "DESC" if filters.newest_first else "ASC"
    return f"ORDER BY {table}updated_at {direction}, {table}id {direction} LIMIT :limit"


def _merged_statuses(
    select: str, filters: Filter, after: Position | None, params: dict[str, object]
) -> list[str]:
    """The tickets of each status."""
    others = msgspec.structs.replace(filters, status=(), index=_index_by_change(filters))
    is_urgent = others.priority == URGENT
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
        for key in bind("status", [*_statuses(filters)], params)
    ]


def _index_by_change(filters: Filter) -> str:
    if filters.assignee_id is not None:
        return ASSIGNEE_AND_CHANGE
    return STATUS_AND_CHANGE if filters.team_id is None else TEAM_AND_CHANGE


def _statuses(filters: Filter) -> tuple[Status, ...]:
    """The statuses whose tickets are merged; nothing is due on a finished one."""
    is_unfinished = filters.is_waiting or filters.due_before is not None
    return filters.status or (UNFINISHED if is_unfinished else STATUSES)


def _selection(filters: Filter, after: Position | None, params: dict[str, object]) -> str:
    ranges = _ranges(filters, after, params)
    if _is_merge(filters):
        direction = "DESC" if filters.newest_first else "ASC"
        branches = _branches(filters, ranges, params)
        narrowed = f"AND t.id IN ({branches} ORDER BY id {direction} LIMIT :limit) "
    else:
        conditions = _equalities(filters, params) + _in_conditions(filters, params) + ranges
        narrowed = "".join(f"AND {condition} " for condition in conditions)
    page = f"{narrowed}ORDER BY {_order(filters)} LIMIT :limit"
    if filters.index is None:
        return page
    # Many tickets are sorted: without their documents and customers, which only the page needs.
    chosen = f"SELECT t.id FROM tickets t WHERE t.tenant_id = :tenant_id {page}"
    order = _order(msgspec.structs.replace(filters, index=NO_INDEX))
    return f"AND t.id IN ({chosen}) ORDER BY {order} LIMIT :limit"


def _order(filters: Filter) -> str:
    direction = "DESC" if filters.newest_first else "ASC"
    if filters.sort_by == "created_at":
        return f"{_id(filters)} {direction}"
    return f"{_column(filters, filters.sort_by)} {direction}, t.id {direction}"


# Their entries do not end in the id only.
_UNORDERED = (SNOOZED, UNASSIGNED, "assignee_id")


def _id(filters: Filter) -> str:
    """The id to order by; as an expression if the primary key must not be read in this order."""
    return "coalesce(t.id, NULL)" if filters.index in _UNORDERED else "t.id"


def _column(filters: Filter, name: str) -> str:
    """A column to filter or sort by; if its index must not be used, as an expression."""
    index = filters.index
    is_hidden = index is not None and name not in COLUMNS_OF_INDEX.get(index, (index,))
    return f"coalesce(t.{name}, NULL)" if is_hidden else f"t.{name}"


def _equalities(filters: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name in ("customer_id", "assignee_id", "team_id", "external_id", "rating"):
        value = getattr(filters, name)
        if value is not None:
            params[name] = value
            conditions.append(f"{_column(filters, name)} = :{name}")
    if filters.number is not None:
        params["number"] = filters.number
        conditions.append("t.number = :number")
    if filters.is_unassigned:
        conditions.append("t.assignee_id IS NULL")
    if filters.index == UNASSIGNED:
        conditions.append(_OF_EVERY_STATUS)
    if filters.is_waiting is False:
        conditions.append("t.waiting_since IS NULL")
    if filters.sort_by in PARTIAL:
        conditions.append(f"t.{filters.sort_by} IS NOT NULL")
    conditions += snoozed_conditions(filters.is_snoozed)
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
        conditions.append(membership_condition(name, is_leading=filters.index == name))
    keys = bind("more_tags", [*filters.more_tags], params)
    conditions += [membership_condition("tag", key, is_leading=False) for key in keys]
    return conditions


def _is_merge(filters: Filter) -> bool:
    """Whether the ids of the page are merged from ranges of one index, which are in order."""
    if filters.sort_by != "created_at" or filters.is_snoozed or filters.number is not None:
        return False
    if filters.assignee_id is not None:
        return filters.index is None and len(filters.status) != 1
    has_many = len(filters.status) > 1 or len(filters.priority) > 1
    return (filters.tag is not None or has_many) and filters.is_served()


def _branches(filters: Filter, ranges: list[str], params: dict[str, object]) -> str:
    name = "status"
    values: list[object] = [*_statuses(filters)]
    if filters.assignee_id is None and filters.tag is not None:
        params["tag"] = filters.tag
        bounds = [text.replace("t.id", "t.ticket_id") for text in ranges]
        where = " AND ".join(["t.tenant_id = :tenant_id", "t.tag = :tag", *bounds])
        return f"SELECT t.ticket_id AS id FROM ticket_tags t WHERE {where}"
    if filters.assignee_id is None:
        ((name, values),) = multi_valued(filters)
    others = msgspec.structs.replace(filters, **{name: ()})
    conditions = [*_equalities(others, params), *_in_conditions(others, params), *ranges]
    return " UNION ALL ".join(
        "SELECT t.id FROM tickets t WHERE "
        + " AND ".join(["t.tenant_id = :tenant_id", f"t.{name} = :{key}", *conditions])
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
    if filters.updated_before is not None and redundant != ("updated_at", "before"):
        params["updated_before"] = filters.updated_before
        conditions.append(f"{_column(filters, 'updated_at')} < :updated_before")
    if filters.due_before is not None and redundant != ("due_at", "before"):
        params["due_before"] = filters.due_before
        conditions.append(f"{_column(filters, 'due_at')} < :due_before")
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
    parts = [_IS_URGENT] if filters.priority == URGENT else []
    if filters.sort_by == "due_at":
        parts.append("t.due_at > 0")
    parts += [
        *_equalities(chosen, params),
        *_in_conditions(chosen, params),
        *_ranges(chosen, None, params),
    ]
    return " AND ".join(parts) or "t.tenant_id = :tenant_id"
