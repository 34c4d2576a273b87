"""The SQL of assignees: the users of a tenant as far as tickets are concerned."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from sealdesk.db.column_lists import id_parameters, select_row
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import LAST_ID

_FIND = select_row("users", "id, name, is_active")
_LIST = """
SELECT id, name, is_active, email FROM users WHERE tenant_id = :tenant_id
ORDER BY id DESC LIMIT :limit
"""
_IS_ASSIGNABLE = """
SELECT 1 FROM users WHERE tenant_id = :tenant_id AND id = :id AND is_active LIMIT 1
"""
# Names are compared here and not in SQL: lower() of SQLite knows ASCII letters only.
_LIST_BEFORE = """
SELECT id, name, is_active, email FROM users WHERE tenant_id = :tenant_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""
_BATCH = 1000
_MAX_BATCHES = 10


class Assignee(NamedTuple):
    """A user of the tenant. Only active users can be assigned to further tickets.

    label: the name in a list, with the e-mail address where several active users have the name.
    """

    id: str
    name: str
    is_active: bool
    label: str


async def find_assignee(tx: Tx, tenant_id: str, user_id: str) -> Assignee | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": user_id})
    return None if row is None else _assignee(row)


async def list_assignees(tx: Tx, tenant_id: str, limit: int) -> list[Assignee]:
    """The newest users, inactive ones too; one more than the limit when there are more."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": limit + 1})
    return _tell_apart(rows)


async def find_by_words(
    tx: Tx, tenant_id: str, words: Sequence[str], *, limit: int
) -> list[Assignee]:
    """Active users whose names contain all words, among the newest 10,000 users; newest first."""
    wanted = [*map(identity, words)]
    found: list[Row] = []
    before = LAST_ID
    for _ in range(_MAX_BATCHES):
        params = {"tenant_id": tenant_id, "before": before, "limit": _BATCH}
        users = await tx.fetch_all(_LIST_BEFORE, params)
        found += [row for row in users if row["is_active"] and _has_words(row["name"], wanted)]
        if len(found) >= limit or len(users) < _BATCH:
            break
        before = users[-1]["id"]
    return _tell_apart(found)[:limit]


def _has_words(name: str, words: Sequence[str]) -> bool:
    folded = identity(name)
    return all(word in folded for word in words)


async def is_assignable(tx: Tx, tenant_id: str, user_id: str) -> bool:
    """Whether a ticket of the tenant can be assigned to this user."""
    return await tx.fetch_one(_IS_ASSIGNABLE, {"tenant_id": tenant_id, "id": user_id}) is not None


async def list_names(tx: Tx, tenant_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of users by their id; unknown ids are left out."""
    found = await find_assignees(tx, tenant_id, user_ids)
    return {user_id: user.name for user_id, user in found.items()}


async def find_assignees(tx: Tx, tenant_id: str, user_ids: Collection[str]) -> dict[str, Assignee]:
    """Users by their id; unknown ids are left out."""
    keys, params = id_parameters(user_ids)
    params |= {"tenant_id": tenant_id, "limit": len(user_ids)}
    sql = (
        f"SELECT id, name, is_active FROM users WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id LIMIT :limit"
    )
    return {row["id"]: _assignee(row) for row in await tx.fetch_all(sql, params)} if keys else {}


def _tell_apart(rows: Sequence[Row]) -> list[Assignee]:
    count = Counter(row["name"].lower() for row in rows if row["is_active"])
    alike = {name for name, times in count.items() if times > 1}
    return [
        user._replace(label=f"{user.name} ({row['email']})") if user.name.lower() in alike else user
        for row, user in zip(rows, map(_assignee, rows), strict=True)
    ]


def _assignee(row: Row) -> Assignee:
    return Assignee(row["id"], row["name"], bool(row["is_active"]), label=row["name"])
