"""The sealed secrets of webhook endpoints, one of which may be taken for an API secret."""

from sealdesk.db.engine import Tx

_NEWEST = """
SELECT tenant_id, id, secret_version, sealed_secret FROM endpoints
WHERE tenant_id = :tenant_id AND sealed_secret IS NOT NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit
"""


def seal_context(tenant_id: str, endpoint_id: str, secret_version: int) -> str:
    """The associated data of an endpoint's sealed secret, which opens in no other row."""
    return f"webhook_secret {tenant_id} {endpoint_id} {secret_version}"


async def list_newest(tx: Tx, tenant_id: str, at_most: int) -> list[tuple[bytes, str]]:
    """The sealed secrets of the newest endpoints, each with its context."""
    rows = await tx.fetch_all(_NEWEST, {"tenant_id": tenant_id, "limit": at_most})
    return [
        (row["sealed_secret"], seal_context(tenant_id, row["id"], row["secret_version"]))
        for row in rows
    ]
