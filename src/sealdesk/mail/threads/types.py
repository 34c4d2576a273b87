"""The structs of threads."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.clock import Iso
from sealdesk.resources.representation import Email, Text255

MAX_PARTICIPANTS = 50  # of one ticket


class Participant(msgspec.Struct, frozen=True):
    """A person who gets the public replies of a ticket, and may write to it by e-mail.

    address_identity: the address as addresses are compared. token: what the Reply-To of messages
    to this person contains. mailbox_id: of the mailbox that sends to them.
    """

    tenant_id: str
    ticket_id: str
    address_identity: str
    address: str
    token: str
    mailbox_id: str
    name: str | None
    created_at: int


class NewParticipant(msgspec.Struct, frozen=True):
    """Somebody who gets the public replies of a ticket.

    name: the one that is known stays if this is null.
    """

    email: Email
    name: Text255 | None = None


class ParticipantsChange(msgspec.Struct, frozen=True):
    """The body of a request that says who gets the public replies of a ticket.

    participants: all of them; an empty list for nobody.
    """

    participants: Annotated[list[NewParticipant], Meta(max_length=MAX_PARTICIPANTS)]


class ParticipantResponse(msgspec.Struct, frozen=True):
    """Somebody who gets the public replies of a ticket, and may write to it by e-mail."""

    email: str
    name: str | None
    created_at: Iso


class ParticipantListResponse(msgspec.Struct, frozen=True):
    """Who gets the public replies of a ticket by e-mail, by address."""

    participants: tuple[ParticipantResponse, ...]
