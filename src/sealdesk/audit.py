"""The audit: who did what, when and from where, written in the transaction of the deed."""

from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Tx

_INSERT = """
INSERT INTO audit (tenant_id, id, action, actor_kind, actor_id, actor_name, address, object_id,
                   details, created_at)
VALUES (:tenant_id, :id, :action, :actor_kind, :actor_id, :actor_name, :address, :object_id,
        :details, :created_at)
"""


class Deed(msgspec.Struct, frozen=True):
    """Something worth remembering.

    action: a dotted name, as in `api_key.revoked`. details: what else matters, never a secret.
    """

    action: str
    actor: Actor
    address: str
    object_id: str | None = None
    details: dict[str, Any] = {}


async def record(tx: Tx, tenant_id: str, deed: Deed, now_us: int) -> None:
    """Note a deed in the tenant's audit."""
    await tx.put(
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
