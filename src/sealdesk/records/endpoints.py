"""What rooms below the webhooks need of endpoints: to wake them, and their sealed secrets."""

from sealdesk.db.engine import Tx

_NEWEST = """
SELECT tenant_id, id, secret_version, sealed_secret FROM endpoints
WHERE tenant_id = :tenant_id AND sealed_secret IS NOT NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit
"""
# Endpoints wait for the real time; their deliveries, for that of the tenant.
_LIST_ACTIVE = """
SELECT id FROM endpoints WHERE tenant_id = :tenant_id AND is_active AND deleted_at IS NULL
ORDER BY id LIMIT :limit
"""
WAKE = """
UPDATE endpoints SET due_at = CASE WHEN due_at < :now THEN due_at ELSE :now END, wakes = wakes + 1
WHERE tenant_id = :tenant_id AND id = :id AND is_active AND deleted_at IS NULL
"""
_MAX_ENDPOINTS = 100  # more than a tenant may have


async def wake_all(tx: Tx, tenant_id: str, real_us: int) -> None:
    """Look at each active endpoint of a tenant for deliveries that are now due."""
    rows = await tx.fetch_all(_LIST_ACTIVE, {"tenant_id": tenant_id, "limit": _MAX_ENDPOINTS})
    wakes = [{"tenant_id": tenant_id, "id": row["id"], "now": real_us} for row in rows]
    await tx.execute_many(WAKE, wakes)


def seal_context(tenant_id: str, endpoint_id: str, secret_version: int) -> str:
    """The associated data of an endpoint's sealed secret, which opens in no other row."""
    return f"webhook_secret {tenant_id} {endpoint_id} {secret_version}"


async def list_newest_secrets(tx: Tx, tenant_id: str, at_most: int) -> list[tuple[bytes, str]]:
    """The sealed secrets of the newest endpoints, one of which may be taken for an API secret.

    Each with its context.
    """
    rows = await tx.fetch_all(_NEWEST, {"tenant_id": tenant_id, "limit": at_most})
    return [
        (row["sealed_secret"], seal_context(tenant_id, row["id"], row["secret_version"]))
        for row in rows
    ]
