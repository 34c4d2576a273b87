"""The SQL of reports."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from sealdesk.db.engine import Tx
from sealdesk.tickets.reports.types import Dimension, Happening, Range
from sealdesk.tickets.store.filters import UNFINISHED

MAX_VALUES = 50
MAX_TICKETS = 200
MAX_UNFINISHED = 100_000
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
_OF: dict[Dimension, str] = {
    "desk": "",
    "team": "AND coalesce(t.team_id, '') = :value",
    "assignee": "AND coalesce(t.assignee_id, '') = :value",
    "source": "AND t.source = :value",
    "tag": """AND EXISTS (SELECT 1 FROM ticket_tags g WHERE g.tenant_id = :tenant_id
        AND g.tag = :value AND g.ticket_id = t.id)""",
}
_UNFINISHED = ", ".join(f"'{status}'" for status in UNFINISHED)
_WHEN: dict[Happening, str] = {
    "created": "m.created_at",
    "answered": "m.answered_at",
    "resolved": "m.resolved_at",
    "unfinished": "m.created_at",
}


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
    at = _WHEN[happening]
    is_now = f"AND t.status IN ({_UNFINISHED})" if happening == "unfinished" else ""
    sql = f"""
SELECT m.ticket_id FROM ticket_measures m
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND {at} >= :first AND {at} < :end {is_now} {_OF[dimension]}
ORDER BY {at} DESC, m.ticket_id DESC LIMIT :limit
"""
    params = {"tenant_id": tenant_id, "first": between_us[0], "end": between_us[1]}
    rows = await tx.fetch_all(sql, {**params, "value": value, "limit": MAX_TICKETS + 1})
    return [row["ticket_id"] for row in rows]


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
    WHERE t.tenant_id = :tenant_id AND t.status IN ({_UNFINISHED}) {_OF[dimension]}
    LIMIT :limit) x
GROUP BY x.age ORDER BY x.age
"""
    params: dict[str, object] = {f"since_{age}": at for age, at in enumerate(created_us)}
    params |= {"tenant_id": tenant_id, "value": value, "limit": MAX_UNFINISHED}
    found = {row["age"]: row["tickets"] for row in await tx.fetch_all(sql, params)}
    return [found.get(age, 0) for age in range(len(created_us))]


async def is_rebuilding(tx: Tx, tenant_id: str) -> bool:
    """Whether the reports are incomplete until all tickets are counted."""
    row = await tx.fetch_one(_REBUILDING, {"tenant_id": tenant_id, "limit": 1})
    return row is not None
