"""The SQL of reports."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.reports.types import (
    FIELD,
    Dimension,
    Facts,
    Happening,
    Range,
    RatedTicket,
    Selection,
)
from sealdesk.resources.paging import Position
from sealdesk.tickets.ticket.store.filters import UNFINISHED
from sealdesk.tickets.ticket.store.tickets import decode_satisfaction

MAX_VALUES = 50
MAX_TICKETS = 200
MAX_UNFINISHED = 100_000
MAX_RATINGS = 10_000
_MAX_REOPENED = 2_000
# More than a year of 1,000 tags has.
_MAX_ROWS = 50_000

_ROWS = """
SELECT sums FROM report_sums
WHERE tenant_id = :tenant_id AND dimension = :dimension AND length = :length
    AND start >= :first AND start < :end AND value = :value
ORDER BY start LIMIT :limit
"""
_ROWS_OF_VALUES = """
SELECT value, sums FROM report_sums
WHERE tenant_id = :tenant_id AND dimension = :dimension AND length = :length
    AND start >= :first AND start < :end
ORDER BY start, value LIMIT :limit
"""
_REBUILDING = "SELECT tenant_id FROM report_rebuilds WHERE tenant_id = :tenant_id LIMIT :limit"
# key_id and the chosen values of fields have no index: such lists end after 2 s.
_OF: dict[Dimension, str] = {
    "desk": "",
    "team": "AND coalesce(t.team_id, '') = :value",
    "assignee": "AND coalesce(t.assignee_id, '') = :value",
    "source": "AND t.source = :value",
    "tag": """AND EXISTS (SELECT 1 FROM ticket_tags g WHERE g.tenant_id = :tenant_id
        AND g.tag = :value AND g.ticket_id = t.id)""",
    "key": "AND coalesce(t.key_id, '') = :value",
    FIELD: """AND EXISTS (SELECT 1 FROM ticket_measures f WHERE f.tenant_id = :tenant_id
        AND f.ticket_id = t.id AND f.counted LIKE :pattern ESCAPE '!')""",
}
_KEYS = "SELECT id, name FROM api_keys WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT :limit"
_MAX_KEYS = 1_000
_UNFINISHED = ", ".join(f"'{status}'" for status in UNFINISHED)
_WHEN: dict[Happening, str] = {
    "created": "m.created_at",
    "answered": "m.answered_at",
    "resolved": "m.resolved_at",
    "reopened": "m.reopened_at",
    "kept": "m.created_at",
    "missed": "m.created_at",
    "rated": "m.rated_at",
    "unfinished": "m.created_at",
}
_HAS_PROMISE = {
    happening: " OR ".join(
        f"(m.{kind}_at >= :first AND m.{kind}_at < :end"
        f""" AND m.counted LIKE '%"{kind}_in_time":{is_kept}%')"""
        for kind in ("answered", "resolved")
    )
    for happening, is_kept in (("kept", "true"), ("missed", "false"))
}
_decode = msgspec.json.Decoder(Facts).decode


async def list_rows(
    tx: Tx, tenant_id: str, dimension: Dimension, value: str, ranges: Sequence[Range]
) -> list[list[str]]:
    """The sums in each range, as JSON."""
    params = {"tenant_id": tenant_id, "dimension": dimension, "value": value, "limit": _MAX_ROWS}
    found = await tx.fetch_for_each(_ROWS, [{**params, **each._asdict()} for each in ranges])
    return [[row["sums"] for row in rows] for rows in found]


async def list_rows_by_value(
    tx: Tx, tenant_id: str, dimension: Dimension, ranges: Sequence[Range]
) -> dict[str, list[str]]:
    """The sums of each value, as JSON."""
    params = {"tenant_id": tenant_id, "dimension": dimension, "limit": _MAX_ROWS}
    found = await tx.fetch_for_each(
        _ROWS_OF_VALUES, [{**params, **each._asdict()} for each in ranges]
    )
    by_value: dict[str, list[str]] = defaultdict(list)
    for row in chain.from_iterable(found):
        by_value[row["value"]].append(row["sums"])
    return by_value


async def list_counted(
    tx: Tx, tenant_id: str, selection: Selection, after: Position | None, limit: int
) -> list[Position]:
    """The time and id of each ticket behind a number, the latest first, after such a position."""
    happening, first, end, dimension, value = selection
    at = _WHEN[happening]
    further = f"AND ({at}, m.ticket_id) < (:after_at, :after_id)" if after else ""
    sql = f"""
SELECT {at} AS happened_at, m.ticket_id, m.counted FROM ticket_measures m
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND {_condition(happening)} {_of(dimension)} {further}
ORDER BY {at} DESC, m.ticket_id DESC LIMIT :limit
"""
    most = _MAX_REOPENED if happening == "reopened" else limit
    params = {"tenant_id": tenant_id, "first": first, "end": end, "limit": most}
    if after:
        params |= {"after_at": after[0], "after_id": after[1]}
    rows = await tx.fetch_all(sql, params | _values(dimension, value))
    found: list[Position] = [
        [row["happened_at"], row["ticket_id"]]
        for row in rows
        if happening != "reopened" or _is_reopened(row["counted"], first, end)
    ]
    if len(found) >= limit or len(rows) < most:
        return found[:limit]
    last: Position = [rows[-1]["happened_at"], rows[-1]["ticket_id"]]
    return found + await list_counted(tx, tenant_id, selection, last, limit - len(found))


async def list_ratings(tx: Tx, tenant_id: str, selection: Selection) -> list[RatedTicket]:
    """The latest 10,000 ratings of a time, with their tickets; the latest first."""
    sql = f"""
SELECT t.id, t.number, t.subject, t.team_id, t.assignee_id, t.satisfaction
FROM ticket_measures m JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND {_condition("rated")} {_of(selection.dimension)}
ORDER BY m.rated_at DESC, m.ticket_id DESC LIMIT :limit
"""
    params = {"tenant_id": tenant_id, "first": selection.first, "end": selection.end}
    values = _values(selection.dimension, selection.value)
    rows = await tx.fetch_all(sql, {**params, **values, "limit": MAX_RATINGS})
    return [
        RatedTicket(
            row["id"], row["number"], row["subject"], row["team_id"], row["assignee_id"], given
        )
        for row in rows
        if (given := decode_satisfaction(row["satisfaction"])) is not None
    ]


async def count_unfinished(
    tx: Tx, tenant_id: str, created_us: Sequence[int], dimension: Dimension, value: str
) -> list[int]:
    """How many of the first 100,000 unfinished tickets were created since each of these times and
    not since the one before it. created_us: falling; the last one is 0.

    By their ids, which an index of statuses has: of 100,000 tickets in 23 ms instead of 170 on
    SQLite (2026-11-30).
    """
    cases = " ".join(f"WHEN t.id >= :since_{age} THEN {age}" for age in range(len(created_us)))
    sql = f"""
SELECT x.age, count(*) AS tickets FROM (SELECT CASE {cases} END AS age FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.status IN ({_UNFINISHED}) {_of(dimension)}
    LIMIT :limit) x
GROUP BY x.age ORDER BY x.age
"""
    params: dict[str, object] = {
        f"since_{age}": ids.lowest(at) for age, at in enumerate(created_us)
    }
    params |= {"tenant_id": tenant_id, "limit": MAX_UNFINISHED} | _values(dimension, value)
    found = {row["age"]: row["tickets"] for row in await tx.fetch_all(sql, params)}
    return [found.get(age, 0) for age in range(len(created_us))]


async def is_rebuilding(tx: Tx, tenant_id: str) -> bool:
    """Whether the reports are incomplete until all tickets are counted."""
    row = await tx.fetch_one(_REBUILDING, {"tenant_id": tenant_id, "limit": 1})
    return row is not None


async def list_key_names(tx: Tx, tenant_id: str) -> dict[str, str]:
    """The names of the newest API keys, by their ids."""
    rows = await tx.fetch_all(_KEYS, {"tenant_id": tenant_id, "limit": _MAX_KEYS})
    return {row["id"]: row["name"] for row in rows}


def _of(dimension: Dimension) -> str:
    return _OF[FIELD if dimension.startswith(FIELD) else dimension]


def _values(dimension: Dimension, value: str) -> dict[str, object]:
    """The parameters of `_of`."""
    if not dimension.startswith(FIELD):
        return {"value": value}
    text = msgspec.json.encode({dimension: value}).decode()[1:-1]
    escaped = re.sub("([!%_])", r"!\1", text)
    return {"pattern": f"%{escaped}%"}


def _condition(happening: Happening) -> str:
    at = _WHEN[happening]
    match happening:
        case "kept" | "missed":
            return f"({_HAS_PROMISE[happening]})"
        case "reopened":  # the column has the last time of several
            return f"{at} >= :first AND m.created_at < :end"
        case "unfinished":
            return f"{at} >= :first AND {at} < :end AND t.status IN ({_UNFINISHED})"
    return f"{at} >= :first AND {at} < :end"


def _is_reopened(counted: str, first: int, end: int) -> bool:
    return any(first <= at < end for at in _decode(counted).reopened_at)
