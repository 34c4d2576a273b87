"""The SQL of live pages: what has happened to the tickets of a tenant."""

from collections.abc import Collection, Sequence

import msgspec

from sealdesk import ids
from sealdesk.db.column_lists import id_parameters
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log import positions
from sealdesk.tickets.live.types import By, Change, Feed, Recorded, ReplyPart, TicketPart
from sealdesk.tickets.notifications import store as notifications

_MAX_EVENTS = 50
_MAX_BYTES = 256 * 1024  # of their objects, which hold whole texts

_EVENTS = """
SELECT position, type, created_at, object FROM events
WHERE tenant_id = :tenant_id AND position > :after ORDER BY position LIMIT :limit
"""
_CHANGE = """
SELECT ticket_id, created_at, actor_kind, actor_id FROM ticket_changes
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_{0} AND id >= :low_{0} AND id < :high_{0}
"""
_decode_ticket = msgspec.json.Decoder(TicketPart).decode
_decode_reply = msgspec.json.Decoder(ReplyPart).decode


async def last_position(tx: Tx, tenant_id: str) -> int:
    """The position of the newest event: what a page that is read now knows."""
    return (await positions.find_ends(tx, tenant_id)).last


async def read_feed(tx: Tx, tenant_id: str, after: int) -> Feed:
    """The events behind a position, oldest first, and who caused them."""
    params = {"tenant_id": tenant_id, "after": after, "limit": _MAX_EVENTS}
    rows = await tx.fetch_page(_EVENTS, params, ("object",), _MAX_BYTES)
    events = [_recorded(row) for row in rows]
    updates = {event.change for event in events if event.type == "ticket.updated"}
    tickets = {event.ticket_id for event in events if event.part is not None}
    return Feed(
        events,
        await _list_numbers(tx, tenant_id, tickets),
        await _list_actors(tx, tenant_id, sorted(updates)),
        await _list_notified(tx, tenant_id, events),
    )


def _recorded(row: Row) -> Recorded:
    kind: str = row["type"]
    part: TicketPart | ReplyPart | None = None
    if kind.startswith("ticket."):
        part = _decode_ticket(row["object"])
    elif kind in ("reply.created", "reply.updated"):
        part = _decode_reply(row["object"])
    return Recorded(row["position"], kind, row["created_at"], part)


async def _list_notified(
    tx: Tx, tenant_id: str, events: Sequence[Recorded]
) -> dict[Change, Sequence[str]]:
    times = [event.created_at for event in events if event.part is not None]
    if not times:
        return {}
    found = await notifications.list_notified(tx, tenant_id, min(times), max(times))
    return {Change(*key): user_ids for key, user_ids in found.items()}


async def _list_numbers(tx: Tx, tenant_id: str, ticket_ids: Collection[str]) -> dict[str, int]:
    if not ticket_ids:
        return {}
    keys, params = id_parameters(ticket_ids)
    params |= {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    sql = (
        f"SELECT id, number FROM tickets WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id LIMIT :limit"
    )
    return {row["id"]: row["number"] for row in await tx.fetch_all(sql, params)}


async def _list_actors(tx: Tx, tenant_id: str, changes: Sequence[Change]) -> dict[Change, By]:
    """Who made these changes: their transactions have recorded it with the same time."""
    if not changes:
        return {}
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": 2 * len(changes)}
    for place, (ticket_id, at_us) in enumerate(changes):
        params[f"ticket_{place}"] = ticket_id
        params |= {f"low_{place}": ids.lowest(at_us), f"high_{place}": ids.lowest(at_us + 1)}
    sql = " UNION ALL ".join(_CHANGE.format(place) for place in range(len(changes)))
    rows = await tx.fetch_all(f"SELECT * FROM ({sql}) AS found LIMIT :limit", params)
    return {
        Change(row["ticket_id"], row["created_at"]): By(row["actor_kind"], row["actor_id"])
        for row in rows
    }
