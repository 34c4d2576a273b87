"""The OpenAPI document as strict as the service is today: what it leaves open is closed.

The published document is open, so that clients accept what later versions add. Tests compare
responses with this one, so that nothing is added without being documented.
"""

import copy
from collections.abc import Iterator
from typing import Any

from sealdesk.web.openapi.problems import MEMBERS_BY_TYPE
from sealdesk.web.openapi.schemas import KNOWN_VALUES

Json = dict[str, Any]
_PROBLEM = "application/problem+json"


def close(document: Json) -> Json:
    """The document without unknown members, values or codes in responses."""
    closed = copy.deepcopy(document)
    schemas = closed["components"]["schemas"]
    taken = taken_by_requests(document)
    for name, schema in schemas.items():
        if name not in taken and not name.endswith("Problem"):
            _close(schema)
    for response in responses(closed):
        for media_type, content in response.get("content", {}).items():
            _close(content["schema"])
            if media_type == _PROBLEM:
                content["schema"] = {"oneOf": list(_problems(document, content))}
    return closed


def operations(document: Json) -> Iterator[Json]:
    """Every operation."""
    for item in document["paths"].values():
        yield from item.values()


def responses(document: Json) -> Iterator[Json]:
    """The response objects of every operation."""
    for operation in operations(document):
        yield from operation["responses"].values()


def example_of(document: Json, example: Json) -> Any:
    """The value of an example object, which may be a reference."""
    if "$ref" in example:
        return document["components"]["examples"][_last(example["$ref"])]["value"]
    return example["value"]


def taken_by_requests(document: Json) -> set[str]:
    """The names of the schemas of request bodies, those within them included."""
    names: set[str] = set()
    found = _references([operation.get("requestBody") for operation in operations(document)])
    while found - names:
        names |= found
        schemas = document["components"]["schemas"]
        found = {inner for name in names for inner in _references(schemas[name])}
    return names


def _close(schema: Any) -> None:
    if isinstance(schema, list):
        for part in schema:
            _close(part)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict):
        schema["additionalProperties"] = False
    if KNOWN_VALUES in schema:
        empty = [None] if "null" in schema["type"] else []
        schema["enum"] = [*schema.pop(KNOWN_VALUES), *empty]
    for part in schema.values():
        _close(part)


def _problems(document: Json, content: Json) -> Iterator[Json]:
    """The closed schema of each code that a response may have."""
    schemas = document["components"]["schemas"]
    special = schemas["Problem"][MEMBERS_BY_TYPE]
    for example in content["examples"].values():
        value = example_of(document, example)
        own: Json = {"properties": {}}
        if value["type"] in special:
            own = copy.deepcopy(schemas[_last(special[value["type"]])]["allOf"][1])
        constants = {name: {"const": value[name]} for name in ("type", "title", "status", "code")}
        common = schemas["Problem"]
        schema = {
            "type": "object",
            "properties": {**common["properties"], **own["properties"], **constants},
            "required": [*common["required"], *own.get("required", [])],
        }
        _close(schema)
        yield schema


def _references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {_last(part["$ref"])} if "$ref" in part else set[str]()
        return own.union(*(_references(inner) for inner in part.values()))
    if isinstance(part, list):
        return set[str]().union(*(_references(inner) for inner in part))
    return set()


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]
