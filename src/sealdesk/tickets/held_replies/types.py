"""Held replies as they are stored."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk.web.form import Form

HELD_S = 10
MAX_OF_USER = 50  # with those that could not leave

_decode_fields = msgspec.json.Decoder(list[tuple[str, str]]).decode


class HeldReply(NamedTuple):
    """A public reply that has not left. number: of its ticket.

    fields: JSON, of the composer. failed_at, reason: when it could not leave, and the error code.
    """

    tenant_id: str
    id: str
    ticket_id: str
    number: int
    user_id: str
    user_name: str
    fields: str
    due_at: int
    failed_at: int | None = None
    reason: str | None = None

    @property
    def form(self) -> Form:
        """What was sent from the page of the ticket."""
        return Form(_decode_fields(self.fields))

    @property
    def body(self) -> str:
        return self.form.text("body")

    def left_s(self, real_now_us: int) -> int:
        """Until it leaves."""
        return max(0, -(-(self.due_at - real_now_us) // 1_000_000))

    def is_of(self, user_id: str) -> bool:
        return self.user_id == user_id


class LeavingReply(NamedTuple):
    """A held reply as a page shows it to its author, with its undo."""

    id: str
    ticket_id: str
    number: int
    left_s: int


def leaving_of(held: Sequence[HeldReply], user_id: str, real_now_us: int) -> list[LeavingReply]:
    """Those that their author can still undo, the newest first."""
    return [
        LeavingReply(each.id, each.ticket_id, each.number, each.left_s(real_now_us))
        for each in reversed(held)
        if each.failed_at is None and each.is_of(user_id)
    ]


class DueReply(NamedTuple):
    """A held reply whose time has come."""

    tenant_id: str
    id: str
