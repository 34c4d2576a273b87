"""The SQL of reports."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.tickets.reports.types import FIELD, Dimension, Facts, Happening, Range, RatedTicket
from sealdesk.tickets.store.filters import UNFINISHED
from sealdesk.tickets.store.tickets import decode_satisfaction

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
    "missed": "m.created_at",
    "rated": "m.rated_at",
    "unfinished": "m.created_at",
}
_IS_MISSED = " OR ".join(
    f"(m.{kind}_at >= :first AND m.{kind}_at < :end"
    f""" AND m.counted LIKE '%"{kind}_in_time":false%')"""
    for kind in ("answered", "resolved")
)
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


async def list_ticket_ids(
    tx: Tx,
    tenant_id: str,
    happening: Happening,
    between_us: tuple[int, int],
    dimension: Dimension,
    value: str,
) -> list[str]:
    """The tickets to which something happened, the latest first; one more than are shown."""
    first, end = between_us
    sql = f"""
SELECT m.ticket_id, m.counted FROM ticket_measures m
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND {_condition(happening)} {_of(dimension)}
ORDER BY {_WHEN[happening]} DESC, m.ticket_id DESC LIMIT :limit
"""
    limit = _MAX_REOPENED if happening == "reopened" else MAX_TICKETS + 1
    params = {"tenant_id": tenant_id, "first": first, "end": end, "limit": limit}
    rows = await tx.fetch_all(sql, params | _values(dimension, value))
    if happening == "reopened":
        rows = [row for row in rows if any(first <= at < end for at in _decode(row[1]).reopened_at)]
    return [row["ticket_id"] for row in rows[: MAX_TICKETS + 1]]


async def list_ratings(
    tx: Tx, tenant_id: str, between_us: tuple[int, int], dimension: Dimension, value: str
) -> list[RatedTicket]:
    """The latest 10,000 ratings of a time, with their tickets; the latest first."""
    sql = f"""
SELECT t.id, t.number, t.subject, t.team_id, t.assignee_id, t.satisfaction
FROM ticket_measures m JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND {_condition("rated")} {_of(dimension)}
ORDER BY m.rated_at DESC, m.ticket_id DESC LIMIT :limit
"""
    params = {"tenant_id": tenant_id, "first": between_us[0], "end": between_us[1]}
    rows = await tx.fetch_all(sql, {**params, **_values(dimension, value), "limit": MAX_RATINGS})
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
    not since the one before it. created_us: falling; the last one is 0."""
    cases = " ".join(
        f"WHEN t.created_at >= :since_{age} THEN {age}" for age in range(len(created_us))
    )
    sql = f"""
SELECT x.age, count(*) AS tickets FROM (SELECT CASE {cases} END AS age FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.status IN ({_UNFINISHED}) {_of(dimension)}
    LIMIT :limit) x
GROUP BY x.age ORDER BY x.age
"""
    params: dict[str, object] = {f"since_{age}": at for age, at in enumerate(created_us)}
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
        case "missed":
            return f"({_IS_MISSED})"
        case "reopened":  # the column has the last time of several
            return f"{at} >= :first AND m.created_at < :end"
        case "unfinished":
            return f"{at} >= :first AND {at} < :end AND t.status IN ({_UNFINISHED})"
    return f"{at} >= :first AND {at} < :end"
