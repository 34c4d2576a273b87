"""Links of OpenAPI: the operations that take what an operation returned."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.web.operation import Operation, Route

_CREATED = 201
_PARAMETER = re.compile(r"\{(\w+)\}")


def links(route: Route, routes: Sequence[Route]) -> dict[str, Any]:
    """The `links` of the successful response: the next page, or what takes the new id."""
    operation = route.operation
    if any(param.name == "cursor" for param in operation.params):
        return {"next_page": _next_page(route)}
    if operation.status != _CREATED or operation.gives is None:
        return {}
    found = {}
    for other in routes:
        field = _find_field(route, other)
        if field is not None:
            *own, last = _PARAMETER.findall(other.path)
            parameters = _from_request(own) | {last: f"$response.body#/data/{field}"}
            found[other.operation.name] = _link(other.operation, parameters)
    return found


def _next_page(route: Route) -> dict[str, Any]:
    meta = type(route.operation.meta).__struct_fields__
    field = "resume_cursor" if "resume_cursor" in meta else "next_cursor"
    cursor = {"query.cursor": f"$response.body#/meta/{field}"}
    parameters = _from_request(_PARAMETER.findall(route.path)) | cursor
    return _link(route.operation, parameters) | {
        "description": "The rest of the query stays the same."
    }


def _from_request(names: Sequence[str]) -> dict[str, str]:
    return {name: f"$request.path.{name}" for name in names}


def _link(operation: Operation, parameters: dict[str, str]) -> dict[str, Any]:
    return {"operationId": operation.name, "parameters": parameters}


def _find_field(route: Route, other: Route) -> str | None:
    """The field of what `route` creates that is the last id in the path of `other`."""
    stem, after = _PARAMETER.sub("{}", route.path), _PARAMETER.sub("{}", other.path)
    if not after.startswith(f"{stem}/{{}}") or after.count("{}") != stem.count("{}") + 1:
        return None
    fields = _fields(route.operation.gives)
    name = _PARAMETER.findall(other.path)[-1]
    return next((field for field in (name, "id") if field in fields), None)


def _fields(struct: msgspec.Struct | None) -> tuple[str, ...]:
    return () if struct is None else type(struct).__struct_fields__
