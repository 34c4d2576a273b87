"""The SQL of outgoing messages and of their results."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, insert_once, select_row
from sealdesk.db.engine import Row, Tx
from sealdesk.mail.sending.rules import MAX_ACKNOWLEDGED, MAX_REFERENCES
from sealdesk.mail.sending.types import DueMailbox, Outcome, OutgoingMessage, SendingMailbox

_STORED = OutgoingMessage.__struct_fields__
_MAX_MAILBOXES = 10_000
_MAX_RECIPIENTS = 100  # of one reply
_LIST_SENDING = """
SELECT tenant_id, id, address, created_at FROM mailboxes
WHERE smtp_host IS NOT NULL AND deleted_at IS NULL ORDER BY tenant_id, id LIMIT :limit
"""
_LIST_SENDING_OF = """
SELECT tenant_id, id, address, created_at FROM mailboxes
WHERE tenant_id = :tenant_id AND smtp_host IS NOT NULL AND deleted_at IS NULL
ORDER BY id LIMIT :limit
"""
_FIND_EVENT = select_row("events", "object")
_ADD = insert_once("outgoing_messages", "tenant_id about_id address", _STORED)
# Goes from mailbox to mailbox in the index, however many messages each has.
LIST_DUE = """
SELECT d.tenant_id, d.id, d.version, d.per_minute, d.is_failing FROM (
    SELECT m.tenant_id, m.id, m.version, m.per_minute, m.problem IS NOT NULL AS is_failing,
        (SELECT min(o.due_at) FROM outgoing_messages o WHERE o.mailbox_id = m.id
            AND o.due_at <= :now AND (o.leased_until IS NULL OR o.leased_until <= :now)) AS due_at
    FROM (
        WITH RECURSIVE pending(mailbox_id) AS (
            SELECT min(mailbox_id) FROM outgoing_messages WHERE due_at IS NOT NULL
            UNION ALL
            SELECT (SELECT min(o.mailbox_id) FROM outgoing_messages o
                WHERE o.mailbox_id > p.mailbox_id AND o.due_at IS NOT NULL)
            FROM pending p WHERE p.mailbox_id IS NOT NULL
        )
        SELECT mailbox_id FROM pending
    ) p JOIN mailboxes m ON m.id = p.mailbox_id
    WHERE m.deleted_at IS NULL AND NOT m.is_paused AND m.smtp_host IS NOT NULL
) d WHERE d.due_at IS NOT NULL ORDER BY d.is_failing, d.due_at, d.id LIMIT :limit
"""
# Over all nodes there is no such walk: one look-up for each mailbox that sends.
_DUE = f"""
SELECT {column_list(_STORED)} FROM outgoing_messages
WHERE tenant_id = :tenant_id AND mailbox_id = :mailbox_id AND due_at <= :now
    AND (leased_until IS NULL OR leased_until <= :now)
ORDER BY due_at, id LIMIT :limit
"""
_LEASE = """
UPDATE outgoing_messages SET leased_until = :until WHERE tenant_id = :tenant_id AND id = :id
"""
_RENEW = f"{_LEASE} AND leased_until = :lease"
_FINISH = """
UPDATE outgoing_messages SET state = :state, reason = :reason, attempt_count = :attempt_count,
    due_at = :due_at, leased_until = NULL, finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id
    AND (leased_until = :lease OR leased_until = :lease_before)
"""
_LIST_CONVERSATION = """
SELECT r.message_key, r.id FROM (SELECT message_key, id FROM received_messages
    WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id ORDER BY id DESC LIMIT :limit) r
UNION ALL
SELECT NULL, p.id FROM (SELECT id FROM replies
    WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id < :about_id
        AND is_internal = false AND author_type <> 'customer' ORDER BY id DESC LIMIT :limit) p
ORDER BY id
"""
_FIND_SENT = f"""
SELECT {column_list(_STORED)} FROM outgoing_messages
WHERE tenant_id = :tenant_id AND message_id = :message_id ORDER BY id LIMIT :limit
"""
_LIST_ACKNOWLEDGED = """
SELECT o.created_at FROM received_messages m
JOIN outgoing_messages o ON o.tenant_id = :tenant_id AND o.about_id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND m.from_identity = :from_identity
    AND m.received_at > :stored_since AND m.outcome = :outcome AND o.kind = :kind
ORDER BY m.received_at DESC, m.id DESC, o.id LIMIT :limit
"""
_FIND_COMPLAINT = """
SELECT id FROM received_messages WHERE tenant_id = :tenant_id AND from_identity = :from_identity
    AND reason_code = 'complaint' ORDER BY id LIMIT :limit
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
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id = :about_id
    AND (delivery IS NULL OR delivery <> :delivery
        OR COALESCE(delivery_reason, '') <> COALESCE(:delivery_reason, ''))
"""
_END_ALL_LEASES = "UPDATE outgoing_messages SET leased_until = NULL WHERE leased_until IS NOT NULL"


async def list_sending(tx: Tx, limit: int = _MAX_MAILBOXES) -> list[SendingMailbox]:
    rows = await tx.fetch_all(_LIST_SENDING, {"limit": limit})
    return [SendingMailbox(*row) for row in rows]


async def list_sending_of(tx: Tx, tenant_id: str) -> list[SendingMailbox]:
    rows = await tx.fetch_all(_LIST_SENDING_OF, {"tenant_id": tenant_id, "limit": _MAX_MAILBOXES})
    return [SendingMailbox(*row) for row in rows]


async def find_event(tx: Tx, tenant_id: str, event_id: str) -> bytes | None:
    """The object of an event, as JSON."""
    row = await tx.fetch_one(_FIND_EVENT, {"tenant_id": tenant_id, "id": event_id})
    return None if row is None else bytes(row["object"])


async def add(tx: Tx, messages: Sequence[OutgoingMessage]) -> None:
    """Add messages that are not there yet."""
    await tx.execute_many(
        _ADD, [_params(each, ticket_id=each.ticket_id or None) for each in messages]
    )


async def list_due_mailboxes(tx: Tx, now_us: int, limit: int) -> list[DueMailbox]:
    """Mailboxes of all tenants with messages that are due."""
    rows = await tx.fetch_all(LIST_DUE, {"now": now_us, "limit": limit})
    return [DueMailbox(*row) for row in rows]


async def lease(
    tx: Tx, mailbox: DueMailbox, now_us: int, until_us: int, limit: int
) -> list[OutgoingMessage]:
    """Take the next messages of a mailbox, which no other process sends before `until_us`."""
    params = {"tenant_id": mailbox.tenant_id, "mailbox_id": mailbox.id, "now": now_us}
    rows = await tx.select_for_update(_DUE, params | {"limit": limit})
    leased = [_message(row) for row in rows]
    await tx.execute_many(_LEASE, [_params(each, until=until_us) for each in leased])
    return leased


async def renew(tx: Tx, messages: Sequence[OutgoingMessage], lease_us: int, until_us: int) -> None:
    """Extend the leases of messages, unless another process has leased them."""
    keys = [_params(each, lease=lease_us, until=until_us) for each in messages]
    await tx.execute_many(_RENEW, keys)


async def finish(
    tx: Tx,
    message: OutgoingMessage,
    leases: tuple[int, int],
    outcome: Outcome,
    *,
    attempt_count: int,
    due_at: int | None,
    now_us: int,
) -> bool:
    """Store the result of an attempt; False when another process has the message now."""
    params = _params(
        message,
        lease=leases[0],
        lease_before=leases[1],
        **outcome._asdict(),
        attempt_count=attempt_count,
        due_at=due_at,
        finished_at=now_us if due_at is None else None,
    )
    return await tx.execute(_FINISH, params) == 1


async def list_acknowledged(tx: Tx, tenant_id: str, from_identity: str, since_us: int) -> list[int]:
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


async def has_complained(tx: Tx, tenant_id: str, identity: str) -> bool:
    """Whether somebody calls a message of the desk spam: programs write no more to them."""
    params = {"tenant_id": tenant_id, "from_identity": identity, "limit": 1}
    return await tx.fetch_one(_FIND_COMPLAINT, params) is not None


async def find_sent(tx: Tx, tenant_id: str, message_id: str) -> OutgoingMessage | None:
    """The message of a tenant with this Message-ID, which has angle brackets."""
    params = {"tenant_id": tenant_id, "message_id": message_id, "limit": 1}
    row = await tx.fetch_one(_FIND_SENT, params)
    return None if row is None else _message(row)


async def bounce(tx: Tx, message: OutgoingMessage, reason: str, now_us: int) -> bool:
    """Store that a message came back; False if it is known that it was not delivered."""
    params = _params(message, state="bounced", reason=reason, finished_at=now_us)
    return await tx.execute(_BOUNCE, params) == 1


async def list_outcomes(tx: Tx, message: OutgoingMessage) -> list[Outcome]:
    """Of all messages with the same reply."""
    params = _params(message, limit=_MAX_RECIPIENTS)
    return [Outcome(*row) for row in await tx.fetch_all(_LIST_STATES, params)]


async def set_delivery(tx: Tx, message: OutgoingMessage, outcome: Outcome, now_us: int) -> bool:
    """Store the state of a reply's messages with the reply; whether it has changed."""
    params = _params(
        message, delivery=outcome.state, delivery_reason=outcome.reason, delivery_at=now_us
    )
    return await tx.execute(_SET_DELIVERY, params) == 1


async def list_conversation(tx: Tx, message: OutgoingMessage) -> list[tuple[str | None, str]]:
    """The newest messages of a ticket before one, oldest first: the key of one that was received,
    or None with the id of a reply.
    """
    params = _params(message, limit=MAX_REFERENCES)
    return [(row[0], row[1]) for row in await tx.fetch_all(_LIST_CONVERSATION, params)]


async def end_all_leases(tx: Tx) -> None:
    await tx.execute(_END_ALL_LEASES, {})


def _params(message: OutgoingMessage, **others: object) -> dict[str, object]:
    return msgspec.structs.asdict(message) | others


def _message(row: Row) -> OutgoingMessage:
    values = {name: row[name] for name in _STORED}
    return OutgoingMessage(**values | {"ticket_id": row["ticket_id"] or ""})
