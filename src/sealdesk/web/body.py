"""Reading JSON bodies: one strict parser, and every fault of a body named at once."""

import json
import math
import re
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from sealdesk.errors import Fault, Malformed, invalid
from sealdesk.web.call import Call

S = TypeVar("S", bound=msgspec.Struct)
MAX_DEPTH = 32
_INT64 = range(-(2**63), 2**63)
_WARNINGS_COUNT = 10
_WARNINGS_BYTES = 1024
_PATH = re.compile(r" - at `\$(.*)`$")


def read(call: Call, shape: type[S]) -> S:
    """The body as this struct. Raises Malformed (400), or Invalid (422) naming every fault.

    Names that the struct does not have are reported in `x-warnings`, or as faults under
    `Prefer: handling=strict`; names in its IGNORED are passed over without a word.
    """
    document = parse(call.body)
    if not isinstance(document, dict):
        raise invalid([Fault("", "invalid_type", "The body must be a JSON object.")])
    unknown = list(_unknown_fields(document, shape, ""))
    if unknown and _is_strict(call):
        text = "There is no such field; check its spelling."
        faults = [Fault(pointer, "unknown_field", text) for pointer in unknown]
        raise invalid([*faults, *_faults(document, shape, "")])
    if unknown:
        call.answer_headers.append((b"x-warnings", _warnings(unknown)))
    try:
        value = msgspec.convert(document, shape)
    except msgspec.ValidationError:
        raise invalid(list(_faults(document, shape, ""))) from None
    faults = list(_broken_rules(document, shape, ""))
    if faults:
        raise invalid(faults)
    return value


def parse(body: bytes) -> Any:
    """The JSON value of a body. Raises Malformed."""
    if not body:
        raise Malformed("malformed_json", "This endpoint needs a JSON body and got none.")
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
        _check_texts(value)
    return value


def _malformed(what: str) -> Malformed:
    return Malformed("malformed_json", f"The body cannot be read as JSON: {what}.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:64]!a} stands twice in one object")
    return value


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


def _check_texts(value: Any) -> None:
    """Escapes can smuggle in what UTF-8 cannot hold and what databases disagree on."""
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


class _Field(typing.NamedTuple):
    """A field of a struct, as far as reading a body needs it."""

    name: str
    type: Any
    is_required: bool
    nested: Any
    check: Any


@cache
def _fields(shape: type[msgspec.Struct]) -> tuple[_Field, ...]:
    hints = typing.get_type_hints(shape, include_extras=True)
    return tuple(
        _Field(
            field.encode_name,
            hints[field.name],
            field.required,
            next((t for t in _alternatives(hints[field.name]) if _is_struct(t)), None),
            _check_of(hints[field.name]),
        )
        for field in msgspec.structs.fields(shape)
    )


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself, without their annotations."""
    plain = typing.get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    return typing.get_args(plain) or (plain,)


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _check_of(hint: Any) -> Any:
    """The rule in `Meta(extra={"check": …})` of the type, or of a member of its union."""
    for part in (hint, *typing.get_args(hint)):
        for meta in getattr(part, "__metadata__", ()):
            if isinstance(meta, msgspec.Meta) and meta.extra and "check" in meta.extra:
                return meta.extra["check"]
    return None


@cache
def _known_names(shape: type[msgspec.Struct]) -> frozenset[str]:
    ignored: frozenset[str] = getattr(shape, "IGNORED", frozenset())
    return ignored | {field.name for field in _fields(shape)}


def _unknown_fields(
    document: dict[str, Any], shape: type[msgspec.Struct], at: str
) -> Iterator[str]:
    known = _known_names(shape)
    for name in document:
        if name not in known:
            yield at + "/" + name.replace("~", "~0").replace("/", "~1")
    for field in _fields(shape):
        if field.nested is not None and isinstance(document.get(field.name), dict):
            yield from _unknown_fields(document[field.name], field.nested, f"{at}/{field.name}")


def _broken_rules(
    document: dict[str, Any], shape: type[msgspec.Struct], at: str
) -> Iterator[Fault]:
    """What the rules say of values whose types are right."""
    for field in _fields(shape):
        value = document.get(field.name)
        if value is None:
            continue
        if field.nested is not None:
            yield from _broken_rules(value, field.nested, f"{at}/{field.name}")
        if field.check is not None:
            yield from _from_check(field.check(value), f"{at}/{field.name}")


def _from_check(found: list[tuple[str, str, str]], at: str) -> Iterator[Fault]:
    for below, code, text in found:
        yield Fault(at + below, code, text)


def _faults(document: dict[str, Any], shape: type[msgspec.Struct], at: str) -> Iterator[Fault]:
    """Everything wrong with a body, field by field; only walked when something is."""
    for field in _fields(shape):
        here = f"{at}/{field.name}"
        if field.name not in document:
            if field.is_required:
                yield Fault(here, "required", "This field is required.")
            continue
        value = document[field.name]
        if field.nested is not None and isinstance(value, dict):
            yield from _faults(value, field.nested, here)
            continue
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            yield _fault_of(str(error), value, here)
            continue
        if field.check is not None and value is not None:
            yield from _from_check(field.check(value), here)


_KINDS = (
    (re.compile(r"Expected `str` of length >= (\d+)"), "too_short", "must not be empty"),
    (re.compile(r"Expected `str` of length <= (\d+)"), "too_long", "must be at most {} characters"),
    (re.compile(r"Expected `array` of length <= (\d+)"), "too_many", "must have at most {} items"),
    (re.compile(r"Expected `int` >= (-?\d+)"), "out_of_range", "must be at least {}"),
    (re.compile(r"Expected `int` <= (-?\d+)"), "out_of_range", "must be at most {}"),
)


def _fault_of(message: str, value: Any, at: str) -> Fault:
    path = _PATH.search(message)
    text = message[: path.start()] if path else message
    pointer = at + _as_pointer(path.group(1)) if path else at
    if value is None:
        return Fault(
            pointer, "null_not_allowed", "This field cannot be null; leave it out instead."
        )
    for pattern, code, words in _KINDS:
        found = pattern.match(text)
        if found:
            return Fault(pointer, code, f"This {words.format(found.group(1))}.")
    if text.startswith("Invalid enum value"):
        return Fault(pointer, "invalid_value", f"{text}; see the documentation for the valid ones.")
    return Fault(pointer, "invalid_type", f"{text.replace('`', '')}.")


def _as_pointer(path: str) -> str:
    return re.sub(r"\[(\d+)\]", r"/\1", path).replace(".", "/").replace("[...]", "")


def _is_strict(call: Call) -> bool:
    prefer = call.headers.get(b"prefer", b"").lower().replace(b" ", b"").replace(b'"', b"")
    return b"handling=strict" in re.split(rb"[,;]", prefer)


def _warnings(pointers: list[str]) -> bytes:
    """At most 10 pointers in at most 1 KiB, in characters that a header can carry."""
    text = b""
    for pointer in pointers[:_WARNINGS_COUNT]:
        part = b"unknown_field=" + quote(pointer, safe="/~").encode()
        longer = text + b", " + part if text else part
        if len(longer) > _WARNINGS_BYTES:
            break
        text = longer
    return text
