"""The problem documents of an operation, and the schema and an example of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sealdesk.errors import ApiError, ProblemType
from sealdesk.errors.general import (
    IDEMPOTENCY_IN_FLIGHT,
    IDEMPOTENCY_KEY_REUSED,
    INSUFFICIENT_PERMISSIONS,
    INTERNAL_ERROR,
    NOT_FOUND,
    VALIDATION_FAILED,
    VERSION_MISMATCH,
)
from sealdesk.errors.requests import (
    CURSOR_EXPIRED,
    HEADERS_TOO_LARGE,
    INVALID_CURSOR,
    INVALID_HEADER,
    INVALID_PARAMETER,
    MALFORMED_JSON,
    MALFORMED_REQUEST,
    REQUEST_TIMEOUT,
    UNKNOWN_PARAMETER,
)
from sealdesk.web import body
from sealdesk.web.openapi.headers import OF_ALL, RATE_LIMIT, RESPONSE_HEADERS, response_headers
from sealdesk.web.openapi.schemas import KNOWN_VALUES, Schema
from sealdesk.web.operation import Route

_OF_EVERY_ROUTE = (MALFORMED_REQUEST, REQUEST_TIMEOUT, HEADERS_TOO_LARGE, INTERNAL_ERROR)
_OF_REQUEST_HEADERS: dict[str, tuple[ProblemType, ...]] = {
    "idempotency-key": (INVALID_HEADER, IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED),
    "if-match": (INVALID_HEADER, VERSION_MISMATCH),
    "if-none-match": (INVALID_HEADER,),
}
# These errors are found before the rate limit is checked.
_WITHOUT_RATE_LIMIT = (401, 408, 413, 431)
# Which schema has the members of a type. A `discriminator` would refuse types of later versions.
MEMBERS_BY_TYPE = "x-members-by-type"
_SCHEMAS = "#/components/schemas/"
_ANY = "Problem"
_TEXT: Schema = {"type": "string"}
REQUEST_ID = "9f1c2b3a4d5e6f7081920a1b"


def problem_types_of(route: Route) -> list[ProblemType]:
    """The problem types of a route's error responses, by status."""
    guard = route.guard
    problem_types = [*_OF_EVERY_ROUTE, *guard.fails, *_implied(route), *route.operation.fails]
    if route.method != "GET":
        problem_types += guard.write_fails
    distinct = {(each.code, each.status): each for each in problem_types}
    return sorted(distinct.values(), key=lambda each: each.status)


def _implied(route: Route) -> list[ProblemType]:
    """The problem types that follow from the declared path, headers, body and parameters."""
    operation = route.operation
    found = [each for name in operation.headers for each in _OF_REQUEST_HEADERS[name]]
    if "{" in route.path:
        found.append(NOT_FOUND)
    if route.is_unconditional:
        found.append(INVALID_HEADER)
    if operation.takes is not None or route.is_without_body:
        found += [MALFORMED_JSON, VALIDATION_FAILED]
    if operation.params or route.is_api_change:
        found += [INVALID_PARAMETER, UNKNOWN_PARAMETER]
    if any(param.name == "cursor" for param in operation.params):
        found += [INVALID_CURSOR, CURSOR_EXPIRED]
    return found


def responses(route: Route, shared: Mapping[str, Schema], path: str) -> dict[str, Any]:
    """The response objects of all errors of a route by status.

    shared: the examples of the document. path: of an example that differs from them.
    """
    by_status: dict[int, list[ProblemType]] = {}
    for problem_type in problem_types_of(route):
        by_status.setdefault(problem_type.status, []).append(problem_type)
    return {
        str(status): _response(route, shared, path, types) for status, types in by_status.items()
    }


def _response(
    route: Route, shared: Mapping[str, Schema], path: str, problem_types: list[ProblemType]
) -> dict[str, Any]:
    description = "; ".join(f"`{each.code}`: {each.title}" for each in problem_types)
    return {
        "description": f"{description}.",
        "headers": _headers(route, problem_types[0].status, problem_types),
        "content": {
            "application/problem+json": {
                "schema": {"$ref": f"{_SCHEMAS}{_ANY}"},
                "examples": {
                    each.code: _example(each, route, shared, path) for each in problem_types
                },
            }
        },
    }


def _example(
    problem_type: ProblemType, route: Route, shared: Mapping[str, Schema], path: str
) -> Schema:
    """A reference to the shared example, unless this route's would differ in more than its path."""
    own, common = example(problem_type, route, path), shared[problem_type.code]
    if own | {"instance": ""} == common["value"] | {"instance": ""}:
        return {"$ref": f"#/components/examples/{problem_type.code}"}
    return {"summary": problem_type.title, "value": own}


def examples(routes: Sequence[Route], path_of: Callable[[Route], str]) -> dict[str, Schema]:
    """An example of each code that a route documents, as its first route responds."""
    found: dict[str, Schema] = {}
    for route in routes:
        for each in problem_types_of(route):
            if each.code not in found:
                value = example(each, route, path_of(route))
                found[each.code] = {"summary": each.title, "value": value}
    return found


def _headers(route: Route, status: int, problem_types: list[ProblemType]) -> dict[str, Any]:
    named = [each.headers.keys() & RESPONSE_HEADERS.keys() for each in problem_types]
    always = set.intersection(*map(set, named))
    sometimes = set.union(*map(set, named)) - always
    is_counted = route.guard.scheme == "hmac" and status not in _WITHOUT_RATE_LIMIT
    rate_limit = RATE_LIMIT if is_counted else ()
    return response_headers((*OF_ALL, *sorted(always)), (*sorted(sometimes), *rate_limit))


def _name(code: str) -> str:
    """The name of a problem's schema: `not_found` is NotFoundProblem."""
    return code.title().replace("_", "") + _ANY


def schemas(problem_types: Sequence[ProblemType]) -> dict[str, Schema]:
    """The schema of every problem document, and those of codes with members of their own."""
    special = [each for each in problem_types if _members(each)]
    return {_ANY: _any_schema(problem_types, special)} | {
        _name(each.code): _special_schema(each) for each in special
    }


def _members(problem_type: ProblemType) -> dict[str, Any]:
    return problem_type.members_of(problem_type.example)


def _any_schema(
    problem_types: Sequence[ProblemType], special: Sequence[ProblemType]
) -> dict[str, Any]:
    properties = {
        "type": _TEXT | {"description": "A link to the section about this code; identifies it."},
        "title": _TEXT | {"description": "The same for every problem of this type."},
        "status": {"type": "integer", "description": "The status of the response."},
        "detail": _TEXT | {"description": "What was wrong in this request, in English."},
        "instance": _TEXT | {"description": "The path of the request."},
        "code": _TEXT | {KNOWN_VALUES: list(dict.fromkeys(each.code for each in problem_types))},
        "request_id": _TEXT | {"description": "Identifies this request in the service's log."},
    }
    mapping = {_type(each): f"{_SCHEMAS}{_name(each.code)}" for each in special}
    return {
        "title": _ANY,
        "description": "An error (RFC 9457). Some types have further members.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        MEMBERS_BY_TYPE: mapping,
    }


def _special_schema(problem_type: ProblemType) -> Schema:
    members = _members(problem_type)
    own = {
        "type": "object",
        "properties": {"type": _TEXT | {"enum": [_type(problem_type)]}}
        | {
            name: _schema_of(value, problem_type.choices.get(name, ()))
            for name, value in members.items()
        },
        "required": ["errors"] if "errors" in members else [],
    }
    return {
        "title": _name(problem_type.code),
        "description": problem_type.meaning,
        "allOf": [{"$ref": f"{_SCHEMAS}{_ANY}"}, own],
    }


def _schema_of(value: Any, choices: Sequence[str] = ()) -> Schema:
    """The schema of an example value."""
    if choices:
        return _TEXT | {KNOWN_VALUES: list(choices)}
    if isinstance(value, dict):
        properties = {name: _schema_of(member) for name, member in value.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}
    if isinstance(value, list):
        return {"type": "array", "items": _schema_of(value[0])}
    return {"type": "integer" if isinstance(value, int) else "string"}


def _type(problem_type: ProblemType) -> str:
    return f"/docs/errors#{problem_type.code}"


def example(problem_type: ProblemType, route: Route | None, path: str) -> dict[str, Any]:
    """A problem document as this route would return it."""
    detail, members = _example_of(problem_type, route)
    return {
        "type": _type(problem_type),
        "title": problem_type.title,
        "status": problem_type.status,
        "detail": detail,
        "instance": path,
        "code": problem_type.code,
        "request_id": REQUEST_ID,
        **members,
    }


def _example_of(problem_type: ProblemType, route: Route | None) -> tuple[str, dict[str, Any]]:
    """The detail and the further members."""
    values = problem_type.example
    if route is not None and problem_type.code == INSUFFICIENT_PERMISSIONS.code:
        needs = list(route.guard.needs)
        values = {"needs": " or ".join(needs), "required": needs, "granted": []}
    elif (
        route is not None and route.operation.takes and problem_type.code == VALIDATION_FAILED.code
    ):
        error = _error_of_body(route.operation.example, route.operation.takes)
        return error.detail, error.members
    return problem_type.detail(values), problem_type.members_of(values)


def _error_of_body(taken: dict[str, Any], takes: type[msgspec.Struct]) -> ApiError:
    """The service's own error for the example body with a number in its first field."""
    first = next(iter(taken))
    try:
        body.convert({**taken, first: 0}, takes)
    except ApiError as error:
        return error
    raise ValueError(f"{takes.__name__} takes a number as {first}")
