"""The problem documents of an operation, and the schema and an example of each."""

from collections.abc import Sequence
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
from sealdesk.web.openapi.schemas import Schema
from sealdesk.web.operation import Route

_OF_EVERY_ROUTE = (MALFORMED_REQUEST, REQUEST_TIMEOUT, HEADERS_TOO_LARGE, INTERNAL_ERROR)
_OF_REQUEST_HEADERS: dict[str, tuple[ProblemType, ...]] = {
    "idempotency-key": (INVALID_HEADER, IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED),
    "if-match": (INVALID_HEADER, VERSION_MISMATCH),
    "if-none-match": (INVALID_HEADER,),
}
# These errors are found before the rate limit is checked.
_WITHOUT_RATE_LIMIT = (401, 408, 413, 431)
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
    if operation.takes is not None:
        found += [MALFORMED_JSON, VALIDATION_FAILED]
    if operation.params:
        found += [INVALID_PARAMETER, UNKNOWN_PARAMETER]
    if any(param.name == "cursor" for param in operation.params):
        found += [INVALID_CURSOR, CURSOR_EXPIRED]
    return found


def responses(route: Route, path: str) -> dict[str, Any]:
    """The response objects of all errors of a route by status. path: of the examples."""
    by_status: dict[int, list[ProblemType]] = {}
    for problem_type in problem_types_of(route):
        by_status.setdefault(problem_type.status, []).append(problem_type)
    return {
        str(status): _response(route, path, status, types) for status, types in by_status.items()
    }


def _response(
    route: Route, path: str, status: int, problem_types: list[ProblemType]
) -> dict[str, Any]:
    refs = [{"$ref": f"#/components/schemas/{problem_name(each.code)}"} for each in problem_types]
    description = "; ".join(f"`{each.code}`: {each.title}" for each in problem_types)
    return {
        "description": f"{description}.",
        "headers": _headers(route, status, problem_types),
        "content": {
            "application/problem+json": {
                "schema": refs[0] if len(refs) == 1 else {"oneOf": refs},
                "examples": {
                    each.code: {"summary": each.title, "value": example(each, route, path)}
                    for each in problem_types
                },
            }
        },
    }


def _headers(route: Route, status: int, problem_types: list[ProblemType]) -> dict[str, Any]:
    named = [each.headers.keys() & RESPONSE_HEADERS.keys() for each in problem_types]
    always = set.intersection(*map(set, named))
    sometimes = set.union(*map(set, named)) - always
    is_counted = route.guard.scheme == "hmac" and status not in _WITHOUT_RATE_LIMIT
    rate_limit = RATE_LIMIT if is_counted else ()
    return response_headers((*OF_ALL, *sorted(always)), (*sorted(sometimes), *rate_limit))


def problem_name(code: str) -> str:
    """The name of a problem's schema: `not_found` is NotFoundProblem."""
    return code.title().replace("_", "") + "Problem"


def schemas(routes: Sequence[Route], problem_types: Sequence[ProblemType]) -> dict[str, Schema]:
    """The closed schema of the problem document of each code, with its statuses."""
    statuses = {each.code: {each.status} for each in problem_types}
    for route in routes:
        for each in problem_types_of(route):
            statuses[each.code].add(each.status)
    return {
        problem_name(each.code): _schema(each, sorted(statuses[each.code]))
        for each in problem_types
    }


def _schema(problem_type: ProblemType, statuses: list[int]) -> Schema:
    code, example_members = problem_type.code, problem_type.members_of(problem_type.example)
    common: dict[str, Schema] = {
        "type": {"const": f"/docs/errors#{code}"},
        "title": {"const": problem_type.title},
        "status": {"type": "integer", "enum": statuses},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"const": code},
        "request_id": {"type": "string"},
    }
    return {
        "title": problem_name(code),
        "description": problem_type.meaning,
        "type": "object",
        "properties": common | {name: _schema_of(value) for name, value in example_members.items()},
        "required": [*common, *(["errors"] if "errors" in example_members else [])],
        "additionalProperties": False,
    }


def _schema_of(value: Any) -> Schema:
    """The closed schema of an example value."""
    if isinstance(value, dict):
        properties = {name: _schema_of(member) for name, member in value.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        return {"type": "array", "items": _schema_of(value[0])}
    return {"type": "integer" if isinstance(value, int) else "string"}


def example(problem_type: ProblemType, route: Route | None, path: str) -> dict[str, Any]:
    """A problem document as this route would return it."""
    detail, members = _example_of(problem_type, route)
    return {
        "type": f"/docs/errors#{problem_type.code}",
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
