"""Reads the JSON body of a request into the struct that an operation takes."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from sealdesk.errors import Fault, ValidationFailed, invalid
from sealdesk.web.faults import fields_of, find_broken_rules, find_faults
from sealdesk.web.request import Request
from sealdesk.web.strict_json import parse

S = TypeVar("S", bound=msgspec.Struct)
# A hostile body of 1 MiB could have 100,000 faults, and a response of 15 MiB.
_FAULTS_NAMED = 100
_WARNINGS_COUNT = 10
_WARNINGS_BYTES = 1024
_POINTER_SHOWN = 64


def read(request: Request, struct: type[S]) -> S:
    """The body as this struct. Raises BadRequest, or ValidationFailed, which names every fault.

    Names that the struct does not have are reported in `x-warnings`, or as faults under
    `Prefer: handling=strict`. Names in its IGNORED are dropped without a warning.
    """
    document = parse(request.body)
    if not isinstance(document, dict):
        raise invalid([Fault("", "invalid_type", "The body must be a JSON object.")])
    unknown = list(_unknown_fields(document, struct, ""))
    if unknown and _is_strict(request):
        raise _invalid(chain(map(_unknown_field, unknown), find_faults(document, struct)))
    if unknown:
        request.response_headers.append((b"x-warnings", _warnings(unknown)))
    return convert(document, struct)


def convert(document: dict[str, Any], struct: type[S]) -> S:
    """A JSON object as this struct. Raises ValidationFailed, which names every fault."""
    try:
        value = msgspec.convert(document, struct)
    except msgspec.ValidationError:
        raise _invalid(find_faults(document, struct)) from None
    broken = find_broken_rules(document, struct)
    for first in broken:
        raise _invalid(chain([first], broken))
    return value


def _invalid(faults: Iterable[Fault]) -> ValidationFailed:
    return invalid(list(islice(faults, _FAULTS_NAMED)))


def _unknown_field(pointer: str) -> Fault:
    return Fault(pointer, "unknown_field", "There is no such field; check its spelling.")


@cache
def _known_names(struct: type[msgspec.Struct]) -> frozenset[str]:
    ignored: frozenset[str] = getattr(struct, "IGNORED", frozenset())
    return ignored | {field.name for field in fields_of(struct)}


def _unknown_fields(
    document: dict[str, Any], struct: type[msgspec.Struct], at: str
) -> Iterator[str]:
    known = _known_names(struct)
    for name in document:
        if name not in known:
            yield at + "/" + name.replace("~", "~0").replace("/", "~1")
    for field in fields_of(struct):
        inner = field.type.struct
        if inner is not None and isinstance(document.get(field.name), dict):
            yield from _unknown_fields(document[field.name], inner, f"{at}/{field.name}")


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
