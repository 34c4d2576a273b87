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
from sealdesk.web.openapi.schemas import Schema, components, ref
from sealdesk.web.operation import Operation, Route
from sealdesk.web.query import Param

_ID = "0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a"
_ABOUT = """\
Sealdesk is a multi-tenant customer-support ticketing service. Integrations call
`/api/v1/external` with an API key and sign each request with HMAC-SHA256; people log in and manage
the keys of their tenant.

Every body is JSON in UTF-8. One resource comes as `{"data": {…}}`, a list as
`{"data": […], "meta": {…}}`, and an error as a problem document (RFC 9457) with a stable `code`.
Times are `YYYY-MM-DDTHH:MM:SS.ffffffZ`. HEAD works like GET.

Within `/api/v1` members may be added to responses. `Deprecation` and `Sunset` headers announce what
will be removed.
"""
_TAGS = {
    "Tickets": "Support requests of customers, from open to closed.",
    "Replies": "Public replies and internal notes on a ticket.",
    "Attachments": "Files of tickets and replies.",
    "Customers": "The people who open tickets; an e-mail address is unique within the tenant.",
    "Events": "All changes in order, for integrations that follow them.",
    "API keys": "For administrators: the keys of the external API, their permissions and limits.",
    "Teams": "For administrators: teams, their members, and how their tickets are assigned.",
    "Webhooks": "For administrators: the endpoints that receive events, and their deliveries.",
    "Custom fields": "For administrators: the fields that tickets have besides the built-in ones.",
    "Macros": "For administrators: canned replies, and what they set on a ticket.",
    "Log-in": "Access tokens and passwords of users.",
    "Basics": "The first requests to make, and monitoring for operators.",
}
_SCHEMES = {
    "apiKey": ("x-api-key", "The API key: `tk_live_` and 40 hex characters."),
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


def document(routes: Sequence[Route], problem_types: Sequence[ProblemType]) -> dict[str, Any]:
    """The whole document as JSON values."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sealdesk",
            "version": sealdesk.__version__,
            "summary": "Tickets, replies and customers over signed requests.",
            "description": _ABOUT,
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": _schemas([route.operation for route in routes])
            | problem_documents.schemas(routes, problem_types),
            "headers": RESPONSE_HEADERS,
            "securitySchemes": _security_schemes(),
        },
    }


def _security_schemes() -> dict[str, Any]:
    signed = {
        scheme: {"type": "apiKey", "in": "header", "name": header, "description": about}
        for scheme, (header, about) in _SCHEMES.items()
    }
    about = "The access token of POST /api/v1/auth/login; it is valid for one hour."
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": about}
    return {**signed, "accessToken": bearer}


def _schemas(operations: Sequence[Operation]) -> dict[str, Schema]:
    requests = {operation.takes: operation for operation in operations if operation.takes}
    responses = dict.fromkeys(type(operation.gives) for operation in operations if operation.gives)
    metas = dict.fromkeys(type(operation.meta) for operation in operations if operation.is_list)
    schemas = components(requests, [*responses, *metas])
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


def _operation(route: Route) -> dict[str, Any]:
    operation = route.operation
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": _description(route),
        "security": _SECURITY[route.guard.scheme],
        "parameters": list(_parameters(route)),
        "responses": _success(route) | problem_documents.responses(route, example_path(route)),
    }
    if route.guard.needs:
        described["x-required-permissions"] = list(route.guard.needs)
    if operation.takes is not None:
        content = {"schema": ref(operation.takes), "example": operation.example}
        is_patch = route.method == "PATCH"
        types = ("application/json", *(("application/merge-patch+json",) if is_patch else ()))
        described["requestBody"] = {"required": True, "content": dict.fromkeys(types, content)}
    if operation.receives:
        binary = {"schema": {"type": "string"}}
        described["requestBody"] = {"required": True, "content": {operation.receives: binary}}
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
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": "The id, as the API returned it.",
            "schema": {"type": "string", "format": "uuid"},
            "example": _ID,
        }
    for param in route.operation.params:
        yield _query_parameter(param)
    headers = [*route.operation.headers]
    if route.operation.takes is not None:
        headers.append("prefer")
    if route.guard.scheme == "jwt":
        headers.append("x-tenant-id")
    for name in headers:
        yield parameter(name)


def _query_parameter(param: Param) -> dict[str, Any]:
    parameter_object: dict[str, Any] = {
        "name": param.name,
        "in": "query",
        "required": False,
        "description": param.about,
        "schema": param.schema,
    }
    if param.schema["type"] == "array":
        return parameter_object | {"style": "form", "explode": False, "example": [param.example]}
    return parameter_object | {"example": _example_value(param)}


def _example_value(param: Param) -> Any:
    """The example of a parameter, in the type of its schema."""
    is_text = param.schema["type"] == "string"
    return param.example if is_text else msgspec.json.decode(param.example)


def _success(route: Route) -> dict[str, Any]:
    operation = route.operation
    success: dict[str, Any] = {
        "description": "Done." if operation.status == 204 else f"{operation.summary}: done.",
        "headers": response_headers(*_success_headers(route)),
    }
    if operation.gives is not None:
        success["content"] = {operation.produces: _envelope(operation, operation.gives)}
    elif operation.status != 204:
        success["content"] = {operation.produces: {"schema": {"type": "string"}}}
    responses = {str(operation.status): success}
    if "if-none-match" in operation.headers:
        responses["304"] = {
            "description": "The resource has not changed.",
            "headers": response_headers((*OF_ALL, "etag", *_rate_limit(route))),
        }
    return responses


def _success_headers(route: Route) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headers of every successful response, and those of some."""
    operation = route.operation
    optional = () if operation.takes is None else ("x-warnings",)
    if "idempotency-key" in operation.headers:
        optional = (*optional, "idempotent-replayed")
    return (*OF_ALL, *operation.response_headers, *_rate_limit(route)), optional


def _rate_limit(route: Route) -> tuple[str, ...]:
    return RATE_LIMIT if route.guard.scheme == "hmac" else ()


def _envelope(operation: Operation, gives: msgspec.Struct) -> dict[str, Any]:
    """The media type object of `data` in its closed envelope."""
    schema, value = ref(type(gives)), msgspec.to_builtins(gives)
    if operation.is_list:
        meta = operation.meta
        properties = {"data": {"type": "array", "items": schema}, "meta": ref(type(meta))}
        example = {"data": [value], "meta": msgspec.to_builtins(meta)}
    else:
        properties = {"data": schema}
        example = {"data": value}
    envelope = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"schema": envelope, "example": example}


def example_path(route: Route) -> str:
    """The path of a route with an example id in it."""
    return re.sub(r"\{\w+\}", _ID, route.path)
