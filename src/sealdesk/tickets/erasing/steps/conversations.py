"""Steps that erase the texts of the customer's tickets."""

from collections.abc import Iterable, Sequence

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.erasing import rules
from sealdesk.tickets.erasing.steps import indexes, store
from sealdesk.tickets.erasing.types import FINISHED, Done, Erasure
from sealdesk.tickets.held_replies import store as held_replies
from sealdesk.tickets.links import store as links
from sealdesk.tickets.merging import store as merging
from sealdesk.tickets.ticket.documents import decode_attachments
from sealdesk.tickets.ticket.types import Ticket

STEP_TICKETS = 25
STEP_ROWS = 100
_MERGED_AT_ONCE = 5
_MAX_MERGES = 50  # of a ticket into another one, and so on
_BEHIND = "~"  # sorts behind every id


async def erase_replies(tx: Tx, erasure: Erasure) -> Done:
    """The next replies in the customer's tickets, whoever wrote them."""
    first, after, last = await _next_span(tx, erasure)
    if not last:
        return FINISHED
    rows = await store.list_replies(
        tx, erasure, first=first, after=after, last=last, limit=STEP_ROWS
    )
    await _erase_replies(tx, erasure.tenant_id, rows)
    return Done(_cursor(rows, last))


async def erase_changes(tx: Tx, erasure: Erasure) -> Done:
    """The texts in the next changes of the customer's tickets."""
    first, after, last = await _next_span(tx, erasure)
    if not last:
        return FINISHED
    rows = await store.list_changes(
        tx, erasure, first=first, after=after, last=last, limit=STEP_ROWS
    )
    changed: list[store.Params] = []
    for row in rows:
        changes = msgspec.json.decode(row["changes"])
        kept = rules.kept_changes(changes)
        if kept != changes:
            text = msgspec.json.encode(kept).decode()
            changed.append({"ticket_id": row["ticket_id"], "id": row["id"], "changes": text})
    await store.store_changes(tx, erasure.tenant_id, changed)
    return Done(_cursor(rows, last))


async def erase_tickets(tx: Tx, erasure: Erasure) -> Done:
    """The next of the customer's tickets."""
    listed = await store.list_tickets(tx, erasure, erasure.cursor, STEP_TICKETS)
    if not listed:
        return FINISHED
    for ticket in listed:
        await store.erase_attachments(tx, erasure.tenant_id, [a.id for a in ticket.attachments])
        await store.erase_ticket(tx, ticket.version, _erased(ticket))
        await links.remove_all(tx, erasure.tenant_id, ticket.id)
        await held_replies.delete_of_ticket(tx, erasure.tenant_id, ticket.id)
    return Done(listed[-1].id, len(listed))


async def erase_merged(tx: Tx, erasure: Erasure) -> Done:
    """What the customer's tickets have brought into tickets of other customers."""
    rows = await store.list_merged(tx, erasure, erasure.cursor, _MERGED_AT_ONCE)
    for row in rows:
        if not await _follow(tx, erasure, row["id"], row["merged_into_id"]):
            return Done(erasure.cursor)  # the next step continues with the rest of its replies
    return Done(rows[-1]["id"]) if rows else FINISHED


async def _follow(tx: Tx, erasure: Erasure, source_id: str, target_id: str) -> bool:
    """Erase what a merged ticket has brought into others; False if there may be more."""
    tenant_id, next_id = erasure.tenant_id, target_id
    merge = await merging.find(tx, tenant_id, source_id)
    moved = merge.reply_ids if merge else ()
    for _ in range(_MAX_MERGES):
        target = await store.find_target(tx, tenant_id, next_id)
        if target is None:
            break
        if target["customer_id"] != erasure.customer_id:
            rows = await store.list_theirs(tx, erasure, next_id, STEP_ROWS)
            brought = await store.list_moved(tx, tenant_id, next_id, moved)
            await _erase_replies(tx, tenant_id, [*rows, *brought])
            if len(rows) == STEP_ROWS:
                return False
            await store.end_merge(tx, tenant_id, source_id, next_id)
            await indexes.update_ticket(tx, tenant_id, next_id)
        if target["merged_into_id"] is None:
            break
        next_id = target["merged_into_id"]
    return True


async def _next_span(tx: Tx, erasure: Erasure) -> tuple[str, str, str]:
    """The first of the next tickets, the last row in it that is done, and the last ticket.

    The last is "" when no ticket is left.
    """
    ticket_id, _, row_id = erasure.cursor.partition(" ")
    first = ticket_id if row_id or not ticket_id else f"{ticket_id}{_BEHIND}"
    ids = await store.list_ticket_ids(tx, erasure, first, STEP_TICKETS)
    return (first, row_id, ids[-1]) if ids else (first, row_id, "")


def _cursor(rows: Sequence[Row], last: str) -> str:
    return f"{rows[-1]['ticket_id']} {rows[-1]['id']}" if len(rows) == STEP_ROWS else last


async def _erase_replies(tx: Tx, tenant_id: str, rows: Sequence[Row]) -> None:
    await store.erase_replies(tx, tenant_id, rows)
    await store.erase_attachments(tx, tenant_id, [*_attached(rows)])


def _attached(rows: Iterable[Row]) -> Iterable[str]:
    return (each.id for row in rows for each in decode_attachments(row["attachments"]))


def _erased(ticket: Ticket) -> Ticket:
    return msgspec.structs.replace(
        ticket,
        subject=rules.ERASED,
        description=rules.ERASED,
        snippet=rules.ERASED,
        custom_fields={},
        external_id=None,
        attachments=(),
        satisfaction=rules.without_comment(ticket.satisfaction),
        version=ticket.version + 1,
    )
