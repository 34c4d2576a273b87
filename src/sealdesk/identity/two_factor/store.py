"""The SQL of second factors."""

from collections.abc import Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.identity.two_factor.rules import SecondFactor

_ROWS = StructRows(SecondFactor)
_FIND = select_row("second_factors", column_list(_ROWS.columns), "tenant_id user_id")
_ADD = insert_into("second_factors", _ROWS.columns)
_UPDATE = update_row(
    "second_factors",
    "sealed_secret recovery_hashes last_step confirmed_at",
    key="tenant_id user_id",
)
_DELETE = delete_row("second_factors", "tenant_id user_id")
_LIST_SEALED = """
SELECT user_id FROM second_factors
WHERE tenant_id = :tenant_id AND user_id > :after ORDER BY user_id LIMIT :limit
"""


async def find(tx: Tx, tenant_id: str, user_id: str) -> SecondFactor | None:
    """A user's second factor, confirmed or not."""
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "user_id": user_id})


async def add(tx: Tx, factor: SecondFactor) -> None:
    await tx.execute_one(_ADD, _ROWS.params(factor))


async def update(tx: Tx, factor: SecondFactor) -> None:
    params = _ROWS.params(factor)
    del params["created_at"]
    await tx.execute_one(_UPDATE, params)


async def delete(tx: Tx, tenant_id: str, user_id: str) -> bool:
    """Whether there was one."""
    return await tx.execute(_DELETE, {"tenant_id": tenant_id, "user_id": user_id}) == 1


async def list_sealed(tx: Tx, tenant_id: str, after: str, limit: int) -> Sequence[str]:
    """The ids of a tenant's users who have a second factor, for resealing."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [row["user_id"] for row in await tx.fetch_all(_LIST_SEALED, params)]
