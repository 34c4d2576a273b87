"""Notifications as they are stored and shown."""

from typing import Literal, NamedTuple

from sealdesk.clock import Iso

Kind = Literal[
    "assigned",
    "replied",
    "mentioned",
    "noted",
    "status",
    "woken",
    "due_soon",
    "late",
    "rule",
    "unsent",
]


class Notification(NamedTuple):
    """A notification of a user, with its ticket. actor_name: who has caused it."""

    id: str
    kind: Kind
    ticket_id: str
    number: int
    subject: str
    actor_name: str
    created_at: Iso
    is_read: bool
