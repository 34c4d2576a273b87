"""The audit log: who did what, when and from where, written in the transaction of the action."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor, Caller
from sealdesk.db.column_lists import id_parameters, insert_into
from sealdesk.db.engine import Row, Tx

_INSERT = insert_into(
    "audit",
    "tenant_id id action actor_kind actor_id actor_name address object_id details created_at",
)
_LIST = """
SELECT a.id, a.action, a.actor_kind, a.actor_id, a.actor_name, a.address, a.object_id, a.details,
    a.created_at
FROM audit a WHERE a.tenant_id = :tenant_id AND a.id < :before AND a.id >= :since
    AND (CAST(:actor_id AS TEXT) IS NULL OR a.actor_id = :actor_id)
    AND (CAST(:action AS TEXT) IS NULL OR a.action = :action)
    AND (CAST(:object_id AS TEXT) IS NULL OR a.object_id = :object_id)
ORDER BY a.id DESC LIMIT :limit
"""
# What people call the objects whose ids are in details, by table.
_NAMES = {
    "users": "name",
    "teams": "name",
    "mailboxes": "address",
    "customers": "COALESCE(name, email)",
    "tickets": "'#' || number",
}


async def record(
    tx: Tx,
    caller: Caller,
    action: str,
    object_id: str | None,
    details: Mapping[str, Any],
    now_us: int,
) -> None:
    """Add an action of a caller to the audit log of its tenant.

    action: a dotted name, as in `api_key.revoked`. details: never a secret.
    """
    await tx.execute_one(
        _INSERT,
        {
            "tenant_id": caller.tenant_id,
            "id": ids.mint(now_us),
            "action": action,
            "actor_kind": caller.actor.kind,
            "actor_id": caller.actor.id,
            "actor_name": caller.actor.name,
            "address": caller.address,
            "object_id": object_id,
            "details": msgspec.json.encode(details).decode(),
            "created_at": now_us,
        },
    )


class AuditQuery(msgspec.Struct, frozen=True):
    """Filters of the audit log.

    before, since: ids, or `ids.lowest` of an instant. actor_id: "" for the system's own actions.
    """

    limit: int
    before: str
    since: str = ids.NONE
    actor_id: str | None = None
    action: str | None = None
    object_id: str | None = None

    def is_served(self) -> bool:
        """Whether the primary key is an index for this query."""
        return all(each is None for each in (self.actor_id, self.action, self.object_id))


class StoredAuditEntry(msgspec.Struct, frozen=True):
    """An entry of the audit log."""

    id: str
    action: str
    actor: Actor
    address: str
    object_id: str | None
    details: dict[str, Any]
    created_at: clock.Iso


async def list_entries(tx: Tx, tenant_id: str, query: AuditQuery) -> list[StoredAuditEntry]:
    """The matching entries of a tenant, newest first. Use `read_unindexed` unless the
    query `is_served`."""
    params = {"tenant_id": tenant_id, **msgspec.structs.asdict(query)}
    return [_entry(row) for row in await tx.fetch_all(_LIST, params)]


async def list_names(tx: Tx, tenant_id: str, object_ids: Collection[str]) -> dict[str, str]:
    """The names of users, teams, mailboxes, customers and tickets, by those ids that exist."""
    keys, params = id_parameters(object_ids)
    if not keys:
        return {}
    params |= {"tenant_id": tenant_id, "limit": len(object_ids)}
    sql = " UNION ALL ".join(
        f"SELECT id, {name} AS name FROM {table} WHERE tenant_id = :tenant_id AND id IN ({keys})"
        for table, name in _NAMES.items()
    )
    found = await tx.fetch_all(f"{sql} ORDER BY id LIMIT :limit", params)
    return {row["id"]: row["name"] for row in found}


def _entry(row: Row) -> StoredAuditEntry:
    return StoredAuditEntry(
        id=row["id"],
        action=row["action"],
        actor=Actor(row["actor_kind"], row["actor_id"], row["actor_name"]),
        address=row["address"],
        object_id=row["object_id"],
        details=msgspec.json.decode(row["details"]),
        created_at=clock.iso(row["created_at"]),
    )
