"""Which problems an operation can answer with, and what each of them looks like."""

from typing import Any

import msgspec

from sealdesk.errors import CODES, ApiError
from sealdesk.web import body
from sealdesk.web.openapi.headers import RATE_LIMIT, response_headers
from sealdesk.web.openapi.schemas import Schema
from sealdesk.web.operation import Route
from sealdesk.web.problems import PROBLEMS

_ANY_TIME = ("malformed_request", "request_timeout", "headers_too_large", "internal_error")
_OF_HEADERS = {
    "idempotency-key": ("invalid_header", "idempotency_in_flight", "idempotency_key_reused"),
    "if-match": ("invalid_header", "version_mismatch"),
    "if-none-match": ("invalid_header",),
}
_UNCHARGED = (401, 408, 413, 431)
REQUEST_ID = "9f1c2b3a4d5e6f7081920a1b"

Refused = tuple[str, int]


def problems_of(route: Route) -> list[Refused]:
    """The codes that a row can be refused with, each with its status; in the order of CODES."""
    operation = route.operation
    refused = {
        (code, CODES[code].status) for code in (*_ANY_TIME, *route.guard.fails, *_implied(route))
    }
    for item in operation.fails:
        refused.add((item, CODES[item].status) if isinstance(item, str) else item)
    order = list(CODES)
    return sorted(refused, key=lambda item: (item[1], order.index(item[0])))


def _implied(route: Route) -> list[str]:
    """What follows from what an operation takes."""
    operation = route.operation
    codes = [code for name in operation.headers for code in _OF_HEADERS[name]]
    if "{" in route.path:
        codes.append("not_found")
    if operation.takes is not None:
        codes += ["malformed_json", "validation_failed"]
    if operation.params:
        codes += ["invalid_parameter", "unknown_parameter"]
    if any(param.name == "cursor" for param in operation.params):
        codes.append("invalid_cursor")
    if route.guard.scheme == "hmac" and route.method != "GET":
        codes.append("signature_replayed")
    return codes


def responses(route: Route, path: str) -> dict[str, Any]:
    """The response objects of all refusals of a row by status. path: of the examples."""
    by_status: dict[int, list[str]] = {}
    for code, status in problems_of(route):
        by_status.setdefault(status, []).append(code)
    return {
        str(status): _response(route, path, status, codes) for status, codes in by_status.items()
    }


def _response(route: Route, path: str, status: int, codes: list[str]) -> dict[str, Any]:
    refs = [{"$ref": f"#/components/schemas/{problem_name(code)}"} for code in codes]
    return {
        "description": "; ".join(f"`{code}`: {CODES[code].title}" for code in codes) + ".",
        "headers": _headers(route, status, codes),
        "content": {
            "application/problem+json": {
                "schema": refs[0] if len(refs) == 1 else {"oneOf": refs},
                "examples": {
                    code: {
                        "summary": CODES[code].title,
                        "value": example(code, status, route, path),
                    }
                    for code in codes
                },
            }
        },
    }


def _headers(route: Route, status: int, codes: list[str]) -> dict[str, Any]:
    named = [set(PROBLEMS[code].headers) for code in codes]
    always = set.intersection(*named)
    budget = RATE_LIMIT if route.guard.scheme == "hmac" and status not in _UNCHARGED else ()
    sometimes = set.union(*named) - always
    return response_headers(("x-request-id", *sorted(always)), (*sorted(sometimes), *budget))


def problem_name(code: str) -> str:
    """The name of a problem's schema: `not_found` is NotFoundProblem."""
    return code.title().replace("_", "") + "Problem"


def schemas() -> dict[str, Schema]:
    """The closed schema of each code's problem document."""
    return {problem_name(code): _schema(code) for code in CODES}


def _schema(code: str) -> Schema:
    problem = PROBLEMS[code]
    statuses = [
        CODES[code].status,
        *([409] if code in ("api_key_revoked", "api_key_expired") else []),
    ]
    common: dict[str, Schema] = {
        "type": {"const": f"/docs/errors#{code}"},
        "title": {"const": CODES[code].title},
        "status": {"type": "integer", "enum": statuses},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"const": code},
        "request_id": {"type": "string"},
    }
    return {
        "title": problem_name(code),
        "description": problem.means,
        "type": "object",
        "properties": common | {name: _like(value) for name, value in problem.members.items()},
        "required": [*common, *(["errors"] if "errors" in problem.members else [])],
        "additionalProperties": False,
    }


def _like(value: Any) -> Schema:
    """The closed schema of what an example shows."""
    if isinstance(value, dict):
        properties = {name: _like(member) for name, member in value.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        return {"type": "array", "items": _like(value[0])}
    return {"type": "integer" if isinstance(value, int) else "string"}


def example(code: str, status: int, route: Route | None, path: str) -> dict[str, Any]:
    """A problem document as this row would give it."""
    problem = PROBLEMS[code]
    detail, members = problem.detail, dict(problem.members)
    takes = None if route is None else route.operation.takes
    if route is not None and takes is not None and code == "validation_failed":
        refusal = _refusal_of_body(route.operation.example, takes)
        detail, members = refusal.detail, refusal.members
    elif route is not None and code == "insufficient_permissions":
        needs = list(route.guard.needs)
        detail = detail.replace("tickets:write", " or ".join(needs))
        members = {"required": needs, "granted": []}
    return {
        "type": f"/docs/errors#{code}",
        "title": CODES[code].title,
        "status": status,
        "detail": detail,
        "instance": path,
        "code": code,
        "request_id": REQUEST_ID,
        **members,
    }


def _refusal_of_body(taken: dict[str, Any], takes: type[msgspec.Struct]) -> ApiError:
    """What the service itself says when the first field of a body is a number."""
    first = next(iter(taken))
    try:
        body.convert({**taken, first: 0}, takes)
    except ApiError as refusal:
        return refusal
    raise ValueError(f"{takes.__name__} takes a number as {first}")
