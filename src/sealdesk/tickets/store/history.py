"""The SQL of a ticket's history: who changed which fields."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor, ActorKind
from sealdesk.clock import Iso
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log.events import Changes
from sealdesk.paging import PageRequest
from sealdesk.tickets.types import Ticket

_MAX_TEXT_LENGTH = 255  # characters: a whole subject, and the beginning of a description
_LAST_ID = "~"  # sorts behind every id

_ADD = """
INSERT INTO ticket_changes (tenant_id, ticket_id, id, actor_kind, actor_id, actor_name, changes,
    created_at)
VALUES (:tenant_id, :ticket_id, :id, :actor_kind, :actor_id, :actor_name, :changes, :created_at)
"""
_LIST = """
SELECT id, actor_kind, actor_id, actor_name, changes, created_at FROM ticket_changes
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""


class TicketHistoryEntry(NamedTuple):
    """One change of a ticket. changes: field → (old, new); long texts are cut."""

    id: str
    actor: Actor
    changes: dict[str, tuple[Any, Any]]
    created_at: Iso


async def add(tx: Tx, ticket: Ticket, actor: Actor, changes: Changes, now_us: int) -> None:
    """Record a change of a ticket, in the transaction of the change."""
    await tx.execute_one(
        _ADD,
        {
            "tenant_id": ticket.tenant_id,
            "ticket_id": ticket.id,
            "id": ids.mint(now_us),
            "actor_kind": actor.kind,
            "actor_id": actor.id,
            "actor_name": actor.name,
            "changes": msgspec.json.encode(_shorten_all(changes)).decode(),
            "created_at": now_us,
        },
    )


async def list_changes(
    tx: Tx, tenant_id: str, ticket_id: str, page: PageRequest
) -> list[TicketHistoryEntry]:
    """Newest first; one more than the page when there are more."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    before = page.after[0] if page.after else _LAST_ID
    rows = await tx.fetch_all(_LIST, {**params, "before": before, "limit": page.per_page + 1})
    return [_entry(row) for row in rows]


def assignee_ids(entries: Iterable[TicketHistoryEntry]) -> set[str]:
    """The ids of the old and new assignees that these changes name."""
    return {
        user_id for entry in entries for user_id in entry.changes.get("assignee_id", ()) if user_id
    }


def _shorten_all(changes: Changes) -> Changes:
    return {field: (_shorten(old), _shorten(new)) for field, (old, new) in changes.items()}


def _shorten(value: Any) -> Any:
    text = msgspec.json.encode(value).decode() if isinstance(value, dict) else value
    is_long = isinstance(text, str) and len(text) > _MAX_TEXT_LENGTH
    return f"{text[:_MAX_TEXT_LENGTH]}…" if is_long else value


def _entry(row: Row) -> TicketHistoryEntry:
    kind: ActorKind = row["actor_kind"]
    return TicketHistoryEntry(
        row["id"],
        Actor(kind, row["actor_id"], row["actor_name"]),
        msgspec.json.decode(row["changes"]),
        clock.iso(row["created_at"]),
    )
