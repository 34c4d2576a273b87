"""A schema as rows of a table: name, type, rules, description."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sealdesk.web.openapi.schemas import KNOWN_VALUES

Json = dict[str, Any]


class Field(NamedTuple):
    """One row of a table of fields or parameters."""

    name: str
    kind: str
    rules: list[str]
    about: str
    is_required: bool


def fields_of(document: Json, schema: Json) -> list[Field]:
    """The fields of an object; those of a nested object follow it as `outer.inner`."""
    return list(_fields(document, schema, ""))


def _fields(document: Json, schema: Json, outer: str) -> Iterator[Field]:
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        about = field.get("description", "")
        yield Field(outer + name, kind_of(field), rules_of(field), about, name in required)
        inner = _find_nested(document, field)
        if inner is not None:
            yield from _fields(document, inner, f"{outer}{name}.")


def _find_nested(document: Json, field: Json) -> Json | None:
    for option in (field, *field.get("anyOf", ())):
        if "$ref" in option:
            inner: Json = document["components"]["schemas"][option["$ref"].rpartition("/")[2]]
            return inner
    return None


def kind_of(schema: Json) -> str:
    """The type as text: `string or null`, `array of string`, `time`, `id`."""
    if "$ref" in schema:
        return "object"
    if "anyOf" in schema:
        return " or ".join(kind_of(option) for option in schema["anyOf"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(_kind(kind, schema) for kind in kinds)


def _kind(kind: str, schema: Json) -> str:
    if kind == "array":
        return f"array of {kind_of(schema['items'])}"
    if kind == "string":
        names = {"date-time": "time", "uuid": "id", "email": "e-mail address"}
        return names.get(schema.get("format", ""), "string")
    return kind


def rules_of(schema: Json) -> list[str]:
    """The limits and choices of a value, as short texts."""
    rules = []
    values = _values(schema) or _values(schema.get("items", {}))
    if values:
        rules.append("one of " + ", ".join(f"`{value}`" for value in values if value is not None))
    rules += _range(schema, "minLength", "maxLength", "characters")
    rules += _range(schema, "minimum", "maximum", "")
    if "maxItems" in schema:
        rules.append(f"at most {schema['maxItems']:,}")
    items = schema.get("items", {})
    rules += [f"each {rule}" for rule in _range(items, "minLength", "maxLength", "characters")]
    if schema.get("default") is not None:
        rules.append(f"default `{str(schema['default']).lower()}`")
    return rules


def _values(schema: Json) -> list[Any]:
    values: list[Any] = schema.get("enum") or schema.get(KNOWN_VALUES, [])
    return values


def _range(schema: Json, minimum: str, maximum: str, unit: str) -> list[str]:
    low, high = schema.get(minimum), schema.get(maximum)
    if low is not None and high is not None:
        text = f"{low:,} to {high:,}"
    elif high is not None:
        text = f"at most {high:,}"
    elif low is not None:
        text = f"at least {low:,}"
    else:
        return []
    return [f"{text} {unit}".strip()]
