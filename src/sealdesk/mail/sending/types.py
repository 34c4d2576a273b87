"""The structs of outgoing messages."""

from typing import Literal, NamedTuple

import msgspec

State = Literal["queued", "sent", "bounced", "failed"]


class OutgoingMessage(msgspec.Struct, frozen=True):
    """An outgoing message as it is stored.

    ticket_id: "" until the form that it asks to confirm is confirmed. about_id: the reply that it
    contains, or what it is about. address: of its one recipient. reason: why it was not sent, or
    not yet. due_at: of the next attempt, None after the last.
    """

    tenant_id: str
    id: str
    mailbox_id: str
    ticket_id: str
    about_id: str
    kind: str
    address: str
    message_id: str
    state: State
    reason: str | None
    attempt_count: int
    created_at: int
    due_at: int | None
    leased_until: int | None
    finished_at: int | None


class DueMailbox(NamedTuple):
    """A mailbox with messages that are due. is_failing: whether sending was not possible."""

    tenant_id: str
    id: str
    version: int
    per_minute: int
    is_failing: bool


class File(NamedTuple):
    """A file of a message."""

    name: str
    content_type: str
    content: bytes


class Content(NamedTuple):
    """What a message says.

    sender_name: beside the mailbox's address. answered_id: the Message-ID of the ticket's message
    before this one; None for the first. written_at: in microseconds. is_automatic: whether no
    person wrote it.
    """

    sender_name: str
    sender_address: str
    recipient_name: str | None
    recipient_address: str
    reply_address: str
    subject: str
    text: str
    html: str
    message_id: str
    answered_id: str | None
    written_at: int
    files: list[File]
    is_automatic: bool = False


class Outcome(NamedTuple):
    """The result of an attempt. reason: in plain words, perhaps the server's own."""

    state: State
    reason: str | None
