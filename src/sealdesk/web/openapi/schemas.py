"""JSON Schemas of the structs, with descriptions of the fields from their docstrings."""

import inspect
import re
import typing
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

Schema = dict[str, Any]
# The values of an open enumeration. JSON Schema has only closed ones; this name is Zalando's
# (opensource.zalando.com/restful-api-guidelines, rule 112), which generators read or ignore.
KNOWN_VALUES = "x-extensible-enum"
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

    All may have further members. Enumerations are closed in requests and open in responses.
    """
    return _schemas(requests, _taken) | _schemas(responses, _given)


def _schemas(
    structs: Iterable[type[msgspec.Struct]], adapt: Callable[[Schema], Schema]
) -> dict[str, Schema]:
    schemas: dict[str, Schema] = {}
    for struct in structs:
        _, parts = msgspec.json.schema_components([struct], ref_template=_REFS + "{name}")
        struct_by_name = {part.__name__: part for part in _structs(struct)}
        for name, schema in parts.items():
            schemas[_SUFFIX.sub("", name)] = adapt(_describe(schema, struct_by_name[name]))
    return schemas


def _describe(schema: Schema, struct: type[msgspec.Struct]) -> Schema:
    """The schema of a struct with descriptions, in the form that the reference reads."""
    descriptions = _field_descriptions(struct)
    properties = {
        name: _tidy(value) | ({"description": descriptions[name]} if name in descriptions else {})
        for name, value in schema["properties"].items()
    }
    return schema | {
        "title": name_of(struct),
        "description": _first_sentence(struct),
        "properties": properties,
    }


def _taken(schema: Schema) -> Schema:
    """With defaults in words: generators would require a field that has one."""
    properties = {
        name: _with_default_in_words(field) for name, field in schema["properties"].items()
    }
    return schema | {"properties": properties}


def _with_default_in_words(field: Schema) -> Schema:
    default = field.get("default")
    described = _without(field, "default")
    if default in (None, ""):
        return described
    words = f"{field.get('description', '')} By default `{str(default).lower()}`."
    return described | {"description": words.strip()}


def _given(schema: Schema) -> Schema:
    """With open enumerations. Responses also have the fields that have a default."""
    declared, required = schema["properties"], schema.get("required", [])
    properties = {name: _opened(field) for name, field in declared.items()}
    always = [name for name, field in declared.items() if name in required or "default" in field]
    return schema | {"properties": properties, "required": always}


def _opened(schema: Schema) -> Schema:
    opened = {name: value for name, value in schema.items() if name not in ("default", "enum")}
    if "enum" in schema:
        opened[KNOWN_VALUES] = [value for value in schema["enum"] if value is not None]
    if "items" in schema:
        opened["items"] = _opened(schema["items"])
    return opened


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
    """With public names, `type: [x, null]` for "x or null", and what generators can read."""
    if "$ref" in schema:
        return {"$ref": _SUFFIX.sub("", schema["$ref"])}
    if "anyOf" in schema:
        first, *others = (_tidy(part) for part in schema["anyOf"])
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        if others == [{"type": "null"}] and "type" in first:
            enum = {"enum": [*first["enum"], None]} if "enum" in first else {}
            return {**first, **enum, "type": [first["type"], "null"], **rest}
        return {"anyOf": [first, *others], **rest}
    if "prefixItems" in schema:  # generators know no tuples
        return {**_without(schema, "prefixItems"), "items": {}}
    if "items" in schema:
        return schema | {"items": _tidy(schema["items"])}
    if "enum" in schema:
        return {"type": "string", **schema, "enum": _in_order(schema["enum"])}
    if schema.get("type") == "object":  # without this, generators make objects without members
        members = schema.get("additionalProperties")
        return schema | {"additionalProperties": _tidy(members) if members else True}
    return schema


def _without(schema: Schema, name: str) -> Schema:
    return {other: value for other, value in schema.items() if other != name}


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
