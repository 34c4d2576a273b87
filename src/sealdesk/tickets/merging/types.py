"""The structs of merging and splitting tickets."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import msgspec

from sealdesk.tickets.ticket.types import AuthorType, Status, Subject


class Merge(msgspec.Struct, frozen=True):
    """The body of a request that merges a ticket into another.

    into: the id of the ticket that stays.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset()

    into: str


class Split(msgspec.Struct, frozen=True):
    """The body of a request that splits a ticket.

    reply_id: the public reply whose text becomes the description of the new ticket. last_reply_id:
    the last reply or note that moves with it; None for all later ones.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset()

    reply_id: str
    subject: Subject
    last_reply_id: str | None = None


class StoredMerge(msgspec.Struct, frozen=True):
    """What undoing a merge needs.

    opening_reply_id: the reply of the other ticket that holds the description of this one.
    reply_ids: of the replies and notes that moved.
    """

    tenant_id: str
    source_id: str
    target_id: str
    source_status: Status
    opening_reply_id: str
    reply_ids: tuple[str, ...]
    merged_at: int


class Conversation(NamedTuple):
    """The replies and notes of a ticket, as far as the ticket shows them.

    last_message_at, text: of the last one, None and "" without any. ends_in_note: whether it is a
    note. public_replies: (author, time) of the newest ones, newest first.
    """

    last_message_at: int | None
    text: str
    ends_in_note: bool
    public_replies: Sequence[tuple[AuthorType, int]]
