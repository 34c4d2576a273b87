"""The structs of received messages."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.threads.types import Participant
from sealdesk.tickets.types import FirstStatus

# ticket, reply, note: what was made of it. held, spam, blocked: waits for a person. bounce: a
# report about a message that was sent. ignored: an automatic message of a mailbox.
Outcome = Literal["ticket", "reply", "note", "held", "spam", "blocked", "bounce", "ignored"]
WAITING: tuple[Outcome, ...] = ("held", "spam", "blocked")


class ReceivedMessage(msgspec.Struct, frozen=True):
    """A received message as it is stored.

    message_key: the Message-ID, or a hash; each is taken once for a mailbox. reason: why it was
    not treated as usual; of a ticket, why its message is automatic and gets no acknowledgement.
    raw_sha256: of the raw message, which is kept until raw_until. envelope: an Envelope as JSON.
    """

    tenant_id: str
    id: str
    mailbox_id: str
    message_key: str
    from_identity: str
    subject: str
    raw_sha256: str
    outcome: Outcome
    reason: str | None
    size_bytes: int
    ticket_id: str | None
    reply_id: str | None
    received_at: int
    raw_until: int | None
    envelope: str | None = None


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the release of a message needs of its envelope.

    tokens: of the reply addresses among its recipients. has_empty_sender: as a report has it.
    """

    tokens: tuple[str, ...] = ()
    has_empty_sender: bool = False


class RawMessage(NamedTuple):
    """A raw message in the storage of attachments.

    sha256: of what is stored, perhaps sealed. digest: SHA-256 of the
    message as it arrived.
    """

    sha256: str
    digest: str
    size_bytes: int


class File(NamedTuple):
    """A file of a message, whose bytes are in the storage of attachments.

    image_type: what its first bytes say, if pages show it.
    """

    name: str
    content_type: str
    image_type: str | None
    size_bytes: int
    sha256: str


class History(NamedTuple):
    """What is known of an old message that is imported.

    written_at: its time. status: of a ticket that it opens. agents: the ids of the tenant's users,
    by their addresses as addresses are compared.
    """

    written_at: int
    status: FirstStatus
    agents: Mapping[str, str]


class Incoming(msgspec.Struct, frozen=True):
    """A message as a transaction takes it. history: None for a message that has just arrived.

    recipients: the addresses of the mailbox that its envelope names. envelope_sender: "" for a
    report, None if there is no envelope. files: those to attach. left_out: the names of the others.
    """

    mailbox: Mailbox
    message: ParsedMessage
    raw: RawMessage
    recipients: tuple[str, ...]
    envelope_sender: str | None
    files: tuple[File, ...]
    left_out: tuple[str, ...]
    quota_bytes: int
    authserv_ids: frozenset[str]
    history: History | None = None


class Thread(NamedTuple):
    """The ticket that a message belongs to, and its sender there; None for a stranger.

    newest_us: the time of the newest message of the ticket, which old messages come after.
    """

    ticket_id: str
    sender: Participant | None
    newest_us: int = 0


class Effect(NamedTuple):
    """What was made of a message."""

    outcome: Outcome
    reason: str | None = None
    ticket_id: str | None = None
    reply_id: str | None = None
