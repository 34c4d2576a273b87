"""The SQL of the request log."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, insert_once, select_row
from sealdesk.db.engine import Tx
from sealdesk.resources.paging import LAST_ID
from sealdesk.telemetry.counters import UNAUTHORIZED, LoggedRequest

_COLUMNS = column_list(LoggedRequest._fields)
_ADD = insert_once("request_log", "tenant_id id", LoggedRequest._fields)
_LIST = f"""
SELECT {_COLUMNS} FROM request_log
WHERE tenant_id = :tenant_id AND id < :before AND id >= :since
    AND (CAST(:key_id AS TEXT) IS NULL OR key_id = :key_id)
    AND status BETWEEN :lowest AND :highest
ORDER BY id DESC LIMIT :limit
"""
_FIND = select_row("request_log", _COLUMNS)
_FIND_NTH = """
SELECT id FROM request_log WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT 1 OFFSET :kept
"""
_FIND_NTH_WITH_STATUS = """
SELECT id FROM request_log WHERE tenant_id = :tenant_id AND status = :status
ORDER BY id DESC LIMIT 1 OFFSET :kept
"""
_PRUNE_WITH_STATUS = """
DELETE FROM request_log WHERE tenant_id = :tenant_id AND id IN
    (SELECT id FROM request_log WHERE tenant_id = :tenant_id AND id < :before
    AND status = :status ORDER BY id LIMIT :limit)
"""
_PRUNE = """
DELETE FROM request_log WHERE tenant_id = :tenant_id AND id IN
    (SELECT id FROM request_log WHERE tenant_id = :tenant_id AND id < :before
    ORDER BY id LIMIT :limit)
"""
ANY_STATUS = (0, 999)


class RequestQuery(msgspec.Struct, frozen=True):
    """A list of requests, newest first. before, since: request ids. statuses: from, to."""

    limit: int
    before: str = LAST_ID
    since: str = ""
    key_id: str | None = None
    statuses: tuple[int, int] = ANY_STATUS

    def is_served(self) -> bool:
        """Whether the primary key serves it: a filter may read all rows of the tenant."""
        return self.key_id is None and self.statuses == ANY_STATUS


async def add(tx: Tx, requests: Sequence[LoggedRequest]) -> None:
    """Store requests of one tenant."""
    await tx.execute_many(_ADD, [request._asdict() for request in requests])


async def list_requests(tx: Tx, tenant_id: str, query: RequestQuery) -> list[LoggedRequest]:
    params = {
        "tenant_id": tenant_id,
        "before": query.before,
        "since": query.since,
        "key_id": query.key_id,
        "lowest": query.statuses[0],
        "highest": query.statuses[1],
        "limit": query.limit,
    }
    return [LoggedRequest(*row) for row in await tx.fetch_all(_LIST, params)]


async def find(tx: Tx, tenant_id: str, request_id: str) -> LoggedRequest | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": request_id})
    return None if row is None else LoggedRequest(*row)


async def find_nth(tx: Tx, tenant_id: str, kept: int) -> str | None:
    """The id of the newest request behind the `kept` newest ones."""
    row = await tx.fetch_one(_FIND_NTH, {"tenant_id": tenant_id, "kept": kept})
    return None if row is None else str(row["id"])


async def find_nth_refusal(tx: Tx, tenant_id: str, kept: int) -> str | None:
    """The same among the refusals of wrong signatures. Reads what the tenant has."""
    params = {"tenant_id": tenant_id, "kept": kept, "status": UNAUTHORIZED}
    row = await tx.fetch_one(_FIND_NTH_WITH_STATUS, params)
    return None if row is None else str(row["id"])


async def prune_refusals(tx: Tx, tenant_id: str, before: str, limit: int) -> int:
    """Delete some of the refusals before this request id; how many."""
    params = {"tenant_id": tenant_id, "before": before, "limit": limit, "status": UNAUTHORIZED}
    return await tx.execute(_PRUNE_WITH_STATUS, params)


async def prune(tx: Tx, tenant_id: str, before: str, limit: int) -> int:
    """Delete some of the requests before this request id; how many."""
    return await tx.execute(_PRUNE, {"tenant_id": tenant_id, "before": before, "limit": limit})
