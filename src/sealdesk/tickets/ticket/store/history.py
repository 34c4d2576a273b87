"""The SQL of a ticket's history: who changed which fields."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor, ActorKind
from sealdesk.clock import Iso
from sealdesk.db.column_lists import insert_into
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.types import CUSTOM, Ticket

Object = dict[str, Any]
_MAX_TEXT_LENGTH = 255  # characters: a whole subject, and the beginning of a description
_MAX_KEYS = 10  # of custom fields in one change, whose values are stored one by one

_ADD = insert_into(
    "ticket_changes",
    "tenant_id ticket_id id actor_kind actor_id actor_name changes created_at",
)
_LIST = """
SELECT id, actor_kind, actor_id, actor_name, changes, created_at FROM ticket_changes
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""


class TicketHistoryEntry(NamedTuple):
    """One change of a ticket.

    changes: field → (old, new); long texts are cut. A custom field is named by CUSTOM and its key.
    """

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
    rows = await tx.fetch_all(_LIST, page.params(tenant_id) | {"ticket_id": ticket_id})
    return [_entry(row) for row in rows]


def named_ids(entries: Iterable[TicketHistoryEntry], field: str) -> set[str]:
    """The ids of people or teams that these changes name, and the conditions of their rules."""
    changes = [entry.changes for entry in entries]
    values = {value for each in changes for value in each.get(field, ())}
    causes = [cause for each in changes if "rule" in each for cause in each["rule"][1]]
    return {*values, *(value for of, _, value in causes if of == field)} - {None, ""}


def _shorten_all(changes: Changes) -> Changes:
    return {
        field: _shorten_values(old, new)
        if field == "custom_fields"
        else (_shorten(old), _shorten(new))
        for field, (old, new) in changes.items()
    }


def _shorten_values(old: Object, new: Object) -> tuple[Any, Any]:
    """The values that differ; each is cut by itself, unless there are many."""
    keys = merge_patch.changed_keys(old, new)
    before = {key: old[key] for key in keys if key in old}
    after = {key: new[key] for key in keys if key in new}
    if len(keys) > _MAX_KEYS or sum(map(len, keys)) > _MAX_KEYS * _MAX_TEXT_LENGTH:
        return _shorten(before), _shorten(after)
    return (
        {key: _shorten(value) for key, value in before.items()},
        {key: _shorten(value) for key, value in after.items()},
    )


def _by_key(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes with each custom field by itself."""
    custom = changes.get("custom_fields")
    if custom is None or not all(isinstance(each, dict) for each in custom):
        return changes
    old, new = custom
    shown = {name: pair for name, pair in changes.items() if name != "custom_fields"}
    for key in merge_patch.changed_keys(old, new):
        shown[f"{CUSTOM}{key}"] = old.get(key), new.get(key)
    return shown


def _shorten(value: Any) -> Any:
    text = msgspec.json.encode(value).decode() if isinstance(value, dict) else value
    is_long = isinstance(text, str) and len(text) > _MAX_TEXT_LENGTH
    return f"{text[:_MAX_TEXT_LENGTH]}…" if is_long else value


def _entry(row: Row) -> TicketHistoryEntry:
    kind: ActorKind = row["actor_kind"]
    return TicketHistoryEntry(
        row["id"],
        Actor(kind, row["actor_id"], row["actor_name"]),
        _by_key(msgspec.json.decode(row["changes"])),
        clock.iso(row["created_at"]),
    )
