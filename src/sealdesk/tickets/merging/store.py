"""The SQL of merges, and of replies that move between tickets."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sealdesk.crypto.reply_codes import new_reply_code
from sealdesk.db.column_lists import column_list, delete_row, insert_into, insert_once, select_row
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.tickets.merging.types import Conversation, StoredMerge
from sealdesk.tickets.ticket.documents import decode_attachments

_ROWS = StructRows(StoredMerge)
_ADD = insert_into("ticket_merges", _ROWS.columns)
_FIND = select_row("ticket_merges", column_list(_ROWS.columns), "tenant_id source_id")
_LIST_REPLIES = """
SELECT id, is_internal, attachments FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id > :after ORDER BY id LIMIT :limit
"""
_LAST_MESSAGE = """
SELECT substr(body, 1, 1000) AS body, created_at, is_internal FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id ORDER BY id DESC LIMIT 1
"""
_LAST_PUBLIC = """
SELECT author_type, created_at FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND is_internal = :is_internal
ORDER BY id DESC LIMIT :limit
"""
_MOVE = """
UPDATE replies SET ticket_id = :to_id
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :id
"""
_MOVE_MESSAGE = """
UPDATE outgoing_messages SET ticket_id = :to_id
WHERE tenant_id = :tenant_id AND about_id = :about_id
"""
_LIST_PARTICIPANTS = """
SELECT address_identity, address, mailbox_id, name FROM ticket_participants
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id ORDER BY address_identity LIMIT :limit
"""
_ADD_PARTICIPANT = insert_once(
    "ticket_participants",
    "tenant_id ticket_id address_identity",
    "tenant_id ticket_id address_identity address token mailbox_id name created_at",
)
_DELETE_PARTICIPANT = delete_row(
    "ticket_participants", "tenant_id ticket_id address_identity created_at"
)
_MAX_PARTICIPANTS = 50  # as many as a ticket may have (mail.threads.types)
_DELETE_REPLY = delete_row("replies", "tenant_id ticket_id id")
_DELETE = delete_row("ticket_merges", "tenant_id source_id")


class MovingReplies(NamedTuple):
    """The ids of replies and notes, and how many of them are public replies.

    attached: attachment → the reply that refers to it.
    """

    ids: Sequence[str]
    public_count: int
    attached: Mapping[str, str]


async def add(tx: Tx, merge: StoredMerge) -> None:
    await tx.execute_one(_ADD, _ROWS.params(merge))


async def find(tx: Tx, tenant_id: str, source_id: str) -> StoredMerge | None:
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "source_id": source_id})


async def delete(tx: Tx, tenant_id: str, source_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "source_id": source_id})


async def list_replies(
    tx: Tx, tenant_id: str, ticket_id: str, after: str, last: str | None, limit: int
) -> MovingReplies:
    """The replies and notes of a ticket after one of them, or all after "", up to `last`."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "after": after, "limit": limit}
    rows = await tx.fetch_all(_LIST_REPLIES, params)
    if last is not None:
        rows = [row for row in rows if row["id"] <= last]
    public_count = sum(not row["is_internal"] for row in rows)
    attached = {
        each.id: row["id"] for row in rows for each in decode_attachments(row["attachments"])
    }
    return MovingReplies([row["id"] for row in rows], public_count, attached)


async def read_conversation(tx: Tx, tenant_id: str, ticket_id: str, limit: int) -> Conversation:
    """limit: of the public replies that are read, the newest ones."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    last = await tx.fetch_one(_LAST_MESSAGE, params)
    public = {"is_internal": False, "limit": limit}
    rows = await tx.fetch_all(_LAST_PUBLIC, params | public)
    return Conversation(
        last_message_at=last["created_at"] if last else None,
        text=last["body"] if last else "",
        ends_in_note=bool(last and last["is_internal"]),
        public_replies=[(row["author_type"], row["created_at"]) for row in rows],
    )


async def move_replies(
    tx: Tx, tenant_id: str, from_id: str, to_id: str, reply_ids: Sequence[str]
) -> None:
    """Move replies and notes to another ticket, with their e-mails.

    Those that are no longer there stay away.
    """
    one = {"tenant_id": tenant_id, "ticket_id": from_id, "to_id": to_id}
    await tx.execute_many(_MOVE, [{**one, "id": reply_id} for reply_id in reply_ids])
    moved = {"tenant_id": tenant_id, "to_id": to_id}
    await tx.execute_many(_MOVE_MESSAGE, [{**moved, "about_id": each} for each in reply_ids])


async def copy_participants(tx: Tx, tenant_id: str, from_id: str, to_id: str, now_us: int) -> None:
    """Let those who get the replies of a ticket by e-mail get those of another one too."""
    listed = await _list_participants(tx, tenant_id, from_id)
    known = await _list_participants(tx, tenant_id, to_id)
    added = {"tenant_id": tenant_id, "ticket_id": to_id, "created_at": now_us}
    rows = [
        {**dict(row), **added, "token": new_reply_code()}
        for row in listed[: max(0, _MAX_PARTICIPANTS - len(known))]
    ]
    await tx.execute_many(_ADD_PARTICIPANT, rows)


async def take_participants_back(
    tx: Tx, tenant_id: str, from_id: str, to_id: str, copied_at: int
) -> None:
    """Undo `copy_participants`, which was called at that time."""
    listed = await _list_participants(tx, tenant_id, from_id)
    key = {"tenant_id": tenant_id, "ticket_id": to_id, "created_at": copied_at}
    rows = [{**key, "address_identity": row["address_identity"]} for row in listed]
    await tx.execute_many(_DELETE_PARTICIPANT, rows)


async def _list_participants(tx: Tx, tenant_id: str, ticket_id: str) -> Sequence[Row]:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MAX_PARTICIPANTS}
    return await tx.fetch_all(_LIST_PARTICIPANTS, params)


async def delete_reply(tx: Tx, tenant_id: str, ticket_id: str, reply_id: str) -> bool:
    """Whether the reply was there."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "id": reply_id}
    return await tx.execute(_DELETE_REPLY, params) == 1
