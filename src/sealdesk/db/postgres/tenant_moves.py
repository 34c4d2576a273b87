"""Whether `sealdesk move --tenant` may hide the rows of a tenant from this process."""

from sealdesk.db.engine import Tx

# The condition of such a policy names the tenants.
_FIND_POLICY = """
SELECT 1 FROM pg_policies WHERE schemaname = current_schema() AND tablename = 'attachments'
AND policyname LIKE 'sealdesk_move_%' AND strpos(qual, :tenant) > 0 LIMIT 1
"""


async def is_moving(tx: Tx, tenant_id: str) -> bool:
    """True from the begin of its move, at the source until its rows are deleted there."""
    if tx.dialect != "postgresql":
        return False
    return await tx.fetch_one(_FIND_POLICY, {"tenant": tenant_id}) is not None
