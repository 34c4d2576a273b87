"""The SQL of lists of tickets: one statement for each combination of filters and order.

The default order is the primary key read backwards. A filter of one value has an index that ends
in the id, so its entries are in that order too; a filter of several values merges those indexes.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Row, Tx
from sealdesk.paging import MAX_PAGE_BYTES, PageRequest, Position
from sealdesk.tickets import rules
from sealdesk.tickets.types import STATUSES, Priority, Status

SortBy = Literal["created_at", "updated_at", "priority"]

# Not a join: PostgreSQL may read all customers first (4 times the time), and SQLite sorts its rows
# again, so that it reads all documents of a page that ends early.
_OUTPUT = """SELECT t.id, t.updated_at, t.priority, t.document, (SELECT c.reference
    FROM customers c WHERE c.tenant_id = t.tenant_id AND c.id = t.customer_id) AS reference
FROM tickets t"""
_LARGE = ("document",)
_SELECTIVE_ROWS = 5_000  # rows that are read and sorted within 0.1 s
# One index serves the tickets of an assignee in one status.
_STATUS_AND_ASSIGNEE = "status_and_assignee"
_COLUMNS_OF_INDEX = {_STATUS_AND_ASSIGNEE: ("status", "assignee_id")}
_DONE: tuple[Status, ...] = ("resolved", "closed")
MAX_COUNT = 1000
# Reads at most a thousand index entries of each status.
_COUNT = "SELECT " + ", ".join(
    f"""(SELECT count(*) FROM (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id
    AND t.status = '{status}' LIMIT {MAX_COUNT + 1}) x) AS "{status}\""""
    for status in STATUSES
)


class Filter(msgspec.Struct, frozen=True):
    """Which tickets a list contains, and in which order. Times are microseconds.

    index: the filter whose index must be used, None to let the planner choose.
    """

    status: tuple[Status, ...] = ()
    priority: tuple[Priority, ...] = ()
    customer_id: str | None = None
    assignee_id: str | None = None
    is_unassigned: bool = False
    tag: str | None = None
    external_id: str | None = None
    created_after: int | None = None
    created_before: int | None = None
    updated_after: int | None = None
    sort_by: SortBy = "created_at"
    newest_first: bool = True
    index: str | None = None

    def is_served(self) -> bool:
        """Whether one index serves the whole query."""
        if self.is_unassigned:
            return False
        one_value = (self.customer_id, self.assignee_id, self.tag, self.external_id)
        equalities = sum(map(bool, (self.status, self.priority, *one_value)))
        shares_index = self.assignee_id is not None and len(self.status) == 1
        if self.sort_by == "created_at":
            return equalities <= (2 if shares_index else 1) and self.updated_after is None
        has_created_bound = self.created_after is not None or self.created_before is not None
        has_updated_bound = self.updated_after is not None and self.sort_by != "updated_at"
        return equalities == 0 and not has_created_bound and not has_updated_bound


async def list_tickets(tx: Tx, tenant_id: str, filters: Filter, page: PageRequest) -> Sequence[Row]:
    """Rows for `to_json` and `position`; one more than the page when there are more."""
    filters = await _with_index(tx, tenant_id, filters)
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": page.per_page + 1}
    sql = f"{_OUTPUT} WHERE t.tenant_id = :tenant_id {_selection(filters, page.after, params)}"
    return await tx.fetch_page(sql, params, _LARGE, page.max_bytes)


async def count_tickets(tx: Tx, tenant_id: str, filters: Filter, page: PageRequest) -> int:
    """How many tickets are on a page; one more than the page when there are more."""
    filters = await _with_index(tx, tenant_id, filters)
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": page.per_page + 1}
    sql = "SELECT t.id FROM tickets t WHERE t.tenant_id = :tenant_id"
    return len(await tx.fetch_all(f"{sql} {_selection(filters, page.after, params)}", params))


def size(row: Row) -> int:
    """The size of a row of `list_tickets`, for `take_page`."""
    return len(row[3])


async def _with_index(tx: Tx, tenant_id: str, filters: Filter) -> Filter:
    """The same filters, with the index of the most selective one, if one is selective.

    No index serves several filters at once, and SQLite keeps no statistics: by itself it may scan
    all tickets in their order until enough of the few that match have been found.
    """
    if filters.is_served() or filters.index is not None:
        return filters
    params: dict[str, object] = {"tenant_id": tenant_id, "max_count": _SELECTIVE_ROWS}
    counts = {
        name: "(SELECT count(*) FROM (SELECT 1 FROM"
        f" {'ticket_tags' if name == 'tag' else 'tickets'} t WHERE t.tenant_id = :tenant_id"
        f" AND {condition} LIMIT :max_count) x) AS {name}"
        for name, condition in _index_conditions(filters, params).items()
    }
    if not counts:
        return filters
    row = await tx.fetch_one(f"SELECT {', '.join(counts.values())}", params)
    count, name = min((row[name] if row else _SELECTIVE_ROWS, name) for name in counts)
    index = name if count < _SELECTIVE_ROWS else _unselective_index(filters, list(counts))
    return msgspec.structs.replace(filters, index=index)


def _unselective_index(filters: Filter, names: Sequence[str]) -> str | None:
    """The index when every filter matches many tickets: None lets the planner choose.

    Most tickets of a desk are done. An assignee may have none that are not, and the index of the
    assignee or of the order would be read to its end to find that out.
    """
    if _STATUS_AND_ASSIGNEE in names:
        return _STATUS_AND_ASSIGNEE
    is_unfinished = bool(filters.status) and not {*filters.status} & {*_DONE}
    return "status" if is_unfinished and len(names) > 1 else None


def _index_conditions(filters: Filter, params: dict[str, object]) -> dict[str, str]:
    """The condition of each filter that has an index, or of two that share one."""
    conditions = {}
    for name, values in _multi_valued(filters):
        keys = ", ".join(f":{key}" for key in _bind(name, values, params))
        conditions[name] = f"t.{name} IN ({keys})"
    for name in ("customer_id", "assignee_id", "external_id", "tag"):
        value = getattr(filters, name)
        if value is not None:
            params[name] = value
            conditions[name] = f"t.{name} = :{name}"
    if "status" in conditions and "assignee_id" in conditions:
        conditions[_STATUS_AND_ASSIGNEE] = " AND ".join(
            conditions.pop(name) for name in _COLUMNS_OF_INDEX[_STATUS_AND_ASSIGNEE]
        )
    return conditions


async def list_by_ids(tx: Tx, tenant_id: str, ticket_ids: Sequence[str]) -> Sequence[Row]:
    """Rows for `to_json` by ids, newest first; unknown ids are left out."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    keys = ", ".join(f":{key}" for key in _bind("id", [*ticket_ids], params))
    sql = (
        f"{_OUTPUT} WHERE t.tenant_id = :tenant_id AND t.id IN ({keys})"
        " ORDER BY t.id DESC LIMIT :limit"
    )
    return await tx.fetch_page(sql, params, _LARGE, MAX_PAGE_BYTES) if ticket_ids else []


async def count_statuses(tx: Tx, tenant_id: str) -> dict[Status, int]:
    """How many tickets are in each status; MAX_COUNT + 1 stands for more."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id})
    return {status: row[status] if row else 0 for status in STATUSES}


def to_json(row: Row) -> bytes:
    """TicketResponse as JSON."""
    return rules.with_customer(row[3], row[4])  # by position: faster than by name, 25 times a page


def position(filters: Filter, row: Row) -> Position:
    """The position of a row in the order."""
    if filters.sort_by == "created_at":
        return [row["id"]]
    return [row[filters.sort_by], row["id"]]


def _selection(filters: Filter, after: Position | None, params: dict[str, object]) -> str:
    """The SQL behind the tenant, made of constants; the values are added to `params`."""
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
        return f"t.id {direction}"
    return f"{_column(filters, filters.sort_by)} {direction}, t.id {direction}"


def _column(filters: Filter, name: str) -> str:
    """A column to filter or sort by; if its index must not be used, as an expression."""
    index = filters.index
    is_hidden = index is not None and name not in _COLUMNS_OF_INDEX.get(index, (index,))
    return f"coalesce(t.{name}, NULL)" if is_hidden else f"t.{name}"


def _equalities(filters: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name in ("customer_id", "assignee_id", "external_id"):
        value = getattr(filters, name)
        if value is not None:
            params[name] = value
            conditions.append(f"{_column(filters, name)} = :{name}")
    if filters.is_unassigned:
        conditions.append("t.assignee_id IS NULL")
    return conditions


def _in_conditions(filters: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name, values in _multi_valued(filters):
        keys = _bind(name, values, params)
        column = _column(filters, name)
        conditions.append(f"{column} IN ({', '.join(f':{key}' for key in keys)})")
    if filters.tag is not None:
        params["tag"] = filters.tag
        conditions.append(
            "t.id IN (SELECT g.ticket_id FROM ticket_tags g WHERE g.tenant_id = :tenant_id"
            " AND g.tag = :tag)"
            if filters.index == "tag"
            else "EXISTS (SELECT 1 FROM ticket_tags g WHERE g.tenant_id = t.tenant_id"
            " AND g.tag = :tag AND g.ticket_id = t.id)"
        )
    return conditions


def _is_merge(filters: Filter) -> bool:
    """Whether the ids of the page are merged from ranges of one index, which are in order."""
    has_ranges = filters.tag is not None or len(filters.status) > 1 or len(filters.priority) > 1
    return has_ranges and filters.sort_by == "created_at" and filters.is_served()


def _branches(filters: Filter, ranges: list[str], params: dict[str, object]) -> str:
    if filters.tag is not None:
        params["tag"] = filters.tag
        bounds = [text.replace("t.id", "t.ticket_id") for text in ranges]
        where = " AND ".join(["t.tenant_id = :tenant_id", "t.tag = :tag", *bounds])
        return f"SELECT t.ticket_id AS id FROM ticket_tags t WHERE {where}"
    ((name, values),) = _multi_valued(filters)
    return " UNION ALL ".join(
        "SELECT t.id FROM tickets t WHERE "
        + " AND ".join(["t.tenant_id = :tenant_id", f"t.{name} = :{key}", *ranges])
        for key in _bind(name, values, params)
    )


def _multi_valued(filters: Filter) -> list[tuple[str, list[object]]]:
    """(column, stored values) of the filters that can have several values."""
    columns: list[tuple[str, list[object]]] = [
        ("status", [*filters.status]),
        ("priority", [rules.rank_of(priority) for priority in filters.priority]),
    ]
    return [(name, values) for name, values in columns if values]


def _bind(name: str, values: list[object], params: dict[str, object]) -> list[str]:
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
        conditions.append("t.id >= :created_after")
    if filters.created_before is not None and redundant != ("created_at", "before"):
        params["created_before"] = ids.lowest(filters.created_before)
        conditions.append("t.id < :created_before")
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
        return f"t.id {sign} :after_id"
    params["after_value"] = after[0]
    column = _column(filters, filters.sort_by)
    return f"({column}, t.id) {sign} (:after_value, :after_id)"
