"""The SQL of business hours."""

from collections.abc import Iterable

import msgspec

from sealdesk.db.column_lists import insert_or_update
from sealdesk.db.engine import Tx
from sealdesk.tickets.hours.types import Hours

_FIND = "SELECT tenant_id, settings FROM business_hours WHERE tenant_id = :tenant_id LIMIT :limit"
_SAVE = insert_or_update("business_hours", "tenant_id", "settings updated_at")
_FIND_OF_TEAM = """
SELECT id, hours FROM teams
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL AND hours IS NOT NULL LIMIT :limit
"""
_SAVE_OF_TEAM = """
UPDATE teams SET hours = :hours WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL
"""
_decode = msgspec.json.Decoder(Hours).decode


async def find(tx: Tx, tenant_id: str) -> Hours | None:
    """The business hours of a desk; None if nobody has set them."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "limit": 1})
    return None if row is None else _decode(row["settings"])


async def find_of_teams(tx: Tx, tenant_id: str, team_ids: Iterable[str | None]) -> dict[str, Hours]:
    """Of those teams that have hours of their own and are not deleted."""
    ids = sorted({each for each in team_ids if each is not None})
    many = [{"tenant_id": tenant_id, "id": each, "limit": 1} for each in ids]
    found = await tx.fetch_for_each(_FIND_OF_TEAM, many) if many else []
    return {row["id"]: _decode(row["hours"]) for rows in found for row in rows}


async def find_for(tx: Tx, tenant_id: str, team_id: str | None) -> Hours | None:
    """The hours of a ticket of this team: those of the team, or else of the desk."""
    of_team = await find_of_teams(tx, tenant_id, [team_id])
    return next(iter(of_team.values())) if of_team else await find(tx, tenant_id)


async def save(tx: Tx, tenant_id: str, hours: Hours, now_us: int) -> None:
    params = {"tenant_id": tenant_id, "settings": _encode(hours), "updated_at": now_us}
    await tx.execute_one(_SAVE, params)


async def save_of_team(tx: Tx, tenant_id: str, team_id: str, hours: Hours | None) -> None:
    """None: from now on those of the desk."""
    params = {"tenant_id": tenant_id, "id": team_id, "hours": hours and _encode(hours)}
    await tx.execute_one(_SAVE_OF_TEAM, params)


def _encode(hours: Hours) -> str:
    return msgspec.json.encode(hours).decode()
