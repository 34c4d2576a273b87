"""The SQL of business hours."""

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.tickets.hours.types import Hours

_FIND = "SELECT tenant_id, settings FROM business_hours WHERE tenant_id = :tenant_id LIMIT :limit"
_SAVE = """
INSERT INTO business_hours (tenant_id, settings, updated_at)
VALUES (:tenant_id, :settings, :updated_at)
ON CONFLICT (tenant_id) DO UPDATE SET settings = excluded.settings,
    updated_at = excluded.updated_at
"""
_decode = msgspec.json.Decoder(Hours).decode


async def find(tx: Tx, tenant_id: str) -> Hours | None:
    """The business hours of a desk; None if nobody has set them."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "limit": 1})
    return None if row is None else _decode(row["settings"])


async def save(tx: Tx, tenant_id: str, hours: Hours, now_us: int) -> None:
    settings = msgspec.json.encode(hours).decode()
    params = {"tenant_id": tenant_id, "settings": settings, "updated_at": now_us}
    await tx.execute_one(_SAVE, params)
