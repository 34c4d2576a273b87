"""The structs of blocked senders: as requested, as stored, and as shown."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.clock import Iso
from sealdesk.errors import Fault, gettext_noop
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.urls import parse_host
from sealdesk.mail.parsing.addresses import read_addresses
from sealdesk.mail.parsing.types import Address
from sealdesk.resources.addresses import can_receive
from sealdesk.resources.representation import MAX_EMAIL_LENGTH, email_identity

_NOT_A_PATTERN = gettext_noop("This must be an e-mail address, or @ and a domain.")


def normalise(pattern: str) -> str:
    """The form in which blocks are stored. Raises ValueError unless it is an address or domain."""
    text = pattern.strip()
    local, _, domain = text.rpartition("@")
    if local:
        # Whatever may be a sender (decision 0089), which is more than what a form should accept.
        if [Address(text)] != read_addresses(text, set()) or not can_receive(text):
            raise ValueError
        return email_identity(text)
    try:
        host = parse_host(domain)
    except RequestFailed:
        raise ValueError from None
    if not isinstance(host, str) or "." not in host.strip("."):
        raise ValueError
    return "@" + host.removesuffix(".")


def _check_pattern(text: str) -> list[Fault]:
    try:
        normalise(text)
    except ValueError:
        return [Fault("", "invalid_pattern", _NOT_A_PATTERN)]
    return []


Pattern = Annotated[
    str, Meta(min_length=1, max_length=MAX_EMAIL_LENGTH, extra={"check": _check_pattern})
]


class NewMailBlock(msgspec.Struct, frozen=True):
    """The body of a request that blocks a sender.

    pattern: an e-mail address, or @ and a domain, without its subdomains.
    """

    pattern: Pattern


class Block(msgspec.Struct, frozen=True):
    """A blocked sender as it is stored. pattern: an address, or @ and a domain."""

    tenant_id: str
    pattern: str
    actor_id: str
    actor_name: str
    created_at: int


class MailBlockResponse(msgspec.Struct, frozen=True):
    """A blocked sender.

    pattern: an address, or @ and a domain, in lower case.
    actor_name: who blocked it.
    """

    pattern: str
    actor_name: str
    created_at: Iso
