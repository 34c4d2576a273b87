"""The structs of received messages."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.ticket.types import FirstStatus, Ticket

# ticket, reply, note: what was made of it. held, spam, blocked: waits for a person. bounce: a
# report about a message that was sent. ignored: an automatic message of a mailbox.
Outcome = Literal["ticket", "reply", "note", "held", "spam", "blocked", "bounce", "ignored"]
# not_processed: a mistake of ours, or too slow to read. stranger: a note of no participant, about
# which nobody has decided; added, moved: what was decided. by_desk: imported, and of the desk.
# forwarded: by an agent, for the customer. complaint: by who calls a message of the desk spam.
ReasonCode = Literal[
    "not_processed",
    "stranger",
    "stranger_added",
    "stranger_moved",
    "by_desk",
    "forwarded",
    "complaint",
]
WAITING: tuple[Outcome, ...] = ("held", "spam", "blocked")


class ReceivedMessage(msgspec.Struct, frozen=True):
    """A received message as it is stored.

    message_key: the Message-ID with the Date, or a hash; each is taken once for a mailbox.
    reason: why it was not treated as usual; of a ticket, why it gets no acknowledgement.
    reason_code: the same for programs, where one depends on it.
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
    reason_code: ReasonCode | None = None


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the release of a message needs of its envelope.

    tokens: of the reply addresses among its recipients. has_empty_sender: as a report has it.
    content_hash: see ParsedMessage; with its key it tells the message from all others.
    arrived_at: see Arrival. date, is_of_list: see ParsedMessage.
    """

    tokens: tuple[str, ...] = ()
    has_empty_sender: bool = False
    content_hash: str = ""
    arrived_at: int | None = None
    date: str = ""
    is_of_list: bool = False


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


class Waiting(NamedTuple):
    """The messages that wait for a person: their number, and the bytes that are kept of them."""

    number: int
    size_bytes: int


class WaitingFull(Exception):
    """So many bytes wait for a person that no further message may: it is refused for now."""


class Incoming(msgspec.Struct, frozen=True):
    """A message as a transaction takes it. history: None for a message that has just arrived.

    recipients: the addresses of the mailbox that its envelope names. envelope_sender: "" for a
    report, None if there is no envelope. files: those to attach. left_out: the names of the others.
    waiting_bytes: how many may wait for a person, None for any number. arrived_at: see Arrival.
    has_code: whether this installation has sent it with a code that verifies an address.
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
    waiting_bytes: int | None = None
    arrived_at: int | None = None
    has_code: bool = False


class Arrival(NamedTuple):
    """A message as it arrived. recipients, envelope_sender: see Incoming.

    is_stand_in: whether it stands for one that stays where it is, and so has room always.
    arrived_at: when a server took it that keeps it in a folder; None for one that comes now.
    """

    raw: bytes
    recipients: tuple[str, ...] = ()
    envelope_sender: str | None = None
    is_stand_in: bool = False
    arrived_at: int | None = None


class FromAddress(NamedTuple):
    """Who has written a message. is_known: otherwise it has no valid address."""

    address: str
    name: str | None
    is_known: bool

    @property
    def identity(self) -> str:
        return email_identity(self.address)


class Agent(NamedTuple):
    """A user of the desk who has written a message.

    is_proven: whether more than From says so: the domain vouches for it, or it went to the secret
    reply address of this user.
    """

    id: str
    name: str
    is_proven: bool


class Thread(NamedTuple):
    """The ticket that a message belongs to, and its sender there; None for a stranger.

    ticket: the one that goes on, if it was merged. token_owner: to whom the reply address belongs
    that the message went to, as addresses are compared; "" if it went to none.
    """

    ticket: Ticket
    sender: Participant | None
    token_owner: str = ""


class Origin(NamedTuple):
    """Where a message comes from.

    author: see `authors.author`. answers_to: where an answer goes. mailbox_tenants: the addresses
    in the message that belong to mailboxes, with their tenants, of any. own_addresses: those of
    this desk.
    """

    author: FromAddress
    answers_to: FromAddress
    mailbox_tenants: Mapping[str, str]
    own_addresses: frozenset[str]


class RecentCounts(NamedTuple):
    """How many messages of the sender, or to the ticket, came within LIMITED_US."""

    new_tickets: int = 0
    replies: int = 0
    replies_of_ticket: int = 0


class Copy(NamedTuple):
    """A message that came before by another way. lacks: the files that only the later one has."""

    message: ReceivedMessage
    lacks: tuple[File, ...] = ()


class Case(NamedTuple):
    """A message with what the database says about it, before anything is decided.

    block: the pattern that blocks its sender. bounced: the message that it reports as undelivered.
    is_own_copy: whether this desk has sent it. agent: its author, if that is a user of this desk.
    copy: the same message that came by another way.
    """

    incoming: Incoming
    origin: Origin
    block: str | None
    thread: Thread | None
    bounced: OutgoingMessage | None
    is_own_copy: bool = False
    agent: Agent | None = None
    counts: RecentCounts = RecentCounts()
    copy: Copy | None = None

    @property
    def sender(self) -> FromAddress:
        return self.origin.author


class Effect(NamedTuple):
    """What was made of a message."""

    outcome: Outcome
    reason: str | None = None
    ticket_id: str | None = None
    reply_id: str | None = None
    reason_code: ReasonCode | None = None


Step = Literal[
    "record_bounce",
    "open_ticket",
    "open_ticket_for_customer",
    "follow_up",
    "add_reply",
    "add_agents_reply",
    "add_agents_note",
    "add_note",
    "add_strangers_note",
    "note_copy",
]
# A message that is only stored has its effect already.
Decision = Effect | Step
