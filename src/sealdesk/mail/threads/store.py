"""The SQL of participants of tickets, and of the Message-IDs of their messages."""

from collections.abc import Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_once, select_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.mail.threads.rules import message_hash
from sealdesk.mail.threads.types import MAX_PARTICIPANTS, Participant
from sealdesk.resources.addresses import is_read

_ROWS = StructRows(Participant)
_COLUMNS = column_list(_ROWS.columns, "p")
_ADD = insert_once("ticket_participants", "tenant_id ticket_id address_identity", _ROWS.columns)
_LIST = f"""
SELECT {_COLUMNS} FROM ticket_participants p
WHERE p.tenant_id = :tenant_id AND p.ticket_id = :ticket_id ORDER BY p.address_identity LIMIT :limit
"""
# Without those that are mailboxes of the desk by now.
_LIST_RECIPIENTS = f"""
SELECT {_COLUMNS} FROM ticket_participants p
WHERE p.tenant_id = :tenant_id AND p.ticket_id = :ticket_id AND NOT EXISTS (
    SELECT 1 FROM mailboxes m WHERE m.tenant_id = :tenant_id
        AND m.address_identity = p.address_identity AND m.deleted_at IS NULL)
ORDER BY p.address_identity LIMIT :limit
"""
_FIND = select_row("ticket_participants p", _COLUMNS, "tenant_id ticket_id address_identity")
_REMOVE = delete_row("ticket_participants", "tenant_id ticket_id address_identity")
_FIND_BY_TOKEN = select_row("ticket_participants p", _COLUMNS, "tenant_id token")
_REMEMBER = insert_once(
    "ticket_message_ids", "tenant_id message_hash", "tenant_id message_hash ticket_id"
)
_FIND_TICKET = """
SELECT ticket_id FROM ticket_message_ids
WHERE tenant_id = :tenant_id AND message_hash = :message_hash LIMIT :limit
"""
_FIND_DESK_URL = """
SELECT base_url, path_name FROM contact_forms
WHERE tenant_id = :tenant_id AND has_ticket_pages LIMIT :limit
"""


async def add_participant(tx: Tx, participant: Participant) -> None:
    """Add a participant, unless the ticket has them already.

    Whoever calls it keeps to MAX_PARTICIPANTS.
    """
    await tx.enqueue(_ADD, _ROWS.params(participant))


async def list_participants(tx: Tx, tenant_id: str, ticket_id: str) -> list[Participant]:
    """All participants of a ticket, by address."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_PARTICIPANTS}
    return [_ROWS.read(row) for row in await tx.fetch_all(_LIST, params)]


async def list_recipients(tx: Tx, tenant_id: str, ticket_id: str) -> list[Participant]:
    """Who gets the public replies of a ticket, by address: answers never go to the desk itself."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_PARTICIPANTS}
    found = [_ROWS.read(row) for row in await tx.fetch_all(_LIST_RECIPIENTS, params)]
    return [each for each in found if is_read(each.address)]


async def find_participant(
    tx: Tx, tenant_id: str, ticket_id: str, address_identity: str
) -> Participant | None:
    params = {
        "tenant_id": tenant_id,
        "ticket_id": ticket_id,
        "address_identity": address_identity,
    }
    return await _ROWS.find(tx, _FIND, params)


async def remove_participant(tx: Tx, participant: Participant) -> None:
    """Remove a participant, whose reply address then finds nothing."""
    params = {
        "tenant_id": participant.tenant_id,
        "ticket_id": participant.ticket_id,
        "address_identity": participant.address_identity,
    }
    await tx.execute(_REMOVE, params)


async def find_by_token(tx: Tx, tenant_id: str, token: str) -> Participant | None:
    return await _ROWS.find(tx, _FIND_BY_TOKEN, {"tenant_id": tenant_id, "token": token})


async def remember_message(tx: Tx, tenant_id: str, message_id: str, ticket_id: str) -> None:
    """Store that a message belongs to a ticket; the first ticket of a Message-ID stays."""
    params = {
        "tenant_id": tenant_id,
        "message_hash": message_hash(message_id),
        "ticket_id": ticket_id,
    }
    await tx.enqueue(_REMEMBER, params)


async def find_ticket_id(tx: Tx, tenant_id: str, message_ids: Sequence[str]) -> str | None:
    """The ticket of the first of these Message-IDs that belongs to one of this tenant."""
    many = [
        {"tenant_id": tenant_id, "message_hash": message_hash(each), "limit": 1}
        for each in message_ids
    ]
    found = await tx.fetch_for_each(_FIND_TICKET, many) if many else []
    return next((str(rows[0]["ticket_id"]) for rows in found if rows), None)


async def find_desk_url(tx: Tx, tenant_id: str) -> str | None:
    """What the links to the pages of tickets begin with; None if the desk has no such pages."""
    row = await tx.fetch_one(_FIND_DESK_URL, {"tenant_id": tenant_id, "limit": 1})
    return None if row is None else f"{row['base_url']}/{row['path_name']}"
