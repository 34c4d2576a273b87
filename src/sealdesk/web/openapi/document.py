"""The OpenAPI document, derived from the routes, the structs and the error codes."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

import sealdesk
from sealdesk.errors import ProblemType
from sealdesk.web.openapi import problems as problem_documents
from sealdesk.web.openapi.headers import (
    OF_ALL,
    RATE_LIMIT,
    RESPONSE_HEADERS,
    parameter,
    response_headers,
)
from sealdesk.web.openapi.links import links
from sealdesk.web.openapi.schemas import Schema, components, ref
from sealdesk.web.openapi.tags import TAGS, path_of_tag
from sealdesk.web.openapi.webhooks import DocumentedEvent, webhooks
from sealdesk.web.openapi.webhooks import schemas as event_schemas
from sealdesk.web.operation import Operation, Route
from sealdesk.web.query import Param

_ID = "0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a"
_PLAIN_TEXT = {"schema": {"type": "string"}}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
# Images that pages show have their own type, other files this one.
_FILE = dict.fromkeys(("application/octet-stream", "image/*"), _BINARY)
_ABOUT = """\
Sealdesk is a multi-tenant customer-support ticketing service. Integrations call
`/api/v1/external` with an API key and sign each request with HMAC-SHA256; people log in and manage
the keys of their tenant.

Every body is JSON in UTF-8. One resource comes as `{"data": {…}}`, a list as
`{"data": […], "meta": {…}}`, and an error as a problem document (RFC 9457) with a stable `code`.
Times are `YYYY-MM-DDTHH:MM:SS.ffffffZ`. HEAD works like GET.

Within `/api/v1` there may be new members, error codes, event types and values of
`x-extensible-enum` at any time: accept the ones that you do not know. `Deprecation` and `Sunset`
headers announce what will be removed.
"""
_SCHEMES = {
    "apiKey": ("x-api-key", "The API key: `tk_live_` or `tk_test_`, and 40 hex characters."),
    "apiTimestamp": (
        "x-api-timestamp",
        "The Unix time in whole seconds, within 300 s of the server time.",
    ),
    "apiSignature": (
        "x-api-signature",
        "Lower-case hex HMAC-SHA256, keyed with the secret as text, of timestamp + METHOD + path"
        " with query + lower-case hex SHA-256 of the body, with nothing between them.",
    ),
}
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "hmac": [{name: [] for name in _SCHEMES}],
    "jwt": [{"accessToken": []}],
    "none": [],
}


def document(
    routes: Sequence[Route], problem_types: Sequence[ProblemType], events: Sequence[DocumentedEvent]
) -> dict[str, Any]:
    """The whole document as JSON values."""
    examples = problem_documents.examples(routes, example_path)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        responses = _success(route, links(route, routes)) | problem_documents.responses(
            route, examples, example_path(route)
        )
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, responses)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sealdesk",
            "version": sealdesk.__version__,
            "summary": "Tickets, replies and customers over signed requests.",
            "description": _ABOUT,
        },
        "servers": [{"url": "/"}],
        "tags": [_tag(name, about) for name, about in TAGS.items()],
        "paths": paths,
        "webhooks": webhooks(events),
        "components": {
            "schemas": _schemas([route.operation for route in routes], events)
            | problem_documents.schemas(problem_types),
            "examples": examples,
            "headers": RESPONSE_HEADERS,
            "securitySchemes": _security_schemes(),
        },
    }


def _tag(name: str, about: str) -> dict[str, Any]:
    part = {"description": "This part as a document.", "url": path_of_tag(name)}
    return {"name": name, "description": about, "externalDocs": part}


def _security_schemes() -> dict[str, Any]:
    signed = {
        scheme: {"type": "apiKey", "in": "header", "name": header, "description": about}
        for scheme, (header, about) in _SCHEMES.items()
    }
    about = "The access token of POST /api/v1/auth/login; it is valid for one hour."
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": about}
    return {**signed, "accessToken": bearer}


def _schemas(
    operations: Sequence[Operation], events: Sequence[DocumentedEvent]
) -> dict[str, Schema]:
    requests = {operation.takes: operation for operation in operations if operation.takes}
    responses = dict.fromkeys(type(operation.gives) for operation in operations if operation.gives)
    metas = dict.fromkeys(type(operation.meta) for operation in operations if operation.is_list)
    objects = dict.fromkeys(type(event.gives) for event in events)
    schemas = components(requests, [*responses, *metas, *objects]) | event_schemas(events)
    # A field without a description in the request has the description of the response.
    for struct, operation in requests.items():
        if operation.gives is not None:
            response_fields = schemas[_name(ref(type(operation.gives)))]["properties"]
            for name, field in schemas[_name(ref(struct))]["properties"].items():
                if "description" in response_fields.get(name, {}):
                    field.setdefault("description", response_fields[name]["description"])
    return schemas


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _operation(route: Route, responses: dict[str, Any]) -> dict[str, Any]:
    operation = route.operation
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": _description(route),
        "security": _SECURITY[route.guard.scheme],
        "parameters": list(_parameters(route)),
        "responses": responses,
    }
    if route.guard.needs:
        described["x-required-permissions"] = list(route.guard.needs)
    if operation.takes is not None:
        content = {"schema": ref(operation.takes), "example": operation.example}
        is_patch = route.method == "PATCH"
        types = ("application/json", *(("application/merge-patch+json",) if is_patch else ()))
        described["requestBody"] = {"required": True, "content": dict.fromkeys(types, content)}
    if operation.receives:
        described["requestBody"] = {"required": True, "content": {operation.receives: _BINARY}}
    return described


def _description(route: Route) -> str:
    needs = " or ".join(f"`{need}`" for need in route.guard.needs)
    authentication = {
        "hmac": f"Needs the permission {needs}." if needs else "Any valid key may call it.",
        "jwt": f"Needs a log-in with the role {needs}.",
        "none": "",
    }[route.guard.scheme]
    return f"{route.operation.about}\n\n{authentication}".strip()


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        yield {"name": name, "in": "path", "required": True} | (
            _NAMES.get(name, _NAME) if route.takes_names else _AN_ID
        )
    for param in route.operation.params:
        yield _query_parameter(param)
    headers = [*route.operation.headers]
    if route.operation.takes is not None:
        headers.append("prefer")
    if route.guard.scheme == "jwt":
        headers.append("x-tenant-id")
    for name in headers:
        yield parameter(name)


_AN_ID = {
    "description": "The id, as the API returned it.",
    "schema": {"type": "string", "format": "uuid"},
    "example": _ID,
}
_NAME = {
    "description": "Text, percent-encoded as UTF-8; a slash is %2F.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "example": "C-1042",
}
_NAMES: dict[str, dict[str, Any]] = {
    "request_id": {
        "description": "The `x-request-id` of a response.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{24}$"},
        "example": "0199c0f188aa7b3c9d4e5f60",
    }
}


def _query_parameter(param: Param) -> dict[str, Any]:
    parameter_object: dict[str, Any] = {
        "name": param.name,
        "in": "query",
        "required": False,
        "description": param.about,
        "schema": param.schema,
    }
    if param.most > 1:  # generators repeat the parameter, which all of them can do
        return parameter_object | {"style": "form", "explode": True, "example": [param.example]}
    return parameter_object | {"example": _example_value(param)}


def _example_value(param: Param) -> Any:
    """The example of a parameter, in the type of its schema."""
    is_text = param.schema["type"] == "string"
    return param.example if is_text else msgspec.json.decode(param.example)


def _success(route: Route, successors: dict[str, Any]) -> dict[str, Any]:
    operation = route.operation
    success: dict[str, Any] = {
        "description": "Done." if operation.status == 204 else f"{operation.summary}: done.",
        "headers": response_headers(*_success_headers(route)),
    }
    if operation.gives is not None:
        success["content"] = {operation.produces: _envelope(operation, operation.gives)}
    elif operation.status != 204:
        success["content"] = (
            _FILE if operation.produces in _FILE else {operation.produces: _PLAIN_TEXT}
        )
    if successors:
        success["links"] = successors
    responses = {str(operation.status): success}
    if operation.may_create:
        responses["201"] = success
    if "if-none-match" in operation.headers:
        responses["304"] = {
            "description": "The resource has not changed.",
            "headers": response_headers((*OF_ALL, "etag", *_rate_limit(route))),
        }
    return responses


def _success_headers(route: Route) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headers of every successful response, and those of some."""
    operation = route.operation
    optional = operation.some_headers
    if operation.takes is not None:
        optional = (*optional, "x-warnings")
    if "idempotency-key" in operation.headers:
        optional = (*optional, "idempotent-replayed")
    return (*OF_ALL, *operation.response_headers, *_rate_limit(route)), optional


def _rate_limit(route: Route) -> tuple[str, ...]:
    return RATE_LIMIT if route.guard.scheme == "hmac" else ()


def _envelope(operation: Operation, gives: msgspec.Struct) -> dict[str, Any]:
    """The media type object of `data` in its envelope."""
    schema, value = ref(type(gives)), msgspec.to_builtins(gives)
    if operation.is_list:
        meta = operation.meta
        properties = {"data": {"type": "array", "items": schema}, "meta": ref(type(meta))}
        example = {"data": [value], "meta": msgspec.to_builtins(meta)}
    else:
        properties = {"data": schema}
        example = {"data": value}
    envelope = {"type": "object", "properties": properties, "required": list(properties)}
    return {"schema": envelope, "example": example}


def example_path(route: Route) -> str:
    """The path of a route with an example id or text in it."""

    def example(found: re.Match[str]) -> str:
        named = _NAMES.get(found[1], _NAME) if route.takes_names else _AN_ID
        return str(named["example"])

    return re.sub(r"\{(\w+)\}", example, route.path)
