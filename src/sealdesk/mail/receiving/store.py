"""The SQL of received messages."""

from collections.abc import Sequence

from sealdesk import ids
from sealdesk.db.column_lists import column_list, insert_once, select_row, update_row
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.mail.receiving.types import Effect, ReceivedMessage, Waiting
from sealdesk.tickets.ticket.types import Reply

MESSAGES = StructRows(ReceivedMessage)
_COLUMNS = column_list(MESSAGES.columns, "m")
_ADD = insert_once("received_messages", "tenant_id mailbox_id message_key", MESSAGES.columns)
_FIND = select_row("received_messages m", _COLUMNS)
_FIND_BY_KEY = select_row("received_messages m", _COLUMNS, "tenant_id mailbox_id message_key")
_LIST_RECENT = f"""
SELECT {_COLUMNS} FROM received_messages m WHERE m.tenant_id = :tenant_id
AND m.from_identity = :from_identity AND m.received_at > :stored_since
AND (m.subject = :subject OR m.message_key = :message_key) AND m.ticket_id IS NOT NULL
ORDER BY m.received_at DESC, m.id DESC LIMIT :limit
"""
_LIST_KEPT = f"""
SELECT {_COLUMNS} FROM received_messages m
WHERE m.tenant_id = :tenant_id AND m.id > :after AND m.raw_until IS NOT NULL
ORDER BY m.id LIMIT :limit
"""
_FINISH = f"{update_row('received_messages', Effect._fields)} AND outcome = :before"
_COUNT_NEW = """
SELECT count(*) AS number FROM (SELECT 1 FROM received_messages m WHERE m.tenant_id = :tenant_id
    AND m.from_identity = :from_identity AND m.received_at > :stored_since AND m.outcome = 'ticket'
    LIMIT :limit) AS found
"""
_COUNT_REPLIES = """
SELECT count(*) AS number FROM (SELECT 1 FROM received_messages m WHERE m.tenant_id = :tenant_id
    AND m.from_identity = :from_identity AND m.received_at > :stored_since
    AND m.outcome IN ('reply', 'note') LIMIT :limit) AS found
"""
_COUNT_REPLIES_TO = """
SELECT count(*) AS number FROM (SELECT 1 FROM received_messages m WHERE m.tenant_id = :tenant_id
    AND m.ticket_id = :ticket_id AND m.id >= :low
    AND m.outcome IN ('reply', 'note') LIMIT :limit) AS found
"""
# Those that are kept no longer are older, or have no raw message.
_SUM_WAITING = """
SELECT count(*) AS number, coalesce(sum(found.size_bytes), 0) AS size_bytes FROM (
    SELECT m.size_bytes FROM received_messages m WHERE m.tenant_id = :tenant_id
    AND m.outcome IN ('held', 'spam', 'blocked') AND m.id >= :low AND m.raw_until IS NOT NULL
    LIMIT :limit) AS found
"""
_SUM_WAITING_OF = """
SELECT count(*) AS number, coalesce(sum(found.size_bytes), 0) AS size_bytes FROM (
    SELECT m.size_bytes FROM received_messages m WHERE m.tenant_id = :tenant_id
    AND m.from_identity = :from_identity AND m.received_at > :stored_since
    AND m.outcome IN ('held', 'spam', 'blocked') AND m.raw_until IS NOT NULL
    LIMIT :limit) AS found
"""
_REPLACE_TEXT = update_row("replies", "body", "tenant_id ticket_id id")
_PRUNE_LIST = f"""
SELECT {_COLUMNS} FROM received_messages m WHERE m.raw_until <= :now
ORDER BY m.raw_until, m.tenant_id, m.id LIMIT :limit
"""
_PRUNE_RAW = """
UPDATE received_messages SET raw_until = NULL WHERE tenant_id = :tenant_id AND id = :id
"""


async def add(tx: Tx, message: ReceivedMessage) -> bool:
    """Store a message that is being taken; False if it was taken before."""
    return await tx.execute(_ADD, MESSAGES.params(message)) == 1


async def find(tx: Tx, tenant_id: str, message_id: str) -> ReceivedMessage | None:
    return await MESSAGES.find(tx, _FIND, {"tenant_id": tenant_id, "id": message_id})


async def find_by_key(
    tx: Tx, tenant_id: str, mailbox_id: str, message_key: str
) -> ReceivedMessage | None:
    params = {"tenant_id": tenant_id, "mailbox_id": mailbox_id, "message_key": message_key}
    return await MESSAGES.find(tx, _FIND_BY_KEY, params)


async def list_recent(
    tx: Tx, like: ReceivedMessage, since_us: int, limit: int
) -> list[ReceivedMessage]:
    """Messages since then of the same sender with the same subject or key, newest first."""
    params = _of_sender(like.tenant_id, like.from_identity, since_us, limit)
    rows = await tx.fetch_all(
        _LIST_RECENT, params | {"subject": like.subject, "message_key": like.message_key}
    )
    return [MESSAGES.read(row) for row in rows]


async def list_kept(tx: Tx, tenant_id: str, after: str, limit: int) -> list[ReceivedMessage]:
    """Messages whose raw message is kept, oldest first."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [MESSAGES.read(row) for row in await tx.fetch_all(_LIST_KEPT, params)]


async def finish(tx: Tx, message: ReceivedMessage, effect: Effect) -> None:
    params = {"tenant_id": message.tenant_id, "id": message.id, "before": message.outcome}
    await tx.execute_one(_FINISH, params | effect._asdict())


async def count_new_tickets(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int, limit: int
) -> int:
    """How many tickets messages of a sender have opened since then, at most the limit."""
    params = _of_sender(tenant_id, from_identity, since_us, limit)
    return _number(await tx.fetch_one(_COUNT_NEW, params))


async def count_replies(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int, limit: int
) -> int:
    """How many messages of a sender were added to tickets since then, at most the limit."""
    params = _of_sender(tenant_id, from_identity, since_us, limit)
    return _number(await tx.fetch_one(_COUNT_REPLIES, params))


async def count_replies_to(
    tx: Tx, tenant_id: str, ticket_id: str, since_us: int, limit: int
) -> int:
    """How many messages were added to a ticket since then, at most the limit."""
    params = {"tenant_id": tenant_id, "low": ids.lowest(since_us), "limit": limit}
    return _number(await tx.fetch_one(_COUNT_REPLIES_TO, params | {"ticket_id": ticket_id}))


async def sum_waiting(tx: Tx, tenant_id: str, since_us: int, limit: int) -> Waiting:
    """What waits of the messages since then, at most so many."""
    params = {"tenant_id": tenant_id, "low": ids.lowest(since_us), "limit": limit}
    return _waiting(await tx.fetch_one(_SUM_WAITING, params))


async def sum_waiting_of(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int, limit: int
) -> Waiting:
    """What waits of a sender's messages since then, at most so many."""
    params = _of_sender(tenant_id, from_identity, since_us, limit)
    return _waiting(await tx.fetch_one(_SUM_WAITING_OF, params))


async def replace_text(tx: Tx, reply: Reply, text: str) -> None:
    """Store another text of a reply, which is what its message says."""
    params = {"tenant_id": reply.tenant_id, "ticket_id": reply.ticket_id, "id": reply.id}
    await tx.execute_one(_REPLACE_TEXT, params | {"body": text})


async def list_expired(tx: Tx, now_us: int, limit: int) -> list[ReceivedMessage]:
    """Messages of all tenants whose raw message is kept no longer."""
    rows = await tx.fetch_all(_PRUNE_LIST, {"now": now_us, "limit": limit})
    return [MESSAGES.read(row) for row in rows]


async def forget_raw(tx: Tx, messages: Sequence[ReceivedMessage]) -> None:
    """Store that the raw messages are deleted."""
    keys = [{"tenant_id": each.tenant_id, "id": each.id} for each in messages]
    await tx.execute_many(_PRUNE_RAW, keys)


def _of_sender(
    tenant_id: str, from_identity: str, since_us: int, limit: int
) -> dict[str, str | int]:
    return {
        "tenant_id": tenant_id,
        "from_identity": from_identity,
        "stored_since": since_us,
        "limit": limit,
    }


def _number(row: Row | None) -> int:
    return int(row["number"]) if row else 0


def _waiting(row: Row | None) -> Waiting:
    return Waiting(int(row["number"]), int(row["size_bytes"])) if row else Waiting(0, 0)
