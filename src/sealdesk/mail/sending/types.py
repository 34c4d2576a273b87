"""The structs of outgoing messages."""

from typing import Literal, NamedTuple, Protocol, Self

import msgspec

from sealdesk import ids

State = Literal["queued", "sent", "bounced", "failed"]


class MailboxKey(Protocol):
    """A mailbox, or what names it."""

    @property
    def tenant_id(self) -> str: ...

    @property
    def id(self) -> str: ...


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

    @classmethod
    def queued(
        cls,
        mailbox: MailboxKey,
        *,
        ticket_id: str,
        about_id: str,
        kind: str,
        address: str,
        message_id: str,
        now_us: int,
    ) -> Self:
        """A new message of a mailbox, which is due at once."""
        return cls(
            tenant_id=mailbox.tenant_id,
            id=ids.mint(now_us),
            mailbox_id=mailbox.id,
            ticket_id=ticket_id,
            about_id=about_id,
            kind=kind,
            address=address,
            message_id=message_id,
            state="queued",
            reason=None,
            attempt_count=0,
            created_at=now_us,
            due_at=now_us,
            leased_until=None,
            finished_at=None,
        )


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

    sender_name: beside the mailbox's address. references: Message-IDs of the conversation, that of
    the answered one last. written_at: in microseconds. is_automatic: whether no person wrote it.
    is_shared: whether a participant wrote it. others: names and addresses of those who get a
    message of their own.
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
    references: tuple[str, ...]
    written_at: int
    files: list[File]
    is_automatic: bool = False
    is_shared: bool = False
    others: tuple[tuple[str, str], ...] = ()


class Outcome(NamedTuple):
    """The result of an attempt. reason: in plain words, perhaps the server's own."""

    state: State
    reason: str | None


class SendingMailbox(NamedTuple):
    """A mailbox that sends. created_at: earlier replies are not sent."""

    tenant_id: str
    id: str
    address: str
    created_at: int


class Result(NamedTuple):
    """The result of an attempt.

    leases: which the message may have, as a lease may be renewed meanwhile. is_attempt: False if
    the server was not asked about this message. gets_note: whether a final failure becomes a note.
    """

    message: OutgoingMessage
    leases: tuple[int, int]
    outcome: Outcome
    is_attempt: bool = True
    gets_note: bool = True
