"""The SQL of lists of tickets: which index serves which, and one statement for each.

The default order is the primary key read backwards. One filter of one value has an index that
ends in the id, so it is in that order too; one filter of several values merges those indexes.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Row, Tx
from sealdesk.paging import PageRequest, Position
from sealdesk.tickets import rules
from sealdesk.tickets.types import STATUSES, Priority, Status

SortBy = Literal["created_at", "updated_at", "priority"]

# The page is cut before the customers are joined, or PostgreSQL may read all of them first (4 times
# the time); CROSS JOIN keeps SQLite to this order of tables.
_PAGE = """SELECT t.tenant_id, t.id, t.updated_at, t.priority, t.document, t.customer_id
FROM tickets t"""
_SHOWN = "SELECT p.id, p.updated_at, p.priority, p.document, c.reference"
_OF_CUSTOMER = "c.tenant_id = p.tenant_id AND c.id = p.customer_id"
_FEW = 5_000  # rows that are read and sorted within 0.1 s
# Who asks for what is open and their own finds it in an index of both.
_SOMEBODYS = "somebodys"
_LED_BY = {_SOMEBODYS: ("status", "assignee_id")}
_DONE: tuple[Status, ...] = ("resolved", "closed")
COUNTED = 1000
# Up to a thousand index entries of each status, however many there are.
_COUNT = "SELECT " + ", ".join(
    f"""(SELECT count(*) FROM (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id
    AND t.status = '{status}' LIMIT {COUNTED + 1}) x) AS "{status}\""""
    for status in STATUSES
)


class Filter(msgspec.Struct, frozen=True):
    """Which tickets a list is of, and in which order. Times are microseconds.

    lead: which of its filters' indexes has to lead, None for whichever the planner takes.
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
    lead: str | None = None

    def is_served(self) -> bool:
        """Whether an index leads straight to the page."""
        if self.is_unassigned:
            return False
        equalities = sum(
            bool(value)
            for value in (
                self.status,
                self.priority,
                self.customer_id,
                self.assignee_id,
                self.tag,
                self.external_id,
            )
        )
        is_somebodys = self.assignee_id is not None and len(self.status) == 1
        if self.sort_by == "created_at":
            return equalities <= (2 if is_somebodys else 1) and self.updated_after is None
        is_created_bound = self.created_after is not None or self.created_before is not None
        is_updated_bound = self.updated_after is not None and self.sort_by != "updated_at"
        return equalities == 0 and not is_created_bound and not is_updated_bound


async def list_tickets(tx: Tx, tenant_id: str, wanted: Filter, page: PageRequest) -> Sequence[Row]:
    """Rows for `show` and `position`; one more than the page when there are more."""
    wanted = await _led(tx, tenant_id, wanted)
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": page.per_page + 1}
    return await tx.fetch_all(_statement(wanted, page.after, params), params)


async def _led(tx: Tx, tenant_id: str, wanted: Filter) -> Filter:
    """The same filter, led by the rarest of what it asks for, where that is rare.

    No index serves several filters at once, and SQLite keeps no statistics: left to itself it may
    read all tickets in their order until enough of somebody's few have come by.
    """
    if wanted.is_served() or wanted.lead is not None:
        return wanted
    params: dict[str, object] = {"tenant_id": tenant_id, "few": _FEW}
    counted = {
        name: "(SELECT count(*) FROM (SELECT 1 FROM"
        f" {'ticket_tags' if name == 'tag' else 'tickets'} t WHERE t.tenant_id = :tenant_id"
        f" AND {condition} LIMIT :few) x) AS {name}"
        for name, condition in _leads(wanted, params).items()
    }
    if not counted:
        return wanted
    row = await tx.fetch_one(f"SELECT {', '.join(counted.values())}", params)
    count, name = min((row[name] if row else _FEW, name) for name in counted)
    lead = name if count < _FEW else _lead_of_many(wanted, list(counted))
    return msgspec.structs.replace(wanted, lead=lead)


def _lead_of_many(wanted: Filter, names: Sequence[str]) -> str | None:
    """Where each filter has many tickets: somebody's, or work that is not done, or the planner.

    Most tickets of a desk are done. What is not done and somebody's may be nothing at all, and an
    index of the person or the order would be read to its end before that is known.
    """
    if _SOMEBODYS in names:
        return _SOMEBODYS
    is_of_work = bool(wanted.status) and not {*wanted.status} & {*_DONE}
    return "status" if is_of_work and len(names) > 1 else None


def _leads(wanted: Filter, params: dict[str, object]) -> dict[str, str]:
    """The condition of each filter that has an index, or of two that share one."""
    leads = {}
    for name, values in _choices(wanted):
        keys = ", ".join(f":{key}" for key in _bound(name, values, params))
        leads[name] = f"t.{name} IN ({keys})"
    for name in ("customer_id", "assignee_id", "external_id", "tag"):
        value = getattr(wanted, name)
        if value is not None:
            params[name] = value
            leads[name] = f"t.{name} = :{name}"
    if "status" in leads and "assignee_id" in leads:
        leads[_SOMEBODYS] = " AND ".join(leads.pop(name) for name in _LED_BY[_SOMEBODYS])
    return leads


async def list_chosen(tx: Tx, tenant_id: str, chosen: Sequence[str]) -> Sequence[Row]:
    """Rows for `show` of these tickets, newest first; what is not there is left out."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": len(chosen)}
    keys = ", ".join(f":{key}" for key in _bound("id", [*chosen], params))
    cut = (
        f"{_PAGE} WHERE t.tenant_id = :tenant_id AND t.id IN ({keys})"
        " ORDER BY t.id DESC LIMIT :limit"
    )
    sql = f"{_SHOWN} FROM ({cut}) p CROSS JOIN customers c WHERE {_OF_CUSTOMER} ORDER BY p.id DESC"
    return await tx.fetch_all(sql, params) if chosen else []


async def count_statuses(tx: Tx, tenant_id: str) -> dict[Status, int]:
    """How many tickets are in each status; COUNTED + 1 stands for more."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id})
    return {status: row[status] if row else 0 for status in STATUSES}


def show(row: Row) -> bytes:
    """The ticket of a row, as JSON."""
    return rules.with_customer(row[3], row[4])  # by place: faster than by name, 25 times a page


def position(wanted: Filter, row: Row) -> Position:
    """Where a row stands in the order."""
    if wanted.sort_by == "created_at":
        return [row["id"]]
    return [row[wanted.sort_by], row["id"]]


def _statement(wanted: Filter, after: Position | None, params: dict[str, object]) -> str:
    """The SQL text, made of constants only; values go into `params`."""
    direction = "DESC" if wanted.newest_first else "ASC"
    ranges = _ranges(wanted, after, params)
    conditions = ["t.tenant_id = :tenant_id", *_equalities(wanted, params)]
    if _is_merge(wanted):
        branches = _branches(wanted, ranges, params)
        conditions.append(f"t.id IN ({branches} ORDER BY id {direction} LIMIT :limit)")
    else:
        conditions += _any_of(wanted, params) + ranges
    cut = f"{_PAGE} WHERE {' AND '.join(conditions)} ORDER BY {_order(wanted, 't')} LIMIT :limit"
    return (
        f"{_SHOWN} FROM ({cut}) p CROSS JOIN customers c"
        f" WHERE {_OF_CUSTOMER} ORDER BY {_order(wanted, 'p')}"
    )


def _order(wanted: Filter, table: str) -> str:
    direction = "DESC" if wanted.newest_first else "ASC"
    by_id = f"{table}.id {direction}"
    if wanted.sort_by == "created_at":
        return by_id
    return f"{_column(wanted, table, wanted.sort_by)} {direction}, {by_id}"


def _column(wanted: Filter, table: str, name: str) -> str:
    """A column that is filtered or sorted by; what is not to lead is hidden from the planner."""
    lead = wanted.lead
    is_hidden = lead is not None and name not in _LED_BY.get(lead, (lead,))
    return f"coalesce({table}.{name}, NULL)" if is_hidden else f"{table}.{name}"


def _equalities(wanted: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name in ("customer_id", "assignee_id", "external_id"):
        value = getattr(wanted, name)
        if value is not None:
            params[name] = value
            conditions.append(f"{_column(wanted, 't', name)} = :{name}")
    if wanted.is_unassigned:
        conditions.append("t.assignee_id IS NULL")
    return conditions


def _any_of(wanted: Filter, params: dict[str, object]) -> list[str]:
    conditions = []
    for name, values in _choices(wanted):
        keys = _bound(name, values, params)
        column = _column(wanted, "t", name)
        conditions.append(f"{column} IN ({', '.join(f':{key}' for key in keys)})")
    if wanted.tag is not None:
        params["tag"] = wanted.tag
        conditions.append(
            "t.id IN (SELECT g.ticket_id FROM ticket_tags g WHERE g.tenant_id = :tenant_id"
            " AND g.tag = :tag)"
            if wanted.lead == "tag"
            else "EXISTS (SELECT 1 FROM ticket_tags g WHERE g.tenant_id = t.tenant_id"
            " AND g.tag = :tag AND g.ticket_id = t.id)"
        )
    return conditions


def _is_merge(wanted: Filter) -> bool:
    """Whether the page's ids come from merging parts of one index, already in order."""
    if wanted.sort_by != "created_at" or not wanted.is_served():
        return False
    return wanted.tag is not None or len(wanted.status) > 1 or len(wanted.priority) > 1


def _branches(wanted: Filter, ranges: list[str], params: dict[str, object]) -> str:
    if wanted.tag is not None:
        params["tag"] = wanted.tag
        bounds = [text.replace("t.id", "t.ticket_id") for text in ranges]
        where = " AND ".join(["t.tenant_id = :tenant_id", "t.tag = :tag", *bounds])
        return f"SELECT t.ticket_id AS id FROM ticket_tags t WHERE {where}"
    ((name, values),) = _choices(wanted)
    return " UNION ALL ".join(
        "SELECT t.id FROM tickets t WHERE "
        + " AND ".join(["t.tenant_id = :tenant_id", f"t.{name} = :{key}", *ranges])
        for key in _bound(name, values, params)
    )


def _choices(wanted: Filter) -> list[tuple[str, list[object]]]:
    """(column, stored values) of the filters that take several values."""
    choices: list[tuple[str, list[object]]] = [
        ("status", [*wanted.status]),
        ("priority", [rules.rank_of(priority) for priority in wanted.priority]),
    ]
    return [(name, values) for name, values in choices if values]


def _bound(name: str, values: list[object], params: dict[str, object]) -> list[str]:
    keys = [f"{name}_{place}" for place in range(len(values))]
    params.update(zip(keys, values, strict=True))
    return keys


def _ranges(wanted: Filter, after: Position | None, params: dict[str, object]) -> list[str]:
    """Bounds on the times, and on where the previous page ended; ids carry the time of creation.

    A bound that lies behind the position is left out: of two on one side SQLite may heed the
    looser one, or prefer another index, and read everything in between again for each page.
    """
    side = None if after is None else "before" if wanted.newest_first else "after"
    passed = (wanted.sort_by, side)
    conditions = []
    if wanted.created_after is not None and passed != ("created_at", "after"):
        params["created_after"] = ids.lowest(wanted.created_after)
        conditions.append("t.id >= :created_after")
    if wanted.created_before is not None and passed != ("created_at", "before"):
        params["created_before"] = ids.lowest(wanted.created_before)
        conditions.append("t.id < :created_before")
    if wanted.updated_after is not None and passed != ("updated_at", "after"):
        params["updated_after"] = wanted.updated_after
        conditions.append(f"{_column(wanted, 't', 'updated_at')} >= :updated_after")
    if after is not None:
        conditions.append(_behind(wanted, after, params))
    return conditions


def _behind(wanted: Filter, after: Position, params: dict[str, object]) -> str:
    sign = "<" if wanted.newest_first else ">"
    params["after_id"] = after[-1]
    if wanted.sort_by == "created_at":
        return f"t.id {sign} :after_id"
    params["after_value"] = after[0]
    column = _column(wanted, "t", wanted.sort_by)
    return f"({column}, t.id) {sign} (:after_value, :after_id)"
