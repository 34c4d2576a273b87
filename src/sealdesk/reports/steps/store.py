"""The SQL with which tickets are counted."""

from collections.abc import Mapping, Sequence

import msgspec

from sealdesk import clock
from sealdesk.db.column_lists import delete_row, id_parameters, insert_or_update
from sealdesk.db.engine import Row, Tx
from sealdesk.reports.sums import changed
from sealdesk.reports.types import FIELD, Facts, FieldChoices, Place, Rebuild, Sums
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket.store.tickets import decode_clocks, decode_satisfaction
from sealdesk.tickets.ticket.types import ENDED

_POSTPONED_US = 60 * 1_000_000
_MAX_CHANGES = 1_000  # of a ticket, that are read for when it was reopened

_TICKETS = """
SELECT t.id, t.source, t.team_id, t.assignee_id, t.tags, t.created_at, t.first_response_at,
    t.resolved_at, t.closed_at, t.merged_into_id, t.satisfaction, t.clocks, t.key_id,
    t.custom_fields, m.counted
FROM tickets t LEFT JOIN ticket_measures m ON m.tenant_id = :tenant_id AND m.ticket_id = t.id
WHERE t.tenant_id = :tenant_id AND t.id IN ({ids}) ORDER BY t.id LIMIT :limit
"""
_STATUS_CHANGES = """
SELECT changes, created_at FROM ticket_changes
WHERE tenant_id = :tenant_id AND ticket_id = :id AND changes LIKE '%"status":["%'
ORDER BY id LIMIT :limit
"""
_SAVE_COUNTED = """
INSERT INTO ticket_measures (tenant_id, ticket_id, created_at, answered_at, resolved_at,
    reopened_at, rated_at, counted)
VALUES (:tenant_id, :id, :created_at, :answered_at, :resolved_at, :reopened_at, :rated_at, :counted)
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET created_at = excluded.created_at,
    answered_at = excluded.answered_at, resolved_at = excluded.resolved_at,
    reopened_at = excluded.reopened_at, rated_at = excluded.rated_at, counted = excluded.counted
"""
_DELETE_COUNTED = """
DELETE FROM ticket_measures WHERE tenant_id = :tenant_id AND ticket_id = :id
"""
_AT = """
WHERE tenant_id = :tenant_id AND dimension = :dimension AND length = :length AND start = :start
    AND value = :value
"""
_FIND_SUMS = f"SELECT sums FROM report_sums {_AT} LIMIT 1"
_SAVE_SUMS = insert_or_update("report_sums", "tenant_id dimension length start value", "sums")
_DELETE_SUMS = f"DELETE FROM report_sums {_AT}"
_FIND_REBUILD = """
SELECT is_clearing, ticket_id FROM report_rebuilds WHERE tenant_id = :tenant_id LIMIT :limit
"""
_BEGIN_REBUILD = """
INSERT INTO report_rebuilds (tenant_id, is_clearing, ticket_id, stepped_at)
VALUES (:tenant_id, true, '', 0)
ON CONFLICT (tenant_id) DO UPDATE SET is_clearing = true, ticket_id = '', stepped_at = 0
"""
_BEGIN_ALL = """
INSERT INTO report_rebuilds (tenant_id, is_clearing, ticket_id, stepped_at)
SELECT id, true, '', 0 FROM tenants WHERE true
ON CONFLICT (tenant_id) DO UPDATE SET is_clearing = true, ticket_id = '', stepped_at = 0
"""
_STORE_STEP = """
UPDATE report_rebuilds SET is_clearing = :is_clearing, ticket_id = :ticket_id, stepped_at = :now
WHERE tenant_id = :tenant_id
"""
_END_REBUILD = delete_row("report_rebuilds", "tenant_id")
_POSTPONE = "UPDATE report_rebuilds SET stepped_at = :later WHERE tenant_id = :tenant_id"
_LIST_TENANTS = """
SELECT tenant_id FROM report_rebuilds WHERE stepped_at <= :now ORDER BY tenant_id LIMIT :limit
"""
_COUNT_ROWS = """
SELECT (SELECT count(*) FROM report_sums WHERE tenant_id = :tenant_id)
    + (SELECT count(*) FROM ticket_measures WHERE tenant_id = :tenant_id)
    + (SELECT count(*) FROM tickets WHERE tenant_id = :tenant_id) AS row_count
"""
_OLD_SUMS = """
SELECT dimension, length, start, value FROM report_sums WHERE tenant_id = :tenant_id
ORDER BY dimension, length, start, value LIMIT :limit
"""
_OLD_COUNTED = """
SELECT ticket_id AS id FROM ticket_measures WHERE tenant_id = :tenant_id
ORDER BY ticket_id LIMIT :limit
"""
_TICKETS_AFTER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND id > :after ORDER BY id LIMIT :limit
"""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Facts).decode


async def lock(tx: Tx, tenant_id: str) -> None:
    """Count a desk's tickets alone until the transaction ends."""
    await tx.lock("reports", tenant_id)


async def read_facts(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], fields: Sequence[FieldChoices]
) -> dict[str, tuple[Facts | None, Facts | None]]:
    """What was counted of tickets, and what is to be: None for those merged into others.

    When they were reopened is taken from what was counted.
    """
    names, params = id_parameters(ticket_ids)
    params |= {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    rows = await tx.fetch_all(_TICKETS.format(ids=names), params) if names else []
    return {row["id"]: _before_and_after(row, fields) for row in rows}


async def read_reopened(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """When tickets were reopened, by their history."""
    params = [{**key, "limit": _MAX_CHANGES} for key in _keys(tenant_id, ticket_ids)]
    found = await tx.fetch_for_each(_STATUS_CHANGES, params)
    return {
        ticket_id: tuple(row["created_at"] for row in rows if _reopens(row["changes"]))
        for ticket_id, rows in zip(ticket_ids, found, strict=True)
    }


async def save_counted(tx: Tx, tenant_id: str, counted: Mapping[str, Facts | None]) -> None:
    """Store what is counted of tickets now, by their ids."""
    await tx.execute_many(
        _SAVE_COUNTED,
        [
            {
                "tenant_id": tenant_id,
                "id": ticket_id,
                "created_at": facts.created_at,
                "answered_at": facts.answered_at,
                "resolved_at": facts.resolved_at,
                "reopened_at": max(facts.reopened_at, default=None),
                "rated_at": facts.rated_at,
                "counted": _encode(facts).decode(),
            }
            for ticket_id, facts in counted.items()
            if facts is not None
        ],
    )
    gone = [ticket_id for ticket_id, facts in counted.items() if facts is None]
    await tx.execute_many(_DELETE_COUNTED, _keys(tenant_id, gone))


async def change_sums(tx: Tx, tenant_id: str, changes: Mapping[Place, Sums]) -> None:
    """Add to rows of sums, and take out of them. The caller has the lock."""
    keys = [{"tenant_id": tenant_id, **place._asdict()} for place in changes]
    found = await tx.fetch_for_each(_FIND_SUMS, keys)
    saved, gone = [], []
    for key, change, rows in zip(keys, changes.values(), found, strict=True):
        after = changed(rows[0]["sums"] if rows else "", change)
        if after:
            saved.append({**key, "sums": after})
        else:
            gone.append(key)
    await tx.execute_many(_SAVE_SUMS, saved)
    await tx.execute_many(_DELETE_SUMS, gone)


async def find_rebuild(tx: Tx, tenant_id: str) -> Rebuild | None:
    row = await tx.fetch_one(_FIND_REBUILD, {"tenant_id": tenant_id, "limit": 1})
    return None if row is None else Rebuild(bool(row["is_clearing"]), row["ticket_id"])


async def begin_rebuild(tx: Tx, tenant_id: str) -> None:
    """Let the worker count a desk's tickets anew."""
    await tx.execute(_BEGIN_REBUILD, {"tenant_id": tenant_id})


async def begin_all(tx: Tx) -> None:
    """The same for all desks."""
    await tx.execute(_BEGIN_ALL, {})


async def store_step(tx: Tx, tenant_id: str, reached: Rebuild | None, now_us: int) -> None:
    """How far a rebuild is; None at its end."""
    if reached is None:
        await tx.execute(_END_REBUILD, {"tenant_id": tenant_id})
    else:
        params = {"tenant_id": tenant_id, "now": now_us, **reached._asdict()}
        await tx.execute(_STORE_STEP, params)


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Put a rebuild behind the others."""
    await tx.execute(_POSTPONE, {"tenant_id": tenant_id, "later": now_us + _POSTPONED_US})


async def list_due_tenants(tx: Tx, now_us: int, limit: int) -> list[str]:
    """The desks whose reports are being rebuilt."""
    rows = await tx.fetch_all(_LIST_TENANTS, {"now": now_us, "limit": limit})
    return [row["tenant_id"] for row in rows]


async def count_rows(tx: Tx, tenant_id: str) -> int:
    """How many rows a rebuild deletes and counts."""
    row = await tx.fetch_one(_COUNT_ROWS, {"tenant_id": tenant_id})
    return int(row["row_count"]) if row else 0


async def clear(tx: Tx, tenant_id: str, limit: int) -> int:
    """Delete some of what was counted; how many rows."""
    params = {"tenant_id": tenant_id, "limit": limit}
    sums = await tx.fetch_all(_OLD_SUMS, params)
    places = [{"tenant_id": tenant_id, **Place(*row[:4])._asdict()} for row in sums]
    await tx.execute_many(_DELETE_SUMS, places)
    counted = await tx.fetch_all(_OLD_COUNTED, params)
    await tx.execute_many(_DELETE_COUNTED, _keys(tenant_id, [row["id"] for row in counted]))
    return len(sums) + len(counted)


async def list_tickets_after(tx: Tx, tenant_id: str, after: str, limit: int) -> list[str]:
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_TICKETS_AFTER, params)]


def _keys(tenant_id: str, ticket_ids: Sequence[str]) -> list[dict[str, object]]:
    return [{"tenant_id": tenant_id, "id": each} for each in ticket_ids]


def _before_and_after(
    row: Row, fields: Sequence[FieldChoices]
) -> tuple[Facts | None, Facts | None]:
    before = _decode(row["counted"]) if row["counted"] else None
    if row["merged_into_id"] is not None:
        return before, None
    return before, _facts(row, before.reopened_at if before else (), fields)


def _facts(row: Row, reopened: tuple[int, ...], fields: Sequence[FieldChoices]) -> Facts:
    answered_at, resolved_at = row["first_response_at"], row["resolved_at"] or row["closed_at"]
    rated = decode_satisfaction(row["satisfaction"])
    # Most tickets are counted when they are new, and have kept or missed no promise yet.
    clocks = decode_clocks(row["clocks"]) if answered_at or resolved_at else None
    return Facts(
        created_at=row["created_at"],
        source=row["source"],
        team_id=row["team_id"] or "",
        assignee_id=row["assignee_id"] or "",
        tags=tuple(sorted({identity(tag) for tag in msgspec.json.decode(row["tags"])})),
        answered_at=answered_at,
        resolved_at=resolved_at,
        reopened_at=reopened,
        answered_in_time=clocks.is_kept("first_response") if clocks and answered_at else None,
        resolved_in_time=clocks.is_kept("resolution") if clocks and resolved_at else None,
        rating=rated.rating if rated else 0,
        rated_at=clock.parse_instant(rated.rated_at) if rated else None,
        key_id=row["key_id"] or "",
        fields=_chosen(row["custom_fields"], fields) if fields else {},
    )


def _chosen(custom_fields: str, fields: Sequence[FieldChoices]) -> dict[str, str]:
    """The choices of a ticket, by dimension; values that are none are left out."""
    values = msgspec.json.decode(custom_fields)
    found = {}
    for each in fields:
        value = values.get(each.dimension.removeprefix(FIELD))
        if isinstance(value, str) and (choice := each.choices.get(identity(value))):
            found[each.dimension] = choice
    return found


def _reopens(changes: str) -> bool:
    """Whether a status that ended a ticket became one that does not."""
    before, after = msgspec.json.decode(changes).get("status") or ("", "")
    return before in ENDED and after not in ENDED
