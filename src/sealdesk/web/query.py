"""Parses query strings: declared parameters with strict values, normalised for cursors."""

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from sealdesk import clock, ids
from sealdesk.errors import BadRequest, NotFound
from sealdesk.errors.requests import (
    INVALID_PARAMETER,
    LONE_PERCENT,
    NO_PARAMETERS,
    QUERY_HOLDS_NUL,
    UNKNOWN_PARAMETER,
    UNREADABLE_QUERY,
)

MAX_VALUE_LENGTH = 1024
_MAX_SEGMENT_LENGTH = 255
_LONE_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class BadValue(Exception):
    """An invalid value. Its text completes "must be …"."""


class Param(msgspec.Struct, frozen=True):
    """A query parameter, with its documentation.

    read: converts its text; raises BadValue. cursor_text: its normalised text, which a cursor is
    bound to; None when it equals the default. most: how many values it may have; if more than one,
    it may be repeated, and its value is a sorted list without duplicates.
    """

    name: str
    about: str
    read: Callable[[str], Any]
    schema: dict[str, Any]
    cursor_text: Callable[[Any], str | None]
    example: str
    most: int = 1


def parse(query: bytes, params: Sequence[Param]) -> dict[str, Any]:
    """The values of the parameters that were sent, by name. Raises BadRequest."""
    if not query:
        return {}
    known = {param.name: param for param in params}
    values: dict[str, Any] = {}
    for pair in query.split(b"&"):
        if not pair:
            continue
        raw_name, _, raw_value = pair.partition(b"=")
        name, value = _decode(raw_name), _decode(raw_value)
        if name not in known:
            raise _unknown(name, list(known))
        if known[name].most > 1:
            values[name] = _added(known[name], values.get(name, []), value)
        elif name in values:
            raise _invalid(name, "was sent more than once; send it once")
        else:
            values[name] = _read(known[name], value)
    return values


def _added(param: Param, values: list[Any], text: str) -> list[Any]:
    read = _read(param, text)
    added = sorted({*values, *(read if isinstance(read, list) else [read])})
    if len(added) > param.most:
        raise _invalid(param.name, f"must be sent at most {param.most} times")
    return added


def _read(param: Param, text: str) -> Any:
    if len(text) > MAX_VALUE_LENGTH and param.name != "cursor":
        raise _invalid(param.name, f"must be at most {MAX_VALUE_LENGTH} characters")
    try:
        return param.read(text)
    except BadValue as error:
        raise _invalid(param.name, f"must be {error}") from None


def _decode(raw: bytes) -> str:
    if _LONE_PERCENT.search(raw):
        raise BadRequest(LONE_PERCENT)
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise BadRequest(UNREADABLE_QUERY) from None
    if "\0" in text:
        raise BadRequest(QUERY_HOLDS_NUL)
    return text


def read_segment(segment: str) -> str:
    """The text of a percent-encoded segment of a path. Raises NotFound where it cannot be one."""
    try:
        text = unquote_to_bytes(segment.encode("latin-1")).decode()
    except UnicodeDecodeError:
        raise NotFound from None
    if not text.strip() or "\0" in text or len(text) > _MAX_SEGMENT_LENGTH:
        raise NotFound
    return text


def _unknown(name: str, known: list[str]) -> BadRequest:
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {nearest[0]}?" if nearest else f"There are {', '.join(sorted(known))}."
    return BadRequest(
        UNKNOWN_PARAMETER if known else NO_PARAMETERS,
        parameter=name[:64],
        quoted=ascii(name[:64]),
        hint=hint,
    )


def _invalid(name: str, what: str) -> BadRequest:
    return BadRequest(INVALID_PARAMETER, parameter=name, rule=what)


def one_of(name: str, values: Sequence[str], about: str, *, default: str | None = None) -> Param:
    def read(text: str) -> str:
        if text not in values:
            raise BadValue(f"one of {', '.join(values)}")
        return text

    schema: dict[str, Any] = {"type": "string", "enum": list(values)}
    if default is not None:
        schema["default"] = default
    return Param(name, about, read, schema, lambda v: None if v == default else v, values[-1])


def any_of(name: str, values: Sequence[str], about: str) -> Param:
    def read(text: str) -> list[str]:
        parts = text.split(",")
        if not set(parts) <= set(values):
            raise BadValue(f"one or more, comma-separated, of {', '.join(values)}")
        return sorted(set(parts))

    schema = {"type": "array", "items": {"type": "string", "enum": list(values)}}
    about = f"{about} Several are repeated or comma-separated."
    return Param(name, about, read, schema, ",".join, values[0], most=max(2, len(values)))


def identifier(name: str, about: str, *, besides: str = "") -> Param:
    """An id. besides: a word that may stand in its place."""
    other = f", or {besides}" if besides else ""

    def read(text: str) -> str:
        identifier = ids.in_lower_case(text)
        if not ids.is_canonical(identifier) and (text != besides or not besides):
            raise BadValue(f"an id as the API returns it: a UUID{other}")
        return identifier

    schema: dict[str, Any] = {"type": "string", "format": "uuid"}
    if besides:
        schema = {"type": "string", "anyOf": [schema, {"type": "string", "enum": [besides]}]}
    return Param(name, about, read, schema, str, "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f")


def repeated(param: Param, about: str, *, most: int) -> Param:
    """A parameter that may be sent several times."""

    def cursor_text(values: list[Any]) -> str:
        return msgspec.json.encode(values).decode()

    schema = {"type": "array", "items": param.schema, "minItems": 1, "maxItems": most}
    return msgspec.structs.replace(
        param, about=about, schema=schema, cursor_text=cursor_text, most=most
    )


def text(name: str, about: str, *, max_length: int, example: str) -> Param:
    def read(value: str) -> str:
        if not 1 <= len(value) <= max_length:
            raise BadValue(f"1 to {max_length} characters long")
        return value

    schema = {"type": "string", "minLength": 1, "maxLength": max_length}
    return Param(name, about, read, schema, str, example)


def instant(name: str, about: str) -> Param:
    def read(value: str) -> int:
        at_us = clock.parse_instant(value, need_offset=True)
        if at_us is not None:
            return at_us
        time, _, offset = value.rpartition(" ")
        if clock.parse_instant(f"{time}+{offset}") is not None:
            raise BadValue("percent-encoded: the + arrived as a space; write %2B for +, or use Z")
        raise BadValue("an ISO 8601 time with Z or an offset, as in 2026-01-31T09:30:00Z")

    schema = {"type": "string", "format": "date-time"}
    return Param(name, about, read, schema, str, "2026-01-31T09:30:00Z")


def flag(name: str, about: str) -> Param:
    def read(value: str) -> bool:
        if value not in ("true", "false"):
            raise BadValue("true or false")
        return value == "true"

    return Param(name, about, read, {"type": "boolean"}, lambda v: str(v).lower(), "false")


def number(name: str, about: str) -> Param:
    """A whole number from 1, of at most 12 digits."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and 0 < int(value[:13]) < 10**12):
            raise BadValue("a whole number from 1, in at most 12 ASCII digits")
        return int(value)

    schema = {"type": "integer", "minimum": 1, "maximum": 10**12 - 1}
    return Param(name, about, read, schema, str, "1042")


def count(name: str, about: str, *, default: int, maximum: int, minimum: int = 1) -> Param:
    """A whole number from `minimum`; a larger one than `maximum` becomes `maximum`."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit()) or (minimum and not value.strip("0")):
            raise BadValue(f"a whole number from {minimum}, in ASCII digits")
        digits = value.lstrip("0")
        return min(int(digits or "0"), maximum) if len(digits) <= 9 else maximum

    schema = {"type": "integer", "minimum": minimum, "default": default}
    return Param(name, about, read, schema, lambda _: None, str(default))
