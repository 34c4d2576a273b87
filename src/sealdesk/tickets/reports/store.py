"""The SQL of reports."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from sealdesk.db.engine import Tx
from sealdesk.tickets.reports.types import Dimension, Happening, Range

MAX_VALUES = 50
MAX_TICKETS = 200
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
_COLUMNS: dict[Happening, str] = {
    "created": "created_at",
    "answered": "answered_at",
    "resolved": "resolved_at",
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
    column = _COLUMNS[happening]
    sql = f"""
SELECT m.ticket_id FROM ticket_measures m
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND m.{column} >= :first AND m.{column} < :end {_OF[dimension]}
ORDER BY m.{column} DESC, m.ticket_id DESC LIMIT :limit
"""
    params = {"tenant_id": tenant_id, "first": between_us[0], "end": between_us[1]}
    rows = await tx.fetch_all(sql, {**params, "value": value, "limit": MAX_TICKETS + 1})
    return [row["ticket_id"] for row in rows]


async def is_rebuilding(tx: Tx, tenant_id: str) -> bool:
    """Whether the reports are incomplete until all tickets are counted."""
    row = await tx.fetch_one(_REBUILDING, {"tenant_id": tenant_id, "limit": 1})
    return row is not None
