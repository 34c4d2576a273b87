"""Reading JSON bodies: into the struct that an operation takes, every fault named at once."""

import re
import types
import typing
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from sealdesk.errors import Fault, ValidationFailed, invalid
from sealdesk.web.request import Request
from sealdesk.web.strict_json import parse

S = TypeVar("S", bound=msgspec.Struct)
# A hostile body of 1 MiB could have 100,000 faults, and an answer of 15 MiB.
_FAULTS_NAMED = 100
_WARNINGS_COUNT = 10
_WARNINGS_BYTES = 1024
_POINTER_SHOWN = 64


def read(request: Request, shape: type[S]) -> S:
    """The body as this struct. Raises Malformed (400), or Invalid (422) naming every fault.

    Names that the struct does not have are reported in `x-warnings`, or as faults under
    `Prefer: handling=strict`; names in its IGNORED are passed over without a word.
    """
    document = parse(request.body)
    if not isinstance(document, dict):
        raise invalid([Fault("", "invalid_type", "The body must be a JSON object.")])
    unknown = list(_unknown_fields(document, shape, ""))
    if unknown and _is_strict(request):
        raise _refused(chain(map(_unknown_field, unknown), _faults(document, shape, "")))
    if unknown:
        request.response_headers.append((b"x-warnings", _warnings(unknown)))
    return convert(document, shape)


def convert(document: Any, shape: type[S]) -> S:
    """A JSON value as this struct. Raises Invalid, which names every fault."""
    try:
        value = msgspec.convert(document, shape)
    except msgspec.ValidationError:
        raise _refused(_faults(document, shape, "")) from None
    broken = _broken_rules(document, shape, "")
    for first in broken:
        raise _refused(chain([first], broken))
    return value


def _refused(faults: Iterable[Fault]) -> ValidationFailed:
    return invalid(list(islice(faults, _FAULTS_NAMED)))


def _unknown_field(pointer: str) -> Fault:
    return Fault(pointer, "unknown_field", "There is no such field; check its spelling.")


class _Field(typing.NamedTuple):
    """A field of a struct, or the items of an array, as far as reading a body needs it.

    nested: the struct that it holds. item: what its items are. choices: its values, when they are
    few. check: the rule in `Meta(extra={"check": …})`.
    """

    name: str
    type: Any
    is_required: bool
    nested: Any
    item: "_Field | None"
    choices: tuple[str, ...]
    check: Any


@cache
def _fields(shape: type[msgspec.Struct]) -> tuple[_Field, ...]:
    hints = typing.get_type_hints(shape, include_extras=True)
    return tuple(
        _field(field.encode_name, hints[field.name], is_required=field.required)
        for field in msgspec.structs.fields(shape)
    )


def _field(name: str, hint: Any, *, is_required: bool) -> _Field:
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    members = typing.get_args(hint) if is_union else (hint,)
    kinds = [_plain(member) for member in members]
    items = next((typing.get_args(k)[0] for k in kinds if typing.get_origin(k) is list), None)
    return _Field(
        name,
        hint,
        is_required,
        next((k for k in kinds if isinstance(k, type) and issubclass(k, msgspec.Struct)), None),
        None if items is None else _field("", items, is_required=True),
        next((typing.get_args(k) for k in kinds if typing.get_origin(k) is typing.Literal), ()),
        next((check for check in map(_check_of, members) if check is not None), None),
    )


def _plain(hint: Any) -> Any:
    """The type without its annotations."""
    return typing.get_args(hint)[0] if hasattr(hint, "__metadata__") else hint


def _check_of(hint: Any) -> Any:
    for meta in getattr(hint, "__metadata__", ()):
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
        if field.name in document:
            yield from _broken_by(field, document[field.name], f"{at}/{field.name}")


def _broken_by(field: _Field, value: Any, at: str) -> Iterator[Fault]:
    if value is None:
        return
    if field.nested is not None:
        yield from _broken_rules(value, field.nested, at)
    if field.item is not None and (field.item.check or field.item.nested):
        for place, item in enumerate(value):
            yield from _broken_by(field.item, item, f"{at}/{place}")
    if field.check is not None:
        for below, code, text in field.check(value):
            yield Fault(at + below, code, text)


def _faults(document: dict[str, Any], shape: type[msgspec.Struct], at: str) -> Iterator[Fault]:
    """Everything wrong with a body, field by field; only walked when something is."""
    for field in _fields(shape):
        here = f"{at}/{field.name}"
        if field.name in document:
            yield from _faults_of(field, document[field.name], here)
        elif field.is_required:
            yield Fault(here, "required", "This field is required.")


def _faults_of(field: _Field, value: Any, at: str) -> Iterator[Fault]:
    if field.nested is not None and isinstance(value, dict):
        yield from _faults(value, field.nested, at)
        return
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError as error:
        if field.item is not None and _IN_AN_ITEM.search(str(error)):
            for place, item in enumerate(value):
                yield from _faults_of(field.item, item, f"{at}/{place}")
        else:
            yield _fault(field, str(error), value, at)
        return
    yield from _broken_by(field, value, at)


_IN_AN_ITEM = re.compile(r" - at `\$\[\d+\]")
_KINDS = (
    (re.compile(r"Expected `str` of length >= (\d+)"), "too_short", "must not be empty"),
    (re.compile(r"Expected `str` of length <= (\d+)"), "too_long", "must be at most {} characters"),
    (re.compile(r"Expected `array` of length <= (\d+)"), "too_many", "must have at most {} items"),
    (re.compile(r"Expected `int` >= (-?\d+)"), "out_of_range", "must be at least {}"),
    (re.compile(r"Expected `int` <= (-?\d+)"), "out_of_range", "must be at most {}"),
)


def _fault(field: _Field, message: str, value: Any, at: str) -> Fault:
    if value is None:
        return Fault(at, "null_not_allowed", "This cannot be null.")
    for pattern, code, words in _KINDS:
        found = pattern.match(message)
        if found:
            return Fault(at, code, f"This {words.format(found.group(1))}.")
    if field.choices and isinstance(value, str):
        return Fault(at, "invalid_value", f"This must be one of {', '.join(field.choices)}.")
    return Fault(at, "invalid_type", f"{message.replace('`', '')}.")


def _is_strict(request: Request) -> bool:
    prefers = b",".join(value for name, value in request.raw_headers if name == b"prefer")
    wanted = prefers.lower().replace(b" ", b"").replace(b'"', b"")
    return b"handling=strict" in re.split(rb"[,;]", wanted)


def _warnings(pointers: list[str]) -> bytes:
    """At most 10 pointers in at most 1 KiB, in characters that a header can carry."""
    text = b""
    for pointer in pointers[:_WARNINGS_COUNT]:
        shown = pointer if len(pointer) <= _POINTER_SHOWN else f"{pointer[:_POINTER_SHOWN]}…"
        part = b"unknown_field=" + quote(shown, safe="/~").encode()
        longer = text + b", " + part if text else part
        if len(longer) > _WARNINGS_BYTES:
            break
        text = longer
    return text
