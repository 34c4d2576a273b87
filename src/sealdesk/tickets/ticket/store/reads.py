"""The SQL of what each user has read: for each ticket, up to the time of which message.

A user has a bounded number of rows. Older ones are deleted, and the row without a ticket says up to
when all other tickets count as read.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.column_lists import insert_or_update, select_row
from sealdesk.db.engine import Tx

MAX_READS = 2000  # of a user; what is older counts as read
_SLACK = 100  # rows above the bound that are deleted at once
_NO_TICKET = ""

_LAST_MESSAGE = select_row("tickets", "last_message_at")
_RECORD = insert_or_update("reads", "tenant_id user_id ticket_id", "seen_at")
_NTH = """
SELECT seen_at FROM reads WHERE tenant_id = :tenant_id AND user_id = :user_id
ORDER BY seen_at DESC LIMIT 1 OFFSET :kept
"""
_DELETE_OLDEST = """
DELETE FROM reads WHERE tenant_id = :tenant_id AND user_id = :user_id AND seen_at <= :seen_at
"""


class Reads(NamedTuple):
    """What a user has read. times: by ticket. until: the time up to which others count as read."""

    times: dict[str, int]
    until: int

    def is_unread(self, ticket_id: str, last_message_at: int | None) -> bool:
        """A ticket without the time, of an earlier version, counts as read."""
        return (last_message_at or 0) > self.times.get(ticket_id, self.until)


async def list_reads(tx: Tx, tenant_id: str, user_id: str, ticket_ids: Sequence[str]) -> Reads:
    """What a user has read of some tickets."""
    params: dict[str, object] = {"tenant_id": tenant_id, "user_id": user_id}
    keyed = {f"id_{place}": each for place, each in enumerate([_NO_TICKET, *ticket_ids])}
    keys = ", ".join(f":{key}" for key in keyed)
    # Tickets from before a user was invited count as read.
    sql = f"""SELECT ticket_id, seen_at FROM reads
WHERE tenant_id = :tenant_id AND user_id = :user_id AND ticket_id IN ({keys})
UNION ALL SELECT '', created_at FROM users WHERE tenant_id = :tenant_id AND id = :user_id
LIMIT :limit"""
    rows = await tx.fetch_all(sql, params | keyed | {"limit": len(keyed) + 1})
    until = max((row["seen_at"] for row in rows if row["ticket_id"] == _NO_TICKET), default=0)
    return Reads({row["ticket_id"]: row["seen_at"] for row in rows if row["ticket_id"]}, until)


async def find_unread(tx: Tx, tenant_id: str, user_id: str, ticket_id: str) -> int | None:
    """The time of the last message of a ticket that a user has not read; None if it is read."""
    last_at = await find_last_message(tx, tenant_id, ticket_id)
    reads = await list_reads(tx, tenant_id, user_id, [ticket_id])
    return last_at if reads.is_unread(ticket_id, last_at) else None


async def find_last_message(tx: Tx, tenant_id: str, ticket_id: str) -> int | None:
    row = await tx.fetch_one(_LAST_MESSAGE, {"tenant_id": tenant_id, "id": ticket_id})
    return None if row is None else row["last_message_at"]


async def record_read(tx: Tx, tenant_id: str, user_id: str, ticket_id: str, seen_at: int) -> None:
    """Record up to the time of which message a user has read a ticket."""
    user: dict[str, object] = {"tenant_id": tenant_id, "user_id": user_id}
    await tx.enqueue(_RECORD, user | {"ticket_id": ticket_id, "seen_at": seen_at})


async def mark_older_read(tx: Tx, tenant_id: str, user_id: str, until_us: int) -> None:
    """Tickets without a later message count as read."""
    await record_read(tx, tenant_id, user_id, _NO_TICKET, until_us)


async def prune_reads(tx: Tx, tenant_id: str, user_id: str) -> None:
    """Delete the oldest rows of a user who has too many."""
    user: dict[str, object] = {"tenant_id": tenant_id, "user_id": user_id}
    if await tx.fetch_one(_NTH, user | {"kept": MAX_READS + _SLACK}) is None:
        return
    last = await tx.fetch_one(_NTH, user | {"kept": MAX_READS})
    if last is not None:
        await tx.execute(_DELETE_OLDEST, user | {"seen_at": last["seen_at"]})
        await record_read(tx, tenant_id, user_id, _NO_TICKET, last["seen_at"])
