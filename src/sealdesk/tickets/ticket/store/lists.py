"""The SQL of lists of tickets: one statement for each combination of filters and order."""

from collections.abc import Sequence
from itertools import chain

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import MAX_PAGE_BYTES, PageRequest, Position
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store.filters import (
    COLUMNS_OF_INDEX,
    MEMBERSHIPS,
    NUMBER,
    SNOOZED,
    STATUS_AND_ASSIGNEE,
    UNASSIGNED,
    UNFINISHED,
    Filter,
)
from sealdesk.tickets.ticket.store.selection import bind, conditions, multi_valued, statement
from sealdesk.tickets.ticket.types import STATUSES, Status

# On SQLite a LEFT JOIN keeps the order of the tickets; a plain join sorts them again, so that a
# page that ends early reads all documents. PostgreSQL may read all customers first for any join (4
# times the time). Each further column takes 0.1 µs a row, so only what a position needs is read.
_OUTPUT = {
    "sqlite": """SELECT t.document, c.reference, t.id AS id{columns} FROM tickets t
LEFT JOIN customers c ON c.tenant_id = :tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id""",
    "postgresql": """SELECT t.document, (SELECT c.reference FROM customers c
    WHERE c.tenant_id = :tenant_id AND c.id = t.customer_id) AS reference, t.id AS id{columns}
FROM tickets t WHERE t.tenant_id = :tenant_id""",
}
_SORT_COLUMN = {
    "created_at": "",
    "updated_at": ", t.updated_at AS updated_at",
    "priority": ", t.priority",
    "waiting_since": ", t.waiting_since",
    "due_at": ", t.due_at",
}
_CHANGED = """
SELECT t.id AS id, t.updated_at AS updated_at FROM tickets t WHERE t.tenant_id = :tenant_id"""
# What the inbox shows besides.
_OF_INBOX = ", t.snippet, t.last_message_at, t.waiting_since AS waiting_us"
_LARGE = ("document",)
_LARGE_AT_ONCE = 10  # of 0.4 MB each at most
_SELECTIVE_ROWS = 5_000  # rows that are read and sorted within 0.1 s
_ALL = Filter()
MAX_COUNT = 1000
# Tickets that are done are never snoozed.
_SNOOZED = {
    status: f"""(SELECT count(*) FROM tickets s WHERE s.tenant_id = :tenant_id
    AND coalesce(s.status, NULL) = '{status}' AND s.snoozed_until > '')"""
    for status in UNFINISHED
}
# Reads at most a thousand index entries of each status, and those of the snoozed ones.
_COUNT = "SELECT " + ", ".join(
    f"""(SELECT count(*) FROM (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id
    AND t.status = '{status}' LIMIT {MAX_COUNT + 1} + {_SNOOZED.get(status, 0)}) x)
    - {_SNOOZED.get(status, 0)} AS "{status}\""""
    for status in STATUSES
)


async def list_tickets(tx: Tx, tenant_id: str, filters: Filter, page: PageRequest) -> Sequence[Row]:
    """Rows for `to_json` and `position`; one more than the page when there are more."""
    return await _list(tx, tenant_id, filters, page, _SORT_COLUMN[filters.sort_by])


async def list_inbox(tx: Tx, tenant_id: str, filters: Filter, page: PageRequest) -> Sequence[Row]:
    """The same rows, with the last message of each ticket."""
    columns = f"{_SORT_COLUMN[filters.sort_by]}{_OF_INBOX}"
    return await _list(tx, tenant_id, filters, page, columns)


async def _list(
    tx: Tx, tenant_id: str, filters: Filter, page: PageRequest, columns: str
) -> Sequence[Row]:
    if filters.more_tags and filters.number is None:
        filters = await _with_rarest_tag(tx, tenant_id, filters)
    filters = await _with_index(tx, tenant_id, filters)
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": page.per_page + 1}
    output = _OUTPUT[tx.dialect].format(columns=columns)
    sql = statement(tx.dialect, output, filters, page.after, params)
    return await tx.fetch_page(sql, params, _LARGE, page.max_bytes)


async def list_changed(
    tx: Tx, tenant_id: str, filters: Filter, since: Position, limit: int
) -> list[str]:
    """The ids of the tickets that were opened, changed or answered after a position.

    since: [updated_at, id]. Oldest change first.
    """
    by_change = msgspec.structs.replace(
        filters, sort_by="updated_at", newest_first=False, index=None
    )
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": limit}
    rows = await tx.fetch_all(statement(tx.dialect, _CHANGED, by_change, since, params), params)
    return [row["id"] for row in rows]


def size(row: Row) -> int:
    """The size of a row of `list_tickets`, for `take_page`."""
    return len(row[0])


async def _with_index(tx: Tx, tenant_id: str, filters: Filter) -> Filter:
    """The same filters, with the index of the most selective one, if one is selective.

    No index serves several filters at once, and SQLite keeps no statistics: by itself it may scan
    all tickets in their order until enough of the few that match have been found.
    """
    if filters.number is not None:
        return msgspec.structs.replace(filters, index=NUMBER)
    if filters.is_snoozed:
        return msgspec.structs.replace(filters, index=SNOOZED)
    if filters.is_served() or filters.index is not None:
        return filters
    params: dict[str, object] = {"tenant_id": tenant_id, "max_count": _SELECTIVE_ROWS}
    counts = {
        name: "(SELECT count(*) FROM (SELECT 1 FROM"
        f" {MEMBERSHIPS.get(name, ('tickets',))[0]} t WHERE t.tenant_id = :tenant_id"
        f" AND {condition} LIMIT :max_count) x) AS {name}"
        for name, condition in _index_conditions(filters, params).items()
    }
    if not counts:
        return filters
    row = await tx.fetch_one(f"SELECT {', '.join(counts.values())}", params)
    count, name = min((row[name] if row else _SELECTIVE_ROWS, name) for name in counts)
    index = name if count < _SELECTIVE_ROWS else _unselective_index(filters, list(counts))
    return msgspec.structs.replace(filters, index=index)


async def _with_rarest_tag(tx: Tx, tenant_id: str, filters: Filter) -> Filter:
    """The same filters; the tag that the fewest tickets carry may lead."""
    tags = [tag for tag in (filters.tag, *filters.more_tags) if tag is not None]
    params: dict[str, object] = {"tenant_id": tenant_id, "max_count": _SELECTIVE_ROWS}
    counts = [
        "(SELECT count(*) FROM (SELECT 1 FROM ticket_tags t WHERE t.tenant_id = :tenant_id"
        f" AND t.tag = :{key} LIMIT :max_count) x)"
        for key in bind("tag", [*tags], params)
    ]
    row = await tx.fetch_one(f"SELECT {', '.join(counts)}", params)
    if row is None:
        return filters
    rarest = min(range(len(tags)), key=lambda place: row[place])
    more = tuple(tag for place, tag in enumerate(tags) if place != rarest)
    return msgspec.structs.replace(filters, tag=tags[rarest], more_tags=more)


def _unselective_index(filters: Filter, names: Sequence[str]) -> str | None:
    """The index when every filter matches many tickets: None lets the planner choose.

    Most tickets of a desk are done. An assignee may have none that are not, and the index of the
    assignee or of the order would be read to its end to find that out.
    """
    if STATUS_AND_ASSIGNEE in names:
        return None if filters.sort_by == "updated_at" else STATUS_AND_ASSIGNEE
    is_unfinished = bool(filters.status) and {*filters.status} <= {*UNFINISHED}
    return "status" if is_unfinished and len(names) > 1 else None


def _index_conditions(filters: Filter, params: dict[str, object]) -> dict[str, str]:
    """The condition of each filter that has an index, or of two that share one."""
    conditions = {}
    for name, values in multi_valued(filters):
        keys = ", ".join(f":{key}" for key in bind(name, values, params))
        conditions[name] = f"t.{name} IN ({keys})"
    for name in ("customer_id", "assignee_id", "team_id", "external_id", "rating", *MEMBERSHIPS):
        value = getattr(filters, name)
        if value is not None:
            params[name] = value
            column = MEMBERSHIPS[name][1] if name in MEMBERSHIPS else name
            conditions[name] = f"t.{column} = :{name}"
    if filters.is_unassigned:
        conditions[UNASSIGNED] = "t.assignee_id IS NULL"
    if filters.is_waiting:
        conditions["waiting_since"] = "t.waiting_since > 0"
    if filters.due_before is not None:
        params["due_before"] = filters.due_before
        conditions["due_at"] = "t.due_at < :due_before"
    if "status" in conditions and "assignee_id" in conditions:
        conditions[STATUS_AND_ASSIGNEE] = " AND ".join(
            conditions.pop(name) for name in COLUMNS_OF_INDEX[STATUS_AND_ASSIGNEE]
        )
    return conditions


async def list_by_ids(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], filters: Filter = _ALL
) -> Sequence[Row]:
    """Rows of `list_inbox` by ids, newest first; without those that do not match the filters."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    keys = ", ".join(f":{key}" for key in bind("id", [*ticket_ids], params))
    output = _OUTPUT[tx.dialect].format(columns=_OF_INBOX)
    matching = conditions(filters, params)
    sql = f"{output} AND t.id IN ({keys}) AND {matching} ORDER BY t.id DESC LIMIT :limit"
    return await tx.fetch_page(sql, params, _LARGE, MAX_PAGE_BYTES) if ticket_ids else []


async def list_in_order(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], max_bytes: int
) -> list[Row]:
    """Rows of `list_tickets` in the order of the ids, up to the first that exceeds max_bytes."""
    sql = f"{_OUTPUT[tx.dialect].format(columns='')} AND t.id = :id LIMIT :limit"
    rows: list[Row] = []
    for first in range(0, len(ticket_ids), _LARGE_AT_ONCE):
        some = ticket_ids[first : first + _LARGE_AT_ONCE]
        params = [{"tenant_id": tenant_id, "id": each, "limit": 1} for each in some]
        rows += chain.from_iterable(await tx.fetch_for_each(sql, params))
        if sum(map(size, rows)) > max_bytes:
            break
    return rows


async def count_tickets(tx: Tx, tenant_id: str, filters: Filter, most: int) -> int:
    """How many tickets match the filters, up to `most`."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": most}
    matching = conditions(filters, params)
    row = await tx.fetch_one(
        "SELECT count(*) AS number FROM (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id"
        f" AND {matching} LIMIT :limit) x",
        params,
    )
    return row["number"] if row else 0


async def has_tickets(tx: Tx, tenant_id: str) -> bool:
    """Whether the tenant has any ticket."""
    return await count_tickets(tx, tenant_id, _ALL, 1) > 0


async def count_statuses(tx: Tx, tenant_id: str) -> dict[Status, int]:
    """How many tickets are in each status and awake; MAX_COUNT + 1 stands for more."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id})
    return {status: row[status] if row else 0 for status in STATUSES}


def to_json(row: Row) -> bytes:
    """TicketResponse as JSON."""
    return documents.with_customer(row[0], row[1])  # by position: faster than by name


def position(filters: Filter, row: Row) -> Position:
    """The position of a row in the order."""
    if filters.sort_by == "created_at":
        return [row["id"]]
    return [row[filters.sort_by], row["id"]]
