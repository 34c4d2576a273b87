"""The SQL of whether programs can send tickets: the API keys of a tenant."""

from sealdesk.db.engine import Tx

_FIND_VALID = """
SELECT 1 FROM api_keys WHERE tenant_id = :tenant_id AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :now_us) ORDER BY id LIMIT 1
"""


async def has_key(tx: Tx, tenant_id: str, now_us: int) -> bool:
    """Whether the tenant has a key that is neither revoked nor expired."""
    params = {"tenant_id": tenant_id, "now_us": now_us}
    return await tx.fetch_one(_FIND_VALID, params) is not None
