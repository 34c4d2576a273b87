"""The structs of received messages as they are shown."""

from typing import NamedTuple

import msgspec

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.receiving.types import Outcome, ReceivedMessage


class ReceivedMessageResponse(msgspec.Struct, frozen=True):
    """A received message.

    from_address: the sender, as the message names them, in lower case.
    outcome: what was made of it. `held`, `spam` and `blocked` wait for a person.
    reason: why it was not treated as usual.
    ticket_id: of the ticket that it belongs to.
    reply_id: of the reply or note that it has become; null if it opened the ticket.
    raw_until: until when it can be downloaded and released; null when it is deleted.
    """

    id: Id
    mailbox_id: Id
    from_address: str
    subject: str
    outcome: Outcome
    reason: str | None
    size_bytes: int
    ticket_id: Id | None
    reply_id: Id | None
    received_at: Iso
    raw_until: Iso | None


class StoredMessage(NamedTuple):
    """A received message with its mailbox, which may be deleted."""

    message: ReceivedMessage
    mailbox: Mailbox


class Preview(NamedTuple):
    """What a message says, as plain text. is_cut: whether there is more. files: their names."""

    sender: str
    to: str
    text: str
    is_cut: bool
    files: tuple[str, ...]


class Filter(NamedTuple):
    """Which received messages; empty for all. since: the lowest id."""

    outcomes: tuple[Outcome, ...] = ()
    mailbox_id: str | None = None
    since: str = ""
