"""The SQL of received messages and of blocked senders."""

from collections.abc import Sequence

import msgspec

from sealdesk import ids
from sealdesk.db.column_lists import column_list, parameter_list
from sealdesk.db.engine import Row, Tx
from sealdesk.mail.receiving.types import Effect, Outcome, ReceivedMessage
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.types import Reply

_STORED = ReceivedMessage.__struct_fields__
_COLUMNS = column_list(_STORED, "m")
_ADD = f"""
INSERT INTO received_messages ({column_list(_STORED)}) VALUES ({parameter_list(_STORED)})
ON CONFLICT (tenant_id, mailbox_id, message_key) DO NOTHING
"""
_FIND = f"""
SELECT {_COLUMNS} FROM received_messages m WHERE m.tenant_id = :tenant_id AND m.id = :id LIMIT 1
"""
_FIND_BY_KEY = f"""
SELECT {_COLUMNS} FROM received_messages m WHERE m.tenant_id = :tenant_id
AND m.mailbox_id = :mailbox_id AND m.message_key = :message_key LIMIT 1
"""
_LIST = f"""
SELECT {_COLUMNS} FROM received_messages m
WHERE m.tenant_id = :tenant_id AND m.outcome = :outcome AND m.id < :before
ORDER BY m.id DESC LIMIT :limit
"""
_LIST_KEPT = f"""
SELECT {_COLUMNS} FROM received_messages m
WHERE m.tenant_id = :tenant_id AND m.id > :after AND m.raw_until IS NOT NULL
ORDER BY m.id LIMIT :limit
"""
_FINISH = """
UPDATE received_messages SET outcome = :outcome, reason = :reason, ticket_id = :ticket_id,
    reply_id = :reply_id
WHERE tenant_id = :tenant_id AND id = :id AND outcome = :before
"""
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
_FIND_BLOCK = """
SELECT b.pattern FROM mail_blocks b
WHERE b.tenant_id = :tenant_id AND b.pattern = :pattern LIMIT :limit
"""
_IS_MAILBOX = """
SELECT address_identity, tenant_id FROM mailbox_directory
WHERE address_identity = :address_identity LIMIT :limit
"""
_REPLACE_TEXT = """
UPDATE replies SET body = :body
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :id
"""
_PRUNE_LIST = f"""
SELECT {_COLUMNS} FROM received_messages m WHERE m.raw_until <= :now
ORDER BY m.raw_until, m.tenant_id, m.id LIMIT :limit
"""
_PRUNE_RAW = """
UPDATE received_messages SET raw_until = NULL WHERE tenant_id = :tenant_id AND id = :id
"""
_NEWEST = "~"  # sorts behind every id


async def add(tx: Tx, message: ReceivedMessage) -> bool:
    """Store a message that is being taken; False if it was taken before."""
    return await tx.execute(_ADD, msgspec.structs.asdict(message)) == 1


async def find(tx: Tx, tenant_id: str, message_id: str) -> ReceivedMessage | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": message_id})
    return None if row is None else _message(row)


async def find_by_key(
    tx: Tx, tenant_id: str, mailbox_id: str, message_key: str
) -> ReceivedMessage | None:
    params = {"tenant_id": tenant_id, "mailbox_id": mailbox_id, "message_key": message_key}
    row = await tx.fetch_one(_FIND_BY_KEY, params)
    return None if row is None else _message(row)


async def list_messages(
    tx: Tx, tenant_id: str, outcome: Outcome, page: PageRequest
) -> list[ReceivedMessage]:
    """Newest first; one more than the page when there are more."""
    params = {
        "tenant_id": tenant_id,
        "outcome": outcome,
        "before": page.after[0] if page.after else _NEWEST,
        "limit": page.per_page + 1,
    }
    return [_message(row) for row in await tx.fetch_all(_LIST, params)]


async def list_kept(tx: Tx, tenant_id: str, after: str, limit: int) -> list[ReceivedMessage]:
    """Messages whose raw message is kept, oldest first."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [_message(row) for row in await tx.fetch_all(_LIST_KEPT, params)]


async def finish(tx: Tx, message: ReceivedMessage, effect: Effect) -> None:
    """Store the effect of a message."""
    params = {"tenant_id": message.tenant_id, "id": message.id, "before": message.outcome}
    await tx.execute_one(_FINISH, params | effect._asdict())


async def count_new_tickets(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int, limit: int
) -> int:
    """How many tickets messages of a sender have opened since then, at most the limit."""
    params = {
        "tenant_id": tenant_id,
        "from_identity": from_identity,
        "stored_since": since_us,
        "limit": limit,
    }
    row = await tx.fetch_one(_COUNT_NEW, params)
    return int(row["number"]) if row else 0


async def count_replies(
    tx: Tx, tenant_id: str, from_identity: str, since_us: int, limit: int
) -> int:
    """How many messages of a sender were added to tickets since then, at most the limit."""
    params = {
        "tenant_id": tenant_id,
        "from_identity": from_identity,
        "stored_since": since_us,
        "limit": limit,
    }
    row = await tx.fetch_one(_COUNT_REPLIES, params)
    return int(row["number"]) if row else 0


async def count_replies_to(
    tx: Tx, tenant_id: str, ticket_id: str, since_us: int, limit: int
) -> int:
    """How many messages were added to a ticket since then, at most the limit."""
    params = {
        "tenant_id": tenant_id,
        "ticket_id": ticket_id,
        "low": ids.lowest(since_us),
        "limit": limit,
    }
    row = await tx.fetch_one(_COUNT_REPLIES_TO, params)
    return int(row["number"]) if row else 0


async def find_block(tx: Tx, tenant_id: str, patterns: tuple[str, str]) -> str | None:
    """The pattern that blocks a sender: their address, or @ and their domain."""
    many = [{"tenant_id": tenant_id, "pattern": each, "limit": 1} for each in patterns]
    found = await tx.fetch_for_each(_FIND_BLOCK, many)
    return next((str(rows[0]["pattern"]) for rows in found if rows), None)


async def find_mailboxes(tx: Tx, identities: Sequence[str]) -> dict[str, str]:
    """Those of these addresses that belong to a mailbox, and its tenant, of any."""
    many = [{"address_identity": each, "limit": 1} for each in identities]
    found = await tx.fetch_for_each(_IS_MAILBOX, many) if many else []
    return {row["address_identity"]: row["tenant_id"] for rows in found for row in rows}


async def replace_text(tx: Tx, reply: Reply, text: str) -> None:
    """Store another text of a reply, which is what its message says."""
    params = {"tenant_id": reply.tenant_id, "ticket_id": reply.ticket_id, "id": reply.id}
    await tx.execute_one(_REPLACE_TEXT, params | {"body": text})


async def list_expired(tx: Tx, now_us: int, limit: int) -> list[ReceivedMessage]:
    """Messages of all tenants whose raw message is kept no longer."""
    rows = await tx.fetch_all(_PRUNE_LIST, {"now": now_us, "limit": limit})
    return [_message(row) for row in rows]


async def forget_raw(tx: Tx, messages: Sequence[ReceivedMessage]) -> None:
    """Store that the raw messages are deleted."""
    keys = [{"tenant_id": each.tenant_id, "id": each.id} for each in messages]
    await tx.execute_many(_PRUNE_RAW, keys)


def _message(row: Row) -> ReceivedMessage:
    return ReceivedMessage(**{name: row[name] for name in _STORED})
