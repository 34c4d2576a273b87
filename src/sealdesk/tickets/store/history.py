"""The SQL of what people did to tickets: what was changed by whom, and who is answering."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor, ActorKind
from sealdesk.clock import Iso
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log.events import Changes
from sealdesk.paging import PageRequest
from sealdesk.tickets.types import Ticket

# Whoever has not been heard of for so long is not answering any more: three missed heartbeats.
ANSWERING_US = 60 * 1_000_000
_MOST_ANSWERING = 10
_MOST_OF_A_TEXT = 255  # characters: a subject whole, and of a description the beginning
_LAST = "~"  # sorts behind every id

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
_ANSWER = """
INSERT INTO answering (tenant_id, ticket_id, user_id, user_name, seen_at)
VALUES (:tenant_id, :ticket_id, :user_id, :user_name, :seen_at)
ON CONFLICT (tenant_id, ticket_id, user_id) DO UPDATE SET
    user_name = excluded.user_name, seen_at = excluded.seen_at
"""
_LIST_ANSWERING = """
SELECT user_id, user_name FROM answering
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND seen_at >= :kept_since
ORDER BY seen_at DESC, user_id LIMIT :limit
"""
_END_ANSWERING = """
DELETE FROM answering
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND user_id = :user_id
"""
_PRUNE_ANSWERING = """
DELETE FROM answering WHERE (tenant_id, ticket_id, user_id) IN
    (SELECT tenant_id, ticket_id, user_id FROM answering WHERE seen_at < :before LIMIT :limit)
"""


class Changed(NamedTuple):
    """What somebody changed at once. changes: field → (old, new), of long texts the beginning."""

    id: str
    actor: Actor
    changes: dict[str, tuple[Any, Any]]
    created_at: Iso


async def add(tx: Tx, ticket: Ticket, actor: Actor, changes: Changes, now_us: int) -> None:
    """Note what was changed of a ticket, in the transaction of the change."""
    await tx.execute_one(
        _ADD,
        {
            "tenant_id": ticket.tenant_id,
            "ticket_id": ticket.id,
            "id": ids.mint(now_us),
            "actor_kind": actor.kind,
            "actor_id": actor.id,
            "actor_name": actor.name,
            "changes": msgspec.json.encode(_brief(changes)).decode(),
            "created_at": now_us,
        },
    )


async def list_changes(tx: Tx, tenant_id: str, ticket_id: str, page: PageRequest) -> list[Changed]:
    """Newest first; one more than the page when there are more."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    before = page.after[0] if page.after else _LAST
    rows = await tx.fetch_all(_LIST, {**params, "before": before, "limit": page.per_page + 1})
    return [_changed(row) for row in rows]


def assignees(changes: Iterable[Changed]) -> set[str]:
    """The ids of the people to whom a ticket was assigned and from whom it was taken."""
    return {
        user_id for each in changes for user_id in each.changes.get("assignee_id", ()) if user_id
    }


async def note_answering(tx: Tx, tenant_id: str, ticket_id: str, actor: Actor, now_us: int) -> None:
    """Somebody has an answer begun, as of now."""
    await tx.enqueue(
        _ANSWER,
        {
            "tenant_id": tenant_id,
            "ticket_id": ticket_id,
            "user_id": actor.id,
            "user_name": actor.name,
            "seen_at": now_us,
        },
    )


async def end_answering(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> None:
    """They have sent it, or given it up."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "user_id": user_id}
    await tx.enqueue(_END_ANSWERING, params)


async def list_answering(
    tx: Tx, tenant_id: str, ticket_id: str, *, but_for: str, now_us: int
) -> Sequence[str]:
    """The names of who else has an answer begun."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MOST_ANSWERING}
    rows = await tx.fetch_all(_LIST_ANSWERING, {**params, "kept_since": now_us - ANSWERING_US})
    return [row["user_name"] for row in rows if row["user_id"] != but_for]


async def prune_answering(tx: Tx, now_us: int, limit: int) -> int:
    """Delete some of who is not answering any more; how many rows."""
    return await tx.execute(_PRUNE_ANSWERING, {"before": now_us - ANSWERING_US, "limit": limit})


def _brief(changes: Changes) -> Changes:
    return {field: (_cut(old), _cut(new)) for field, (old, new) in changes.items()}


def _cut(value: Any) -> Any:
    text = msgspec.json.encode(value).decode() if isinstance(value, dict) else value
    is_long = isinstance(text, str) and len(text) > _MOST_OF_A_TEXT
    return f"{text[:_MOST_OF_A_TEXT]}…" if is_long else value


def _changed(row: Row) -> Changed:
    kind: ActorKind = row["actor_kind"]
    return Changed(
        row["id"],
        Actor(kind, row["actor_id"], row["actor_name"]),
        msgspec.json.decode(row["changes"]),
        clock.iso(row["created_at"]),
    )
