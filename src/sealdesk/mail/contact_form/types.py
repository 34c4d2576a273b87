"""The structs of the form for customers: its settings, and what it sends."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sealdesk.resources.representation import Email, Text255, check_visible
from sealdesk.tickets.ticket.types import Subject

# Longer requests come by e-mail; a form is what a stranger can fill in without end.
MAX_DESCRIPTION = 20_000
Description = Annotated[
    str, Meta(min_length=1, max_length=MAX_DESCRIPTION, extra={"check": check_visible})
]


class ContactForm(msgspec.Struct, frozen=True):
    """The form of a tenant, and whether its customers have pages of their tickets.

    path_name: the first part of its path. base_url: of links in e-mails. field_keys: JSON, the keys
    of the custom fields that it has.
    """

    path_name: str
    tenant_id: str
    mailbox_id: str
    base_url: str
    field_keys: str
    is_on: bool
    has_ticket_pages: bool
    updated_at: int

    @property
    def fields(self) -> list[str]:
        return msgspec.json.decode(self.field_keys, type=list[str])


class FormSettings(msgspec.Struct, frozen=True):
    """What an administrator chooses for the form."""

    path_name: str
    mailbox_id: str
    base_url: str
    field_keys: Annotated[list[str], Meta(max_length=50)]
    is_on: bool
    has_ticket_pages: bool


class FormRequest(msgspec.Struct, frozen=True):
    """What somebody writes with the form."""

    subject: Subject
    description: Description
    email: Email
    name: Text255 | None = None
    custom_fields: dict[str, Any] | None = None


class Submission(msgspec.Struct, frozen=True):
    """A submitted form that waits for its confirmation. request: JSON of FormRequest."""

    tenant_id: str
    id: str
    address: str
    address_identity: str
    language: str
    request: str
    created_at: int

    @property
    def contents(self) -> FormRequest:
        return _decode_request(self.request)


_decode_request = msgspec.json.Decoder(FormRequest).decode
