"""Finds all faults of a JSON object, by the types of a struct."""

import typing
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import inspect

from sealdesk.errors import Fault, gettext_noop

Check = Callable[[Any], list[Fault]]

_REQUIRED = gettext_noop("This field is required.")
NULL = "This cannot be null."
WRONG_TYPE = "Expected %(expected)s, got %(got)s."
_WRONG_CHOICE = gettext_noop("This must be one of %(choices)s.")
_EMPTY = gettext_noop("This must not be empty.")
_TOO_LONG = gettext_noop("This must be at most %(limit)s characters.")
_TOO_MANY = gettext_noop("This must have at most %(limit)s items.")
_TOO_SMALL = gettext_noop("This must be at least %(limit)s.")
_TOO_GREAT = gettext_noop("This must be at most %(limit)s.")

# The names of JSON Schema.
_KIND_OF_VALUE = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_KIND_OF_TYPE: dict[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.LiteralType: "string",
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.ListType: "array",
    inspect.DictType: "object",
    inspect.StructType: "object",
}


class FieldType(NamedTuple):
    """The valid values of a field, or of the items of an array.

    kinds: of JSON values. json_type: without null and metadata, with its limits.
    choices: all values, when they are few. item: of an array. struct: of an object.
    check: the rule in `Meta(extra={"check": …})`.
    """

    kinds: tuple[str, ...]
    json_type: inspect.Type
    choices: tuple[str, ...]
    item: "FieldType | None"
    struct: type[msgspec.Struct] | None
    check: Check | None


class Field(NamedTuple):
    """A field of a struct, by its name in JSON."""

    name: str
    is_required: bool
    type: FieldType


@cache
def fields_of(struct: type[msgspec.Struct]) -> tuple[Field, ...]:
    """The fields of a struct with their types."""
    info = cast("inspect.StructType", inspect.type_info(struct))
    # The hints have the choices in declared order; msgspec sorts them.
    hints = typing.get_type_hints(struct, include_extras=True)
    return tuple(
        Field(
            each.encode_name, each.required, _field_type(each.type, _choices_of(hints[each.name]))
        )
        for each in info.fields
    )


def find_faults(
    document: dict[str, Any], struct: type[msgspec.Struct], at: str = ""
) -> Iterator[Fault]:
    """All faults of an object. at: its JSON pointer."""
    for field in fields_of(struct):
        pointer = f"{at}/{field.name}"
        if field.name in document:
            yield from _faults_of_value(field.type, document[field.name], pointer)
        elif field.is_required:
            yield Fault(pointer, "required", _REQUIRED)


@cache
def checked_fields(struct: type[msgspec.Struct]) -> tuple[Field, ...]:
    """The fields whose values have a check, or hold values that have one."""
    return tuple(field for field in fields_of(struct) if _has_check(field.type))


def _has_check(declared: FieldType) -> bool:
    if declared.check is not None or (declared.item is not None and _has_check(declared.item)):
        return True
    return declared.struct is not None and bool(checked_fields(declared.struct))


def _choices_of(hint: Any) -> tuple[str, ...]:
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    return next(filter(None, map(_choices_of, typing.get_args(hint))), ())


def _field_type(declared: inspect.Type, choices: tuple[str, ...]) -> FieldType:
    members = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    is_nullable = any(isinstance(member, inspect.NoneType) for member in members)
    # msgspec leaves Unset out; besides null, the fields of our structs have one type each.
    (member,) = (member for member in members if not isinstance(member, inspect.NoneType))
    check: Check | None = None
    if isinstance(member, inspect.Metadata):
        check, member = (member.extra or {}).get("check"), member.type
    kind = _KIND_OF_TYPE[type(member)]
    return FieldType(
        kinds=(kind, "null") if is_nullable else (kind,),
        json_type=member,
        choices=choices if isinstance(member, inspect.LiteralType) else (),
        item=_field_type(member.item_type, choices)
        if isinstance(member, inspect.ListType)
        else None,
        struct=member.cls if isinstance(member, inspect.StructType) else None,
        check=check,
    )


def _faults_of_value(declared: FieldType, value: Any, at: str) -> Iterator[Fault]:
    kind = _KIND_OF_VALUE[type(value)]
    if kind not in declared.kinds:
        yield _wrong_kind(declared, kind, at)
    elif value is not None:
        yield from _faults_of_content(declared, value, at)


def _wrong_kind(declared: FieldType, kind: str, at: str) -> Fault:
    if kind == "null":
        return Fault(at, "null_not_allowed", NULL)
    values = {"expected": " or ".join(declared.kinds), "got": kind}
    return Fault(at, "invalid_type", WRONG_TYPE, values)


def _faults_of_content(declared: FieldType, value: Any, at: str) -> Iterator[Fault]:
    """The faults of a value of the right type. Its check runs only when it has no other fault."""
    fault = _broken_limit(declared, value, at)
    if fault is not None:
        yield fault
        return
    is_valid = True
    for fault in _faults_within(declared, value, at):
        is_valid = False
        yield fault
    if is_valid and declared.check is not None:
        for fault in declared.check(value):
            yield fault._replace(pointer=at + fault.pointer)


def _faults_within(declared: FieldType, value: Any, at: str) -> Iterator[Fault]:
    if declared.struct is not None:
        yield from find_faults(value, declared.struct, at)
    if declared.item is not None:
        for place, item in enumerate(value):
            yield from _faults_of_value(declared.item, item, f"{at}/{place}")


def _broken_limit(declared: FieldType, value: Any, at: str) -> Fault | None:
    if declared.choices and value not in declared.choices:
        return Fault(at, "invalid_value", _WRONG_CHOICE, {"choices": ", ".join(declared.choices)})
    match declared.json_type:
        case inspect.StrType(min_length=int(least)) | inspect.ListType(min_length=int(least)) if (
            len(value) < least
        ):
            return Fault(at, "too_short", _EMPTY)
        case inspect.StrType(max_length=int(most)) if len(value) > most:
            return Fault(at, "too_long", _TOO_LONG, {"limit": most})
        case inspect.ListType(max_length=int(most)) if len(value) > most:
            return Fault(at, "too_many", _TOO_MANY, {"limit": most})
        case inspect.IntType(ge=int(least)) if value < least:
            return Fault(at, "out_of_range", _TOO_SMALL, {"limit": least})
        case inspect.IntType(le=int(most)) if value > most:
            return Fault(at, "out_of_range", _TOO_GREAT, {"limit": most})
    return None
