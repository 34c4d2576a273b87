"""The SQL of what pages of tickets show of e-mail."""

from typing import NamedTuple

from sealdesk.db.engine import Row, Tx

_COUNT = """
SELECT count(*) AS number FROM (SELECT 1 FROM received_messages m
    WHERE m.tenant_id = :tenant_id AND m.outcome = :outcome AND m.id >= :since LIMIT :limit)
AS found
"""
_MOST = 100
_LIST = """
SELECT m.id, m.reply_id, m.from_identity, m.reason_code, m.raw_until, b.address
FROM received_messages m JOIN mailboxes b ON b.tenant_id = :tenant_id AND b.id = m.mailbox_id
WHERE m.tenant_id = :tenant_id AND m.ticket_id = :ticket_id ORDER BY m.id DESC LIMIT :limit
"""
_MOST_MESSAGES = 200
_HAS_MAILBOX = """
SELECT id FROM mailboxes WHERE tenant_id = :tenant_id AND deleted_at IS NULL LIMIT :limit
"""


class Origin(NamedTuple):
    """The e-mail that a ticket or a reply came by.

    mailbox: its address. sender: their address in lower case. is_kept: whether the raw message can
    be downloaded. is_undecided: whether the sender is no participant, and nobody has decided.
    """

    message_id: str
    mailbox: str
    sender: str
    is_kept: bool
    is_undecided: bool


async def count_waiting(tx: Tx, tenant_id: str, since: str) -> dict[str, int]:
    """How many received messages wait, by their outcome: at most 100 of each. since: an id."""
    outcomes = ("held", "spam", "blocked")
    params = {"tenant_id": tenant_id, "since": since, "limit": _MOST}
    found = await tx.fetch_for_each(_COUNT, [{**params, "outcome": each} for each in outcomes])
    return {each: rows[0]["number"] for each, rows in zip(outcomes, found, strict=True)}


async def list_origins(tx: Tx, tenant_id: str, ticket_id: str, now_us: int) -> dict[str, Origin]:
    """The newest e-mails of a ticket, by the id of the reply; that of the ticket itself by ""."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MOST_MESSAGES}
    rows = await tx.fetch_all(_LIST, params)
    return {row["reply_id"] or "": _origin(row, now_us) for row in rows}


async def has_mailbox(tx: Tx, tenant_id: str) -> bool:
    return await tx.fetch_one(_HAS_MAILBOX, {"tenant_id": tenant_id, "limit": 1}) is not None


def _origin(row: Row, now_us: int) -> Origin:
    is_kept = row["raw_until"] is not None and row["raw_until"] > now_us
    is_undecided = row["reason_code"] == "stranger"
    return Origin(row["id"], row["address"], row["from_identity"], is_kept, is_undecided)
