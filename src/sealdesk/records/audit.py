"""The audit: who did what, when and from where, written in the transaction of the deed."""

from typing import Any

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Row, Tx

_INSERT = """
INSERT INTO audit (tenant_id, id, action, actor_kind, actor_id, actor_name, address, object_id,
                   details, created_at)
VALUES (:tenant_id, :id, :action, :actor_kind, :actor_id, :actor_name, :address, :object_id,
        :details, :created_at)
"""
_LIST = """
SELECT a.id, a.action, a.actor_kind, a.actor_id, a.actor_name, a.address, a.object_id, a.details,
    a.created_at
FROM audit a WHERE a.tenant_id = :tenant_id AND a.id < :before AND a.id >= :since
    AND (CAST(:actor_id AS TEXT) IS NULL OR a.actor_id = :actor_id)
    AND (CAST(:action AS TEXT) IS NULL OR a.action = :action)
ORDER BY a.id DESC LIMIT :limit
"""


class AuditEntry(msgspec.Struct, frozen=True):
    """Something worth remembering.

    action: a dotted name, as in `api_key.revoked`. details: what else matters, never a secret.
    """

    action: str
    actor: Actor
    address: str
    object_id: str | None = None
    details: dict[str, Any] = {}


async def record(tx: Tx, tenant_id: str, deed: AuditEntry, now_us: int) -> None:
    """Note a deed in the tenant's audit."""
    await tx.execute_one(
        _INSERT,
        {
            "tenant_id": tenant_id,
            "id": ids.mint(now_us),
            "action": deed.action,
            "actor_kind": deed.actor.kind,
            "actor_id": deed.actor.id,
            "actor_name": deed.actor.name,
            "address": deed.address,
            "object_id": deed.object_id,
            "details": msgspec.json.encode(deed.details).decode(),
            "created_at": now_us,
        },
    )


class Wanted(msgspec.Struct, frozen=True):
    """Which part of an audit is asked for, newest first.

    before, since: ids, or the lowest ones of instants. actor_id: "" is what the system did itself.
    """

    limit: int
    before: str
    since: str = ids.NONE
    actor_id: str | None = None
    action: str | None = None

    def is_served(self) -> bool:
        """Whether the primary key alone finds it."""
        return self.actor_id is None and self.action is None


class Found(msgspec.Struct, frozen=True):
    """A deed as it was noted. details: by name, as text."""

    id: str
    action: str
    actor: Actor
    address: str
    object_id: str | None
    details: dict[str, Any]
    created_at: clock.Iso


async def list_deeds(tx: Tx, tenant_id: str, wanted: Wanted) -> list[Found]:
    """What was done in a tenant, newest first; what is not `is_served` is read slowly."""
    params = {"tenant_id": tenant_id, **msgspec.structs.asdict(wanted)}
    return [_found(row) for row in await tx.fetch_all(_LIST, params)]


def _found(row: Row) -> Found:
    return Found(
        id=row["id"],
        action=row["action"],
        actor=Actor(row["actor_kind"], row["actor_id"], row["actor_name"]),
        address=row["address"],
        object_id=row["object_id"],
        details=msgspec.json.decode(row["details"]),
        created_at=clock.iso(row["created_at"]),
    )
