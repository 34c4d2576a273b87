"""Field types that several resources share, and the checks behind them."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sealdesk.errors import Fault
from sealdesk.resources import emails

MAX_OBJECT_BYTES = 16 * 1024
_TOO_LARGE = "This must be at most %(limit)s bytes of JSON."


def check_email(address: str) -> list[Fault]:
    fault = emails.find_fault(address)
    return [] if fault is None else [fault]


def check_object(value: dict[str, Any]) -> list[Fault]:
    """Free JSON objects are limited by their size as JSON."""
    if len(msgspec.json.encode(value)) > MAX_OBJECT_BYTES:
        return [Fault("", "too_large", _TOO_LARGE, {"limit": MAX_OBJECT_BYTES})]
    return []


def check_not_blank(text: str) -> list[Fault]:
    if text.strip():
        return []
    return [Fault("", "too_short", "This must hold more than white space.")]


Email = Annotated[str, Meta(extra={"check": check_email}, extra_json_schema={"format": "email"})]
Text64 = Annotated[str, Meta(max_length=64)]
Text255 = Annotated[str, Meta(max_length=255)]
Object = Annotated[dict[str, Any], Meta(extra={"check": check_object})]
