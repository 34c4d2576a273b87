"""The pages at /docs, rendered from the OpenAPI document."""

import html
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from sealdesk.errors import ProblemType
from sealdesk.web.openapi.fields import Field, fields_of, kind_of, rules_of
from sealdesk.web.openapi.headers import OF_ALL, RATE_LIMIT
from sealdesk.web.openapi.problems import example

Json = dict[str, Any]
_FILE = "application/octet-stream"
_EXAMPLE_FILE = "Hello"
_METHODS = ("get", "post", "patch", "put", "delete")
_HEADERS_OF_ALL = (*OF_ALL, *RATE_LIMIT)
_TOKEN = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<word>\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b)"
)


def reference(document: Json) -> bytes:
    """The page of the API reference."""
    tags = [_tag(document, tag) for tag in document["tags"]]
    page = _environment().get_template("reference.html")
    return page.render(document=document, tags=tags, permissions=_permissions(tags)).encode()


def errors(problem_types: Sequence[ProblemType]) -> bytes:
    """All error codes by status, each in a section of its own."""
    by_status: dict[int, list[Json]] = {}
    for problem_type in problem_types:
        section = {
            "problem": problem_type,
            "example": example(problem_type, None, "/api/v1/external/tickets"),
        }
        by_status.setdefault(problem_type.status, []).append(section)
    page = _environment().get_template("errors.html")
    return page.render(by_status=dict(sorted(by_status.items()))).encode()


def snippet(name: str, **values: Any) -> str:
    """A code sample that sends one request. values: of curl, `method`, `target` and `body`."""
    return _environment().get_template(f"signing/{name}.txt").render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sealdesk.web"),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": _prose, "json": _json, "shell": shell}
    environment.globals["snippet"] = snippet
    return environment


def _tag(document: Json, tag: Json) -> Json:
    """A section of the page: the operations of a tag, and the objects in their responses."""
    operations = [
        _operation(document, path, method, item[method])
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item and tag["name"] in item[method]["tags"]
    ]
    objects = dict.fromkeys(o["object"] for o in operations if o["object"])
    return {
        **tag,
        "id": tag["name"].lower().replace(" ", "-"),
        "operations": operations,
        "objects": [_object(document, name) for name in objects],
    }


def _object(document: Json, name: str) -> Json:
    schema = document["components"]["schemas"][name]
    return {"name": name, "about": schema["description"], "fields": fields_of(document, schema)}


def _operation(document: Json, path: str, method: str, operation: Json) -> Json:
    status, success = next(iter(operation["responses"].items()))
    content: Json = next(iter(success.get("content", {}).values()), {})
    data = content.get("schema", {}).get("properties", {}).get("data", {})
    reference = data.get("items", data).get("$ref", "")
    sent = operation.get("requestBody", {"content": {}})["content"]
    body = sent.get("application/json")
    return {
        **operation,
        "id": operation["operationId"],
        "path": path,
        "method": method.upper(),
        "scheme": _scheme(operation),
        "about": operation["description"].split("\n\n")[0],
        "needs": operation.get("x-required-permissions", []),
        "groups": _parameter_groups(operation["parameters"]),
        "fields": [] if body is None else fields_of(document, _resolve(document, body["schema"])),
        "body": _EXAMPLE_FILE if _FILE in sent else None if body is None else body["example"],
        "content_type": _FILE if _FILE in sent else "application/json",
        "target": _example_target(path, operation["parameters"]),
        "status": status,
        "response_example": content.get("example"),
        "response_headers": [name for name in success["headers"] if name not in _HEADERS_OF_ALL],
        "object": reference.rpartition("/")[2],
        "is_list": "items" in data,
        "error_codes": _error_codes(operation["responses"]),
    }


def _scheme(operation: Json) -> str:
    """How callers authenticate: hmac, jwt or none."""
    schemes = [name for option in operation["security"] for name in option]
    return "none" if not schemes else "jwt" if schemes == ["accessToken"] else "hmac"


def _resolve(document: Json, schema: Json) -> Json:
    resolved: Json = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved


def _parameter_groups(parameters: list[Json]) -> list[tuple[str, list[Field]]]:
    """(title, rows) of the parameters in the path, in the query and in headers."""
    titles = {"path": "In the path", "query": "In the query", "header": "In headers"}
    return [
        (title, [_parameter(each) for each in parameters if each["in"] == place])
        for place, title in titles.items()
        if any(each["in"] == place for each in parameters)
    ]


def _parameter(parameter: Json) -> Field:
    schema, kind = parameter["schema"], kind_of(parameter["schema"])
    if schema["type"] == "array":
        kind = "one or more, comma-separated"
    name, about = parameter["name"], parameter["description"]
    return Field(name, kind, rules_of(schema), about, parameter["required"])


def _example_target(path: str, parameters: list[Json]) -> str:
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", parameter["example"])
    has_status = any(parameter["name"] == "status" for parameter in parameters)
    return f"{path}?status=open&per_page=5" if has_status else path


def _error_codes(responses: Json) -> list[tuple[str, list[str]]]:
    """(status, codes) of the error responses."""
    return [
        (status, list(response["content"]["application/problem+json"]["examples"]))
        for status, response in responses.items()
        if "application/problem+json" in response.get("content", {})
    ]


def _permissions(tags: list[Json]) -> list[Json]:
    """The signed operations, for the table of permissions."""
    return [o for tag in tags for o in tag["operations"] if o["scheme"] == "hmac"]


def _prose(text: str) -> Markup:
    """Plain text with `code` in it as HTML."""
    escaped = html.escape(text, quote=False)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704, escaped above


def _json(value: Any) -> Markup:
    """A JSON value as HTML, indented and with spans for syntax colours."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(html.escape(text[end : match.start()], quote=False))
        token = html.escape(match.group(), quote=False)
        parts.append(f'<span class="{match.lastgroup}">{token}</span>')
        end = match.end()
    parts.append(html.escape(text[end:], quote=False))
    return Markup("".join(parts))  # noqa: S704, every part is escaped


def shell(value: Any) -> str:
    """A JSON value as a single-quoted shell argument."""
    text = "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    return "'" + text.replace("'", "'\\''") + "'"
