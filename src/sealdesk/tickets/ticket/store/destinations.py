"""The SQL of what a desk is connected to: API keys, webhook endpoints and e-mail."""

from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.resources.addresses import is_read

_MAX_ENDPOINTS = 50  # as many as a tenant may have (webhooks.rules)
_MAX_RECIPIENTS = 50  # as many as a ticket may have (mail.threads.types)
_FIND_VALID = """
SELECT id FROM api_keys WHERE tenant_id = :tenant_id AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :valid_at) ORDER BY id LIMIT :limit
"""
_LIST = """
SELECT id, url, description, events FROM endpoints
WHERE tenant_id = :tenant_id AND is_active AND deleted_at IS NULL ORDER BY id LIMIT :limit
"""
_LIST_RECIPIENTS = """
SELECT p.address FROM ticket_participants p
JOIN mailboxes m ON m.tenant_id = :tenant_id AND m.id = p.mailbox_id
WHERE p.tenant_id = :tenant_id AND p.ticket_id = :ticket_id
    AND m.smtp_host IS NOT NULL AND m.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM mailboxes o WHERE o.tenant_id = :tenant_id
        AND o.address_identity = p.address_identity AND o.deleted_at IS NULL)
ORDER BY p.created_at, p.address_identity LIMIT :limit
"""
_LIST_PARTICIPANTS = """
SELECT p.address FROM ticket_participants p
WHERE p.tenant_id = :tenant_id AND p.ticket_id = :ticket_id AND NOT EXISTS (
    SELECT 1 FROM mailboxes m WHERE m.tenant_id = :tenant_id
        AND m.address_identity = p.address_identity AND m.deleted_at IS NULL)
ORDER BY p.address_identity LIMIT :limit
"""
_SENDS = """
SELECT id FROM mailboxes
WHERE tenant_id = :tenant_id AND smtp_host IS NOT NULL AND deleted_at IS NULL LIMIT :limit
"""
_FIND_ACKNOWLEDGEMENT = """
SELECT address, state, reason FROM outgoing_messages
WHERE tenant_id = :tenant_id AND about_id = :about_id AND kind = :kind
ORDER BY id LIMIT :limit
"""


class Acknowledgement(NamedTuple):
    """The automatic answer to the message that opened a ticket. state, reason: of the message."""

    address: str
    state: str
    reason: str | None


class Destination(NamedTuple):
    """An endpoint that receives replies. description: None if it has none."""

    url: str
    description: str | None


async def has_key(tx: Tx, tenant_id: str, now_us: int) -> bool:
    """Whether the tenant has a key that is neither revoked nor expired."""
    params = {"tenant_id": tenant_id, "valid_at": now_us, "limit": 1}
    return await tx.fetch_one(_FIND_VALID, params) is not None


async def list_destinations(tx: Tx, tenant_id: str) -> list[Destination]:
    """The oldest active endpoints that receive the event of a new reply."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": _MAX_ENDPOINTS})
    return [
        Destination(row["url"], row["description"])
        for row in rows
        if "reply.created" in msgspec.json.decode(row["events"])
    ]


async def list_recipients(tx: Tx, tenant_id: str, ticket_id: str) -> list[str]:
    """The addresses that public replies of a ticket are sent to by e-mail."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MAX_RECIPIENTS}
    rows = await tx.fetch_all(_LIST_RECIPIENTS, params)
    return [row["address"] for row in rows if is_read(row["address"])]


async def list_participants(tx: Tx, tenant_id: str, ticket_id: str) -> list[str]:
    """The addresses of a ticket's participants, without those of the desk's own mailboxes."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MAX_RECIPIENTS}
    return [row["address"] for row in await tx.fetch_all(_LIST_PARTICIPANTS, params)]


async def sends(tx: Tx, tenant_id: str) -> bool:
    """Whether a mailbox of the tenant sends."""
    return await tx.fetch_one(_SENDS, {"tenant_id": tenant_id, "limit": 1}) is not None


async def find_acknowledgement(tx: Tx, tenant_id: str, ticket_id: str) -> Acknowledgement | None:
    """The acknowledgement of a ticket, None if it got none."""
    params = {"tenant_id": tenant_id, "about_id": ticket_id, "kind": "acknowledgement", "limit": 1}
    row = await tx.fetch_one(_FIND_ACKNOWLEDGEMENT, params)
    return None if row is None else Acknowledgement(*row)
