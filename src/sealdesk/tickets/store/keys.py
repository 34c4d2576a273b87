"""The SQL of whether programs can send tickets: the API keys of a tenant."""

from sealdesk.db.engine import Tx

_FIND_VALID = """
SELECT id FROM api_keys WHERE tenant_id = :tenant_id AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :valid_at) ORDER BY id LIMIT :limit
"""


async def has_key(tx: Tx, tenant_id: str, now_us: int) -> bool:
    """Whether the tenant has a key that is neither revoked nor expired."""
    params = {"tenant_id": tenant_id, "valid_at": now_us, "limit": 1}
    return await tx.fetch_one(_FIND_VALID, params) is not None
