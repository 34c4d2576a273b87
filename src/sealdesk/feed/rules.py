"""Which events the feed shows, and to whom; no IO."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.clock import Iso
from sealdesk.errors import Forbidden, Gone
from sealdesk.event_log.events import EventType
from sealdesk.feed.errors import CURSOR_EXPIRED, EVENT_TYPE_NOT_PERMITTED
from sealdesk.ids import Id

# Of the permissions of a type one is enough, as to list what it is about (decisions 4).
NEEDS: dict[EventType, tuple[str, ...]] = {
    "ticket.created": ("tickets:read",),
    "ticket.updated": ("tickets:read",),
    "ticket.status_changed": ("tickets:read",),
    "reply.created": ("tickets:read", "replies:read"),
    "customer.created": ("customers:read",),
    "customer.updated": ("customers:read",),
}
TYPES: tuple[EventType, ...] = tuple(NEEDS)
MAX_WAIT_S = 30


class EventData(msgspec.Struct, frozen=True):
    """What an event is about.

    object: the ticket, reply or customer as the API showed it right after the change.
    changes: of each field that changed, the old value and the new one.
    """

    object: dict[str, Any]
    changes: dict[str, tuple[Any, Any]]


class EventShown(msgspec.Struct, frozen=True):
    """Something that happened, as the feed and webhooks show it.

    id: the same wherever the event is shown or sent, so that a repetition can be told.
    timestamp: when it happened; the feed is in the order in which changes became visible.
    """

    id: Id
    type: EventType
    timestamp: Iso
    data: EventData


def seen(wanted: Sequence[EventType] | None, may: frozenset[str]) -> Sequence[EventType]:
    """The types to show to who has these permissions. Raises Forbidden.

    wanted: None, all that they may see.
    """
    if wanted is None:
        return [kind for kind, needs in NEEDS.items() if not may.isdisjoint(needs)]
    for kind in wanted:
        if may.isdisjoint(NEEDS[kind]):
            raise _lacking(kind, may)
    return wanted


def _lacking(kind: EventType, may: frozenset[str]) -> Forbidden:
    needs = NEEDS[kind]
    return Forbidden(
        EVENT_TYPE_NOT_PERMITTED,
        type=kind,
        needs=" or ".join(needs),
        required=list(needs),
        granted=sorted(may),
    )


def check_is_kept(after: int, pruned_position: int) -> None:
    """Raises Gone when events behind this position have been deleted."""
    if after < pruned_position:
        raise Gone(CURSOR_EXPIRED)
