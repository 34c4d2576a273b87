"""A strict JSON parser: it refuses whatever databases and other parsers disagree on."""

import json
import math
from typing import Any

from sealdesk.errors import BadRequest
from sealdesk.errors.requests import MALFORMED_JSON, MISSING_BODY

MAX_DEPTH = 32
_INT64 = range(-(2**63), 2**63)


def parse(body: bytes) -> Any:
    """The JSON value of a body. Raises BadRequest."""
    if not body:
        raise BadRequest(MISSING_BODY)
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
            if not item.isascii() and any("\ud800" <= letter <= "\udfff" for letter in item):
                raise _malformed("a text holds half of a surrogate pair")
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item
