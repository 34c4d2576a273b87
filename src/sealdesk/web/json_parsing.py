"""Parses JSON strictly: what databases or other JSON parsers treat differently is refused."""

import json
import math
from typing import Any

from sealdesk.errors import BadRequest
from sealdesk.errors.requests import MALFORMED_JSON, MISSING_BODY

MAX_DEPTH = 32
MAX_VALUES = 10_000
# Two around each value and two around the name of each member.
_MAX_QUOTES = 4 * MAX_VALUES
_INT64 = range(-(2**63), 2**63)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse(body: bytes) -> Any:
    """The JSON value of a body. Raises BadRequest."""
    if not body:
        raise BadRequest(MISSING_BODY)
    if _has_too_many_values(body):
        raise _malformed(f"it has more than {MAX_VALUES:,} values")
    if body.startswith(_BYTE_ORDER_MARK):
        raise _malformed("it begins with a byte order mark, EF BB BF; send JSON without one")
    if b"\0" in body[:2]:
        raise _malformed("it is UTF-16 or UTF-32; send UTF-8")
    try:
        text = body.decode()
        value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise _malformed(f"it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _malformed(f"it is nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        raise _malformed(str(error)) from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(value)
    if "\\u" in text:
        _check_strings(value)
    return value


def _has_too_many_values(body: bytes) -> bool:
    """Whether a JSON text has more than MAX_VALUES values, names of members not counted.

    Every value begins the text, an array or an object, or follows a comma. Counted on the bytes:
    objects of a text of 1 MiB would take 60 MiB and 0.2 s.
    """
    if len(body) < MAX_VALUES or _count_values(body) <= MAX_VALUES:
        return False
    # Texts may be full of commas. Without escapes, every second part between quotes is a text.
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if unescaped.count(b'"') > _MAX_QUOTES:
        return True
    return _count_values(b"".join(unescaped.split(b'"')[::2])) > MAX_VALUES


def _count_values(text: bytes) -> int:
    return 1 + text.count(b",") + text.count(b"[") + text.count(b"{")


def _malformed(reason: str) -> BadRequest:
    return BadRequest(MALFORMED_JSON, reason=reason)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError(f"the name {_first_repeated(pairs)[:64]!a} stands twice in one object")
    return value


def _first_repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _integer(text: str) -> int:
    if len(text) > 20 or int(text) not in _INT64:
        raise ValueError("a whole number does not fit into 64 bits")
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant
)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return
        level = [child for item in containers for child in _children(item)]
    raise _malformed(f"it is nested deeper than {MAX_DEPTH}")


def _children(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _check_strings(value: Any) -> None:
    """Refuse escapes of U+0000, which PostgreSQL cannot store, and of lone surrogates."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if "\0" in item:
                raise _malformed("a text holds U+0000")
            if not _is_encodable(item):
                raise _malformed("a text holds half of a surrogate pair")
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
