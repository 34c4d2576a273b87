"""The SQL of assignees: the users of a tenant as far as tickets are concerned."""

from collections.abc import Collection
from typing import NamedTuple

from sealdesk.db.engine import Row, Tx

_FIND = """
SELECT id, name, is_active FROM users WHERE tenant_id = :tenant_id AND id = :id LIMIT 1
"""
_LIST = """
SELECT id, name, is_active FROM users WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT :limit
"""
_IS_ASSIGNABLE = """
SELECT 1 FROM users WHERE tenant_id = :tenant_id AND id = :id AND is_active LIMIT 1
"""


class Assignee(NamedTuple):
    """A user of the tenant. Only active users can be assigned to further tickets."""

    id: str
    name: str
    is_active: bool


async def find_assignee(tx: Tx, tenant_id: str, user_id: str) -> Assignee | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": user_id})
    return None if row is None else _assignee(row)


async def list_assignees(tx: Tx, tenant_id: str, limit: int) -> list[Assignee]:
    """The newest users, inactive ones too; one more than the limit when there are more."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": limit + 1})
    return [_assignee(row) for row in rows]


async def is_assignable(tx: Tx, tenant_id: str, user_id: str) -> bool:
    """Whether a ticket of the tenant can be assigned to this user."""
    return await tx.fetch_one(_IS_ASSIGNABLE, {"tenant_id": tenant_id, "id": user_id}) is not None


async def list_names(tx: Tx, tenant_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of users by their id; unknown ids are left out."""
    params: dict[str, object] = {f"id_{place}": each for place, each in enumerate(user_ids)}
    keys = ", ".join(f":{key}" for key in params)
    params |= {"tenant_id": tenant_id, "limit": len(user_ids)}
    sql = (
        f"SELECT id, name FROM users WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id LIMIT :limit"
    )
    return {row["id"]: row["name"] for row in await tx.fetch_all(sql, params)} if keys else {}


def _assignee(row: Row) -> Assignee:
    return Assignee(row["id"], row["name"], bool(row["is_active"]))
