"""The types of events, and the permissions that they need; no IO."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.clock import Iso
from sealdesk.errors import Forbidden, Gone
from sealdesk.event_log.events import EventType
from sealdesk.feed.errors import EVENT_TYPE_NOT_PERMITTED, PRUNED_CURSOR
from sealdesk.ids import Id

# One of the permissions is enough, as for listing the objects of the events (spec decision 4).
NEEDS: dict[EventType, tuple[str, ...]] = {
    "ticket.created": ("tickets:read",),
    "ticket.updated": ("tickets:read",),
    "ticket.status_changed": ("tickets:read",),
    "ticket.sla_warning": ("tickets:read",),
    "ticket.sla_breached": ("tickets:read",),
    "ticket.rated": ("tickets:read",),
    "ticket.rule_matched": ("tickets:read",),
    "reply.created": ("tickets:read", "replies:read"),
    "reply.updated": ("tickets:read", "replies:read"),
    "reply.delivered": ("tickets:read", "replies:read"),
    "reply.bounced": ("tickets:read", "replies:read"),
    "customer.created": ("customers:read",),
    "customer.updated": ("customers:read",),
    "customer.deleted": ("customers:read",),
    "customer.merged": ("customers:read",),
    "customer.erased": ("customers:read",),
}
TYPES: tuple[EventType, ...] = tuple(NEEDS)
MAX_WAIT_S = 30


class EventData(msgspec.Struct, frozen=True):
    """The object of an event, and its changes.

    object: the ticket, reply or customer as the API showed it right after the change.
    changes: the old and the new value of each field that changed.
    """

    object: dict[str, Any]
    changes: dict[str, tuple[Any, Any]]


class EventResponse(msgspec.Struct, frozen=True):
    """An event, as the feed and webhooks show it.

    id: the same in the feed and in every delivery, so that a repetition can be recognised.
    timestamp: when it happened; the feed is in the order in which changes became visible.
    """

    id: Id
    type: EventType
    timestamp: Iso
    data: EventData


def select_types(wanted: Sequence[EventType] | None, may: frozenset[str]) -> Sequence[EventType]:
    """The event types to show to a caller with these permissions. Raises Forbidden.

    wanted: None for all types that the caller may see.
    """
    if wanted is None:
        return [kind for kind, needs in NEEDS.items() if not may.isdisjoint(needs)]
    for kind in wanted:
        if may.isdisjoint(NEEDS[kind]):
            raise _not_permitted(kind, may)
    return wanted


def _not_permitted(kind: EventType, may: frozenset[str]) -> Forbidden:
    needs = NEEDS[kind]
    return Forbidden(
        EVENT_TYPE_NOT_PERMITTED,
        type=kind,
        needs=" or ".join(needs),
        required=list(needs),
        granted=sorted(may),
    )


def check_not_pruned(after: int, pruned_position: int) -> None:
    """Raises Gone when events after this position have been deleted."""
    if after < pruned_position:
        raise Gone(PRUNED_CURSOR)
