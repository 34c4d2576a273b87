"""Reads the JSON body of a request into the struct of an operation."""

import re
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from itertools import chain, islice, starmap
from typing import Any, TypeVar

import msgspec

from sealdesk import clock, ids
from sealdesk.errors import Fault, ValidationFailed, invalid
from sealdesk.web import unknown_names
from sealdesk.web.faults import FieldType, checked_fields, fields_of, find_faults
from sealdesk.web.json_parsing import parse, pointer_to
from sealdesk.web.request import Request

S = TypeVar("S", bound=msgspec.Struct)
# The pointer to a name, and the struct that does not have it.
_Unknown = tuple[str, type[msgspec.Struct]]
_PREFERENCE = re.compile(rb'(?:[^,"]|"[^"]*"?)+')
# A hostile body of 1 MiB could have 100,000 faults, and a response of 15 MiB.
_MAX_FAULTS = 100


def read(request: Request, struct: type[S]) -> S:
    """The body as this struct. Raises BadRequest, or ValidationFailed, which names every fault.

    Names that the struct does not have are reported in `x-warnings`, or as faults under
    `Prefer: handling=strict`, where the struct's IS_CLOSED is set, and where they are mistaken for
    a switch: see `unknown_names.meant`. Names in its IGNORED are dropped without a warning.
    """
    return _read_document(request, _parse_object(request), struct)


class _NoBody(msgspec.Struct):
    """The body of an operation that takes none."""


def read_no_body(request: Request) -> None:
    """Treat the members of a body that nothing reads as unknown names, as in `read`.

    Who sends `dry_run` to what cannot be undone is told that there is none. Raises BadRequest,
    ValidationFailed.
    """
    if request.body:
        read(request, _NoBody)


async def read_change(request: Request, struct: type[S], show: Callable[[], Awaitable[Any]]) -> S:
    """A merge patch as this struct, in which other fields of the resource repeat what they have.

    So a client can send a resource back that it has read, and nothing is ignored that it meant to
    change. show: reads the resource, as a struct or as JSON; what it lacks of IGNORED is shown on
    request only. Raises BadRequest, ValidationFailed, NotFound.
    """
    document = _parse_object(request)
    others = document.keys() - {field.name for field in fields_of(struct)}
    present = _fields(await show()) if others else {}
    repeated = {name: document[name] for name in others & present.keys()}
    rest = {name: value for name, value in document.items() if name not in repeated}
    change = _read_document(request, rest, struct)
    check_repeated(repeated, present, struct)
    return change


def check_repeated(repeated: dict[str, Any], shown: Any, struct: type[msgspec.Struct]) -> None:
    """Raises ValidationFailed for fields that a resource shows with other values.

    shown: the resource, as a struct or as JSON. struct: of its changes.
    """
    present = _fields(shown)
    names = sorted(repeated.keys() & present.keys())
    changed = [name for name in names if not _is_same(repeated[name], present[name])]
    if changed:
        raise _invalid(unknown_names.read_only(name, struct) for name in changed)


def _is_same(sent: Any, present: Any) -> bool:
    """Whether a value is the present one, also as other programs write a time or an id.

    Those of JavaScript know milliseconds.
    """
    if sent == present or not (isinstance(sent, str) and isinstance(present, str)):
        return bool(sent == present)
    times = clock.parse_instant(sent), clock.parse_instant(present)
    if times[0] is not None and times[1] is not None:
        return times[0] // 1000 == times[1] // 1000
    return ids.is_canonical(present) and sent.lower() == present


def _fields(shown: Any) -> dict[str, Any]:
    # As JSON, in which a tuple is the list that was sent.
    document = shown if isinstance(shown, bytes) else msgspec.json.encode(shown)
    return dict(msgspec.json.decode(document))


def _parse_object(request: Request) -> dict[str, Any]:
    document = parse(request.body)
    if not isinstance(document, dict):
        raise invalid([Fault("", "invalid_type", "The body must be a JSON object.")])
    return document


def _read_document(request: Request, document: dict[str, Any], struct: type[S]) -> S:
    unknown = _unknown_fields(document, struct, "")
    if _are_refused(request, unknown, struct):
        return convert_closed(document, struct)
    _warn(request, unknown)
    return convert(document, struct)


def _are_refused(request: Request, unknown: list[_Unknown], struct: type[msgspec.Struct]) -> bool:
    """struct: of the body, whose switches are meant in the objects within it too."""
    if not unknown or _is_strict(request) or getattr(struct, "IS_CLOSED", False):
        return bool(unknown)
    return any(
        unknown_names.meant(pointer.rpartition("/")[2], each) is not None
        for pointer, inner in unknown
        for each in (struct, inner)
    )


def _warn(request: Request, unknown: list[_Unknown]) -> None:
    if unknown:
        text = unknown_names.warnings([pointer for pointer, _ in unknown])
        request.response_headers.append((b"x-warnings", text))


def read_items(
    request: Request, name: str, struct: type[S], max_count: int
) -> list[S | ValidationFailed]:
    """The items of a body `{name: [item, …]}`, each as this struct or with its faults.

    Unknown names are treated as in `read`. Raises BadRequest, ValidationFailed.
    """
    items = _parse_items(request, name, struct, max_count)
    return [_convert_or_fault(item, struct) for item in items]


def read_changes(
    request: Request, name: str, struct: type[S], max_count: int
) -> list[tuple[S, dict[str, Any]] | ValidationFailed]:
    """As `read_items`, for merge patches: each with its fields that the struct ignores.

    They may only repeat what the resource has: see `check_repeated`.
    """
    ignored: frozenset[str] = getattr(struct, "IGNORED", frozenset())
    changes: list[tuple[S, dict[str, Any]] | ValidationFailed] = []
    for item in _parse_items(request, name, struct, max_count):
        change = _convert_or_fault(item, struct)
        repeated = {name: value for name, value in item.items() if name in ignored}
        changes.append(change if isinstance(change, ValidationFailed) else (change, repeated))
    return changes


def _parse_items(
    request: Request, name: str, struct: type[msgspec.Struct], max_count: int
) -> list[dict[str, Any]]:
    document = parse(request.body)
    items = document.get(name) if isinstance(document, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise invalid([Fault(f"/{name}", "invalid_type", "This must be a list of JSON objects.")])
    if not 1 <= len(items) <= max_count:
        text = f"This must hold 1 to {max_count} items."
        raise invalid([Fault(f"/{name}", "too_long" if items else "too_short", text)])
    unknown: list[_Unknown] = [(pointer_to("", each), struct) for each in document if each != name]
    unknown += _unknown_fields(items, struct, f"/{name}")
    if _are_refused(request, unknown, struct):
        raise _invalid(starmap(unknown_names.fault_of, unknown))
    _warn(request, unknown)
    return items


def _convert_or_fault(item: dict[str, Any], struct: type[S]) -> S | ValidationFailed:
    try:
        return convert(item, struct)
    except ValidationFailed as error:
        return error


def convert(document: dict[str, Any], struct: type[S]) -> S:
    """A JSON object as this struct. Raises ValidationFailed, which names every fault."""
    _lower_ids(document, struct)
    try:
        value = msgspec.convert(document, struct)
    except msgspec.ValidationError:
        raise _invalid(find_faults(document, struct)) from None
    if not _passes_checks(document, struct):
        raise _invalid(find_faults(document, struct))
    return value


def convert_closed(document: dict[str, Any], struct: type[S]) -> S:
    """The same, and names that the struct does not have are faults too."""
    unknown = _unknown_fields(document, struct, "")
    if unknown:
        faults = starmap(unknown_names.fault_of, unknown)
        raise _invalid(chain(faults, find_faults(document, struct)))
    return convert(document, struct)


def _lower_ids(document: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    """Write the ids that were sent in upper case in lower case; external ids are exact."""
    for name, inner in _fields_with_ids(struct):
        value = document.get(name)
        if inner is not None:
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    _lower_ids(each, inner)
        elif isinstance(value, str):
            document[name] = ids.in_lower_case(value)
        elif isinstance(value, list):
            document[name] = [ids.in_lower_case(x) if isinstance(x, str) else x for x in value]


@cache
def _fields_with_ids(
    struct: type[msgspec.Struct],
) -> tuple[tuple[str, type[msgspec.Struct] | None], ...]:
    """(name, struct that it contains) of each field that is an id, ids, or objects with them."""
    found: list[tuple[str, type[msgspec.Struct] | None]] = []
    inner_structs = dict(_inner_structs(struct))
    for field in fields_of(struct):
        inner = inner_structs.get(field.name)
        is_id = field.name in ("id", "into") or field.name.endswith(("_id", "_ids"))
        if inner is not None and _fields_with_ids(inner):
            found.append((field.name, inner))
        elif inner is None and is_id and field.name != "external_id":
            found.append((field.name, None))
    return tuple(found)


def _passes_checks(document: dict[str, Any], struct: type[msgspec.Struct]) -> bool:
    """Whether an object with valid types and limits passes the checks of its fields."""
    for field in checked_fields(struct):
        value = document.get(field.name)
        if value is not None and not _passes_check(field.type, value):
            return False
    return True


def _passes_check(declared: FieldType, value: Any) -> bool:
    if declared.struct is not None and not _passes_checks(value, declared.struct):
        return False
    item = declared.item
    if item is not None and (item.check is not None or item.struct is not None):
        for each in value:
            if each is not None and not _passes_check(item, each):
                return False
    return declared.check is None or not declared.check(value)


def _invalid(faults: Iterable[Fault]) -> ValidationFailed:
    return invalid(list(islice(faults, _MAX_FAULTS)))


@cache
def _known_names(struct: type[msgspec.Struct]) -> frozenset[str]:
    ignored: frozenset[str] = getattr(struct, "IGNORED", frozenset())
    return ignored | {field.name for field in fields_of(struct)}


@cache
def _inner_structs(struct: type[msgspec.Struct]) -> tuple[tuple[str, type[msgspec.Struct]], ...]:
    """(name, struct) of each field that is an object or a list of objects."""
    items = ((field.name, field.type.item or field.type) for field in fields_of(struct))
    return tuple((name, each.struct) for name, each in items if each.struct)


def _unknown_fields(value: Any, struct: type[msgspec.Struct], at: str) -> list[_Unknown]:
    """Those of an object, or of each object of a list."""
    if isinstance(value, list):
        places = (_unknown_fields(each, struct, f"{at}/{n}") for n, each in enumerate(value))
        return [*chain.from_iterable(places)]
    if not isinstance(value, dict):
        return []
    known = _known_names(struct)
    unknown: list[_Unknown] = [
        (pointer_to(at, name), struct) for name in value if name not in known
    ]
    for name, inner in _inner_structs(struct):
        unknown += _unknown_fields(value.get(name), inner, f"{at}/{name}")
    return unknown


def _is_strict(request: Request) -> bool:
    prefers = b",".join(value for name, value in request.raw_headers if name == b"prefer")
    preferences = (each.partition(b";")[0] for each in _PREFERENCE.findall(prefers.lower()))
    named = (b"".join(each.replace(b'"', b"").split()) for each in preferences)
    # Of a preference that is sent twice, the first counts (RFC 7240 section 2).
    first = next((each for each in named if each.startswith(b"handling=")), b"")
    return first == b"handling=strict"
