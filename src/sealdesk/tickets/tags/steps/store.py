"""The SQL with which the worker renames tags in steps."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import update_row
from sealdesk.db.engine import Tx
from sealdesk.resources.identity import identity
from sealdesk.tickets.macros.rules import MAX_MACROS
from sealdesk.tickets.tags.store import RENAMING_COLUMNS, RENAMINGS
from sealdesk.tickets.tags.types import Renaming

_TICKETS = """
SELECT ticket_id FROM ticket_tags WHERE tenant_id = :tenant_id AND tag = :tag AND ticket_id > :after
ORDER BY ticket_id LIMIT :limit
"""
_STORE_STEP = update_row("tag_renamings", "changed_count ticket_id view_id stepped_at finished_at")
_POSTPONE = """
UPDATE tag_renamings SET stepped_at = :stepped_at
WHERE tenant_id = :tenant_id AND id = (SELECT id FROM tag_renamings
    WHERE tenant_id = :tenant_id AND finished_at IS NULL ORDER BY stepped_at, id LIMIT 1)
"""
_VIEWS = """
SELECT id, query FROM views WHERE tenant_id = :tenant_id AND id > :after ORDER BY id LIMIT :limit
"""
_STORE_QUERY = """
UPDATE views SET query = :query WHERE tenant_id = :tenant_id AND id = :id AND query = :before
"""
_MACRO_TAGS = """
SELECT id, tags FROM macros WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit
"""
# Where somebody has saved the macro meanwhile, the next step reads it again.
_STORE_MACRO_TAGS = """
UPDATE macros SET tags = :tags WHERE tenant_id = :tenant_id AND id = :id AND tags = :before
"""
# The inner LIMIT lets SQLite read the index of unfinished ones instead of all by their tenant.
_LIST_TENANTS = """
SELECT tenant_id FROM (
    SELECT tenant_id, stepped_at FROM tag_renamings WHERE finished_at IS NULL
    ORDER BY stepped_at, id LIMIT 100000
) d GROUP BY tenant_id ORDER BY min(stepped_at), tenant_id LIMIT :limit
"""
_CLAIM = f"""
SELECT {RENAMING_COLUMNS} FROM tag_renamings WHERE tenant_id = :tenant_id AND finished_at IS NULL
ORDER BY stepped_at, id LIMIT 1
"""


async def list_ticket_ids(tx: Tx, renaming: Renaming, limit: int) -> list[str]:
    """The next tickets that have the tag."""
    of = {"tenant_id": renaming.tenant_id, "tag": identity(renaming.tag)}
    rows = await tx.fetch_all(_TICKETS, {**of, "after": renaming.ticket_id or "", "limit": limit})
    return [row["ticket_id"] for row in rows]


async def list_due_tenants(tx: Tx, _: int, limit: int) -> list[str]:
    """The desks with unfinished renamings, first those that had no step for the longest time."""
    return [row["tenant_id"] for row in await tx.fetch_all(_LIST_TENANTS, {"limit": limit})]


async def claim_renaming(tx: Tx, tenant_id: str) -> Renaming | None:
    """Lock the renaming of a desk that had no step for the longest time."""
    rows = await tx.select_for_update(_CLAIM, {"tenant_id": tenant_id})
    return RENAMINGS.read(rows[0]) if rows else None


async def store_step(tx: Tx, renaming: Renaming) -> None:
    await tx.execute_one(_STORE_STEP, msgspec.structs.asdict(renaming))


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Let the desk's other renamings have their steps before the one that would be next."""
    await tx.execute(_POSTPONE, {"tenant_id": tenant_id, "stepped_at": now_us})


async def list_queries(
    tx: Tx, tenant_id: str, after_id: str, limit: int
) -> Sequence[tuple[str, str]]:
    """(id, query) of the views of all owners behind an id."""
    params = {"tenant_id": tenant_id, "after": after_id, "limit": limit}
    return [(row["id"], row["query"]) for row in await tx.fetch_all(_VIEWS, params)]


async def store_query(tx: Tx, tenant_id: str, view_id: str, before: str, query: str) -> bool:
    """Whether the view still had the query that was read."""
    params = {"tenant_id": tenant_id, "id": view_id, "before": before, "query": query}
    return await tx.execute(_STORE_QUERY, params) == 1


async def list_macro_tags(tx: Tx, tenant_id: str) -> list[tuple[str, list[str]]]:
    """(id, tags) of all macros."""
    rows = await tx.fetch_all(_MACRO_TAGS, {"tenant_id": tenant_id, "limit": MAX_MACROS})
    return [(row["id"], msgspec.json.decode(row["tags"])) for row in rows]


async def store_macro_tags(
    tx: Tx, tenant_id: str, macro_id: str, before: Sequence[str], tags: Sequence[str]
) -> None:
    params = {"before": _encode(before), "tags": _encode(tags)}
    await tx.execute(_STORE_MACRO_TAGS, {"tenant_id": tenant_id, "id": macro_id, **params})


def _encode(tags: Sequence[str]) -> str:
    return msgspec.json.encode(tags).decode()
