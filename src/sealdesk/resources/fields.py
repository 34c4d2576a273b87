"""Field types that several resources share, and the checks behind them."""

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from sealdesk.resources import emails

MAX_OBJECT_BYTES = 16 * 1024


class Problem(NamedTuple):
    """What a check finds wrong with a value. pointer: below the field, "" for the field itself."""

    pointer: str
    code: str
    message: str


def check_email(address: str) -> list[Problem]:
    wrong = emails.fault(address)
    return [] if wrong is None else [Problem("", "invalid_email", f"This {wrong}")]


def check_object(value: dict[str, Any]) -> list[Problem]:
    """Free JSON objects are limited by their size as JSON."""
    if len(msgspec.json.encode(value)) > MAX_OBJECT_BYTES:
        return [Problem("", "too_large", f"This must be at most {MAX_OBJECT_BYTES} bytes of JSON.")]
    return []


def check_not_blank(text: str) -> list[Problem]:
    if text.strip():
        return []
    return [Problem("", "too_short", "This must hold more than white space.")]


Email = Annotated[str, Meta(extra={"check": check_email}, extra_json_schema={"format": "email"})]
Text64 = Annotated[str, Meta(max_length=64)]
Text255 = Annotated[str, Meta(max_length=255)]
Object = Annotated[dict[str, Any], Meta(extra={"check": check_object})]
