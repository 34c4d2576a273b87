"""JSON Schemas of the structs, with descriptions of the fields from their docstrings."""

import inspect
import re
import typing
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

Schema = dict[str, Any]
_REFS = "#/components/schemas/"
_SUFFIX = re.compile("(?:Shown|Response)$")
_FIELD = re.compile(r"(?:^|(?<=\. ))([a-z_]+): ", re.MULTILINE)


def name_of(struct: type[msgspec.Struct]) -> str:
    """The public name of a struct: `ApiKeyResponse` becomes ApiKey."""
    return _SUFFIX.sub("", struct.__name__)


def ref(struct: type[msgspec.Struct]) -> Schema:
    return {"$ref": _REFS + name_of(struct)}


def components(
    requests: Iterable[type[msgspec.Struct]], responses: Iterable[type[msgspec.Struct]]
) -> dict[str, Schema]:
    """The schemas of all structs by public name, including those that they refer to.

    requests: may have further members. responses: may not.
    """
    return _schemas(requests, is_closed=False) | _schemas(responses, is_closed=True)


def _schemas(structs: Iterable[type[msgspec.Struct]], *, is_closed: bool) -> dict[str, Schema]:
    schemas: dict[str, Schema] = {}
    for struct in structs:
        _, parts = msgspec.json.schema_components([struct], ref_template=_REFS + "{name}")
        struct_by_name = {part.__name__: part for part in _structs(struct)}
        for name, schema in parts.items():
            schemas[_SUFFIX.sub("", name)] = _describe(schema, struct_by_name[name], is_closed)
    return schemas


def _describe(schema: Schema, struct: type[msgspec.Struct], is_closed: bool) -> Schema:
    """The schema of a struct with descriptions, in the form that the reference reads."""
    descriptions = _field_descriptions(struct)
    properties = {
        name: _tidy(value) | ({"description": descriptions[name]} if name in descriptions else {})
        for name, value in schema["properties"].items()
    }
    described = schema | {
        "title": name_of(struct),
        "description": _first_sentence(struct),
        "properties": properties,
    }
    return described | {"additionalProperties": False} if is_closed else described


def _field_descriptions(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The descriptions of fields in the docstrings of a struct and of its bases."""
    descriptions: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        if base.__module__.startswith("sealdesk."):
            parts = _FIELD.split(inspect.getdoc(base) or "")
            descriptions |= {
                name: _sentence(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)
            }
    return descriptions


def _first_sentence(struct: type[msgspec.Struct]) -> str:
    return " ".join(_FIELD.split(inspect.getdoc(struct) or "")[0].split())


def _sentence(text: str) -> str:
    sentence = " ".join(text.split())
    return sentence[0].upper() + sentence[1:] if sentence[0].isalpha() else sentence


def _tidy(schema: Schema) -> Schema:
    """With public names, `type: [x, null]` for "x or null", and enumerations in declared order."""
    if "$ref" in schema:
        return {"$ref": _SUFFIX.sub("", schema["$ref"])}
    if "anyOf" in schema:
        first, *others = (_tidy(part) for part in schema["anyOf"])
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        if others == [{"type": "null"}] and "type" in first:
            enum = {"enum": [*first["enum"], None]} if "enum" in first else {}
            return {**first, **enum, "type": [first["type"], "null"], **rest}
        return {"anyOf": [first, *others], **rest}
    if "items" in schema:
        return schema | {"items": _tidy(schema["items"])}
    if "enum" in schema:
        return {"type": "string", **schema, "enum": _in_order(schema["enum"])}
    return schema


def _in_order(values: list[str]) -> list[str]:
    """An enumeration in the order of its Literal; msgspec sorts it."""
    return _ORDERS.get(frozenset(values), values)


_ORDERS: dict[frozenset[str], list[str]] = {}


def _structs(hint: Any) -> set[type[msgspec.Struct]]:
    """All structs within a type. Also stores the order of its enumerations in _ORDERS."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        fields = typing.get_type_hints(hint, include_extras=True).values()
        return {hint}.union(*(_structs(field) for field in fields))
    if typing.get_origin(hint) is Literal:
        _ORDERS[frozenset(typing.get_args(hint))] = list(typing.get_args(hint))
        return set()
    return set[type[msgspec.Struct]]().union(*(_structs(part) for part in typing.get_args(hint)))
