"""The SQL of what became of messages, run by the worker and by the receiver."""

import msgspec

from sealdesk.db.column_lists import column_list, parameter_list
from sealdesk.db.engine import Tx
from sealdesk.mail.sending.rules import MAX_ACKNOWLEDGED
from sealdesk.mail.sending.types import Outcome, OutgoingMessage

_STORED = OutgoingMessage.__struct_fields__
_MAX_RECIPIENTS = 100
_FIND_SENT = f"""
SELECT {column_list(_STORED)} FROM outgoing_messages
WHERE tenant_id = :tenant_id AND message_id = :message_id ORDER BY id LIMIT :limit
"""
_ADD = f"""
INSERT INTO outgoing_messages ({column_list(_STORED)}) VALUES ({parameter_list(_STORED)})
ON CONFLICT (tenant_id, about_id, address) DO NOTHING
"""
_LIST_ACKNOWLEDGED = """
SELECT o.created_at FROM received_messages m
JOIN outgoing_messages o ON o.tenant_id = :tenant_id AND o.about_id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND m.from_identity = :from_identity
    AND m.received_at > :stored_since AND m.outcome = :outcome AND o.kind = :kind
ORDER BY m.received_at DESC, m.id DESC, o.id LIMIT :limit
"""
# Without its lease, an attempt that is under way stores no result.
_BOUNCE = """
UPDATE outgoing_messages SET state = :state, reason = :reason, due_at = NULL, leased_until = NULL,
    finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id AND state IN ('queued', 'sent')
"""
_LIST_STATES = """
SELECT state, reason FROM outgoing_messages
WHERE tenant_id = :tenant_id AND about_id = :about_id ORDER BY id LIMIT :limit
"""
_SET_DELIVERY = """
UPDATE replies SET delivery = :delivery, delivery_reason = :delivery_reason,
    delivery_at = :delivery_at
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :id
    AND (delivery IS NULL OR delivery <> :delivery
        OR COALESCE(delivery_reason, '') <> COALESCE(:delivery_reason, ''))
"""


async def add(tx: Tx, message: OutgoingMessage) -> None:
    """Queue a message unless it is there."""
    await tx.execute(_ADD, msgspec.structs.asdict(message))


async def list_acknowledged(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int
) -> list[int]:  # fmt: skip
    """When tickets of an address were acknowledged since then."""
    params = {
        "tenant_id": tenant_id,
        "from_identity": from_identity,
        "stored_since": since_us,
        "outcome": "ticket",
        "kind": "acknowledgement",
        "limit": MAX_ACKNOWLEDGED,
    }
    return [int(row["created_at"]) for row in await tx.fetch_all(_LIST_ACKNOWLEDGED, params)]


async def find_sent(tx: Tx, tenant_id: str, message_id: str) -> OutgoingMessage | None:
    """The message of a tenant with this Message-ID, which has angle brackets."""
    params = {"tenant_id": tenant_id, "message_id": message_id, "limit": 1}
    row = await tx.fetch_one(_FIND_SENT, params)
    if row is None:
        return None
    values = {name: row[name] for name in _STORED}
    return OutgoingMessage(**values | {"ticket_id": values["ticket_id"] or ""})


async def bounce(tx: Tx, message: OutgoingMessage, reason: str, now_us: int) -> bool:
    """Store that a message came back; False if it is known that it was not delivered."""
    params = {
        "tenant_id": message.tenant_id,
        "id": message.id,
        "state": "bounced",
        "reason": reason,
        "finished_at": now_us,
    }
    return await tx.execute(_BOUNCE, params) == 1


async def list_outcomes(tx: Tx, message: OutgoingMessage) -> list[Outcome]:
    """Of all messages with the same reply."""
    params = {
        "tenant_id": message.tenant_id,
        "about_id": message.about_id,
        "limit": _MAX_RECIPIENTS,
    }
    return [Outcome(*row) for row in await tx.fetch_all(_LIST_STATES, params)]


async def set_delivery(tx: Tx, message: OutgoingMessage, outcome: Outcome, now_us: int) -> bool:
    """Store the state of a reply's messages with the reply; whether it has changed."""
    params = {
        "tenant_id": message.tenant_id,
        "ticket_id": message.ticket_id,
        "id": message.about_id,
        "delivery": outcome.state,
        "delivery_reason": outcome.reason,
        "delivery_at": now_us,
    }
    return await tx.execute(_SET_DELIVERY, params) == 1
