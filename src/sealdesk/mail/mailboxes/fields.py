"""The types of a mailbox's fields: limits and checks."""

import re
from typing import Annotated, Literal, get_args

from msgspec import Meta

from sealdesk.crypto.reply_codes import find_reply_code
from sealdesk.errors import Fault, gettext_noop
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.urls import parse_host
from sealdesk.resources.representation import check_email

MAX_TEXT_BYTES = 4096
# RFC 5321, 4.5.3.1.1: 64 bytes, of which "+" and a token of 26 characters are for reply addresses.
MAX_LOCAL_BYTES = 37
_TOO_LONG = gettext_noop("This must be at most %(limit)s bytes.")
_LOCAL_TOO_LONG = gettext_noop(
    "This must have at most %(limit)s characters before the @: replies are sent to it with a code."
)
_REPLY_ADDRESS = gettext_noop(
    "This has the form of an address that replies are sent to: choose one without a code behind"
    " the +."
)
_CONTROL = gettext_noop("This must not have line breaks or other control characters.")
_NOT_A_DIRECTORY = gettext_noop(
    "This must be the id of the directory, or one of its domains, as in contoso.onmicrosoft.com."
)
_DIRECTORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_NOT_A_HOST = gettext_noop("This must be the name of a server, as in mail.example.com.")


def _check_address(address: str) -> list[Fault]:
    faults = check_email(address)
    if not faults and len(address.rpartition("@")[0].encode()) > MAX_LOCAL_BYTES:
        faults = [Fault("", "too_long", _LOCAL_TOO_LONG, {"limit": MAX_LOCAL_BYTES})]
    if not faults and find_reply_code(address) is not None:
        faults = [Fault("", "reply_address", _REPLY_ADDRESS)]
    return faults


def _check_text(text: str) -> list[Fault]:
    if len(text.encode()) > MAX_TEXT_BYTES:
        return [Fault("", "too_long", _TOO_LONG, {"limit": MAX_TEXT_BYTES})]
    return []


def _check_line(text: str) -> list[Fault]:
    # A line break would be a second command or a second header.
    return [] if text.isprintable() else [Fault("", "control_character", _CONTROL)]


def _check_directory(text: str) -> list[Fault]:
    return [] if _DIRECTORY.fullmatch(text) else [Fault("", "invalid_directory", _NOT_A_DIRECTORY)]


def _check_host(text: str) -> list[Fault]:
    try:
        parse_host(text)
    except RequestFailed:
        return [Fault("", "invalid_host", _NOT_A_HOST)]
    return []


Address = Annotated[
    str, Meta(extra={"check": _check_address}, extra_json_schema={"format": "email"})
]
Aliases = Annotated[list[Address], Meta(max_length=20)]
Option = Literal["ticket_number", "quoted_message", "hidden_participants", "strict_dmarc"]
OPTIONS: tuple[Option, ...] = get_args(Option)
Options = Annotated[list[Option], Meta(max_length=len(OPTIONS))]
LongText = Annotated[str, Meta(max_length=MAX_TEXT_BYTES, extra={"check": _check_text})]
DisplayName = Annotated[str, Meta(max_length=100, extra={"check": _check_line})]
Host = Annotated[str, Meta(min_length=1, max_length=253, extra={"check": _check_host})]
Port = Annotated[int, Meta(ge=1, le=65535)]
Username = Annotated[str, Meta(min_length=1, max_length=255, extra={"check": _check_line})]
Password = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        extra={"check": _check_line},
        extra_json_schema={"writeOnly": True},
    ),
]
Directory = Annotated[str, Meta(max_length=254, extra={"check": _check_directory})]
Folder = Annotated[str, Meta(min_length=1, max_length=255, extra={"check": _check_line})]
PerMinute = Annotated[int, Meta(ge=1, le=600)]
