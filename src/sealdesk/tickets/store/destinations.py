"""The SQL of where replies go: the webhook endpoints of a tenant that receive them."""

from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx

_MAX_ENDPOINTS = 50  # as many as a tenant may have (webhooks.rules)
_LIST = """
SELECT id, url, description, events FROM endpoints
WHERE tenant_id = :tenant_id AND is_active AND deleted_at IS NULL ORDER BY id LIMIT :limit
"""


class Destination(NamedTuple):
    """An endpoint that receives replies. description: None if it has none."""

    url: str
    description: str | None


async def list_destinations(tx: Tx, tenant_id: str) -> list[Destination]:
    """The oldest active endpoints that receive the event of a new reply."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": _MAX_ENDPOINTS})
    return [
        Destination(row["url"], row["description"])
        for row in rows
        if "reply.created" in msgspec.json.decode(row["events"])
    ]
