"""The reference as Markdown, from the OpenAPI document: a page for each tag, and an overview."""

import json
from typing import Any

from docs_builder.fields import Field, Json, fields_of, kind_of, rules_of
from sealdesk.web import snippets
from sealdesk.web.openapi.headers import OF_ALL, RATE_LIMIT

_FILE = "application/octet-stream"
_EXAMPLE_FILE = "Hello"
_METHODS = ("get", "post", "patch", "put", "delete")
_HEADERS_OF_ALL = (*OF_ALL, *RATE_LIMIT)


def pages(document: Json) -> dict[str, str]:
    """Path in `docs/` → Markdown."""
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    by_tag = {name: _operations(document, name) for name in tags}
    found = {"reference.md": _overview(by_tag)}
    for name, operations in by_tag.items():
        found[f"reference/{_file_name(name)}.md"] = _tag(document, name, tags[name], operations)
    return found


def _operations(document: Json, tag: str) -> list[Json]:
    return [
        {**item[method], "path": path, "method": method.upper()}
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item and tag in item[method]["tags"]
    ]


def _file_name(tag: str) -> str:
    return tag.lower().replace(" ", "-")


def _overview(by_tag: dict[str, list[Json]]) -> str:
    parts = [
        "# Every endpoint\n",
        "Made from the OpenAPI document, `/openapi.json`. The requests under `/api/v1/external` are"
        " [signed](api/signing.md); the others need the access token of a log-in, or nothing.\n",
    ]
    for tag, operations in by_tag.items():
        file = f"reference/{_file_name(tag)}.md"
        rows = [
            [f"[{each['summary']}]({file}#{each['operationId']})",
             f"`{each['method']} {each['path']}`", _needs(each)]
            for each in operations
        ]  # fmt: skip
        parts += [f"## [{tag}]({file})\n", _table(["Operation", "Request", "Needs"], rows)]
    return "\n".join(parts)


def _tag(document: Json, name: str, about: str, operations: list[Json]) -> str:
    parts = [f"# {name}\n\n{about}\n"]
    objects: dict[str, None] = {}
    for operation in operations:
        parts.append(_operation(document, operation))
        objects |= dict.fromkeys(filter(None, [_object_name(operation)]))
    for each in objects:
        schema = document["components"]["schemas"][each]
        parts.append(f"## {each} object {{#object-{each}}}\n\n{schema['description']}\n")
        parts.append(_fields(fields_of(document, schema), marks_required=False))
    return "\n".join(parts)


def _operation(document: Json, operation: Json) -> str:
    body = operation.get("requestBody", {"content": {}})["content"].get("application/json")
    parts = [
        f"## {operation['summary']} {{#{operation['operationId']}}}\n",
        f"`{operation['method']} {operation['path']}` · needs {_needs(operation)}\n",
        operation["description"].split("\n\n")[0] + "\n",
    ]
    parameters = [_parameter(each) for each in operation["parameters"]]
    if parameters:
        parts += ["### Parameters " + _own("parameters", operation), _fields(parameters)]
    if body is not None:
        rows = fields_of(document, _resolve(document, body["schema"]))
        parts += ["### Body " + _own("body", operation), _fields(rows)]
    parts += ["### Request " + _own("request", operation), *_requests(operation)]
    parts += ["### Response " + _own("response", operation), _response(operation)]
    return "\n".join(parts)


def _own(part: str, operation: Json) -> str:
    return f"{{#{operation['operationId']}-{part}}}\n"


def _requests(operation: Json) -> list[str]:
    """The example requests: signed ones with the command and with curl."""
    target, method = _example_target(operation), operation["method"]
    content = operation.get("requestBody", {"content": {}})["content"]
    json_body = content.get("application/json")
    value = None if json_body is None else json_body["example"]
    if _FILE in content:
        value = _EXAMPLE_FILE
    values = {"method": method, "target": target, "body": shell(value)}
    if _scheme(operation) != "hmac":
        return [_fence("sh", "curl", _unsigned(values, needs_token=_scheme(operation) == "jwt"))]
    content_type = _FILE if _FILE in content else "application/json"
    curl = snippets.curl(**values, content_type=content_type)
    return [*_command(value, values, content), _fence("sh", "curl and openssl", curl)]


def _unsigned(values: Json, *, needs_token: bool) -> str:
    """The command of curl that sends a request without an API key."""
    lines = [f'curl -sS -X {values["method"]} "$SEALDESK_API_URL{values["target"]}"']
    if needs_token:
        lines.append('-H "authorization: Bearer $ACCESS_TOKEN"')
    if values["body"] != shell(None):
        lines += ["-H 'content-type: application/json'", f"--data-binary {values['body']}"]
    return " \\\n  ".join(lines)


def shell(value: Any) -> str:
    """A JSON value as a single-quoted shell argument."""
    text = "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    return "'" + text.replace("'", "'\\''") + "'"


def _command(value: Any, values: Json, content: Json) -> list[str]:
    """The same with `sealdesk call`, which sends JSON."""
    if _FILE in content:
        return []
    data = "" if value is None else f" --data {values['body']}"
    text = f"sealdesk call {values['method']} '{values['target']}'{data}"
    return [_fence("sh", "sealdesk call", text)]


def _response(operation: Json) -> str:
    status, success = next(iter(operation["responses"].items()))
    content: Json = next(iter(success.get("content", {}).values()), {})
    name = _object_name(operation)
    what = " without a body" if status == "204" else ""
    if name:
        kind = "a page of" if _is_list(content) else "the"
        what = f" with {kind} [{name}](#object-{name})"
    headers = [f"`{each}`" for each in success["headers"] if each not in _HEADERS_OF_ALL]
    parts = [f"**{status}**{what}." + (f" Headers: {', '.join(headers)}." if headers else "")]
    if "example" in content:
        text = json.dumps(content["example"], indent=2, ensure_ascii=False)
        parts.append(_fence("json", f"Response {status}", text))
    return "\n".join([*parts, _errors(operation["responses"])])


def _errors(responses: Json) -> str:
    rows = [
        [f"**{status}**", ", ".join(f"[`{code}`](../errors.md#{code})" for code in examples)]
        for status, response in responses.items()
        if (problem := response.get("content", {}).get("application/problem+json"))
        for examples in [problem.get("examples", {})]
    ]
    return _table(["Error", "Codes"], rows)


def _object_name(operation: Json) -> str:
    success = next(iter(operation["responses"].values()))
    content: Json = next(iter(success.get("content", {}).values()), {})
    data = content.get("schema", {}).get("properties", {}).get("data", {})
    return str(data.get("items", data).get("$ref", "")).rpartition("/")[2]


def _is_list(content: Json) -> bool:
    return "items" in content.get("schema", {}).get("properties", {}).get("data", {})


def _scheme(operation: Json) -> str:
    """How callers authenticate: hmac, jwt or none."""
    schemes = [name for option in operation["security"] for name in option]
    return "none" if not schemes else "jwt" if schemes == ["accessToken"] else "hmac"


def _needs(operation: Json) -> str:
    needs = " or ".join(f"`{each}`" for each in operation.get("x-required-permissions", []))
    scheme = _scheme(operation)
    if scheme == "hmac":
        return needs or "any valid key"
    return "nothing" if scheme == "none" else f"a log-in as {needs}"


def _resolve(document: Json, schema: Json) -> Json:
    resolved: Json = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved


def _parameter(parameter: Json) -> Field:
    schema, kind = parameter["schema"], kind_of(parameter["schema"])
    if schema["type"] == "array":
        kind = "one or more, comma-separated"
    about = f"In the {parameter['in']}. {parameter['description']}"
    return Field(parameter["name"], kind, rules_of(schema), about, parameter["required"])


def _example_target(operation: Json) -> str:
    path, parameters = operation["path"], operation["parameters"]
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", parameter["example"])
    has_status = any(parameter["name"] == "status" for parameter in parameters)
    return f"{path}?status=open&per_page=5" if has_status else path


def _fields(fields: list[Field], *, marks_required: bool = True) -> str:
    rows = []
    for field in fields:
        required = " · **required**" if marks_required and field.is_required else ""
        rules = "; ".join(field.rules)
        about = " ".join(
            filter(None, [field.about, f"{rules[:1].upper()}{rules[1:]}." if rules else ""])
        )
        rows.append([f"`{field.name}`", f"{field.kind}{required}", about])
    return _table(["Name", "Type", "Meaning"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [
        head,
        ["---"] * len(head),
        *([cell.replace("|", "\\|") for cell in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _fence(language: str, title: str, text: str) -> str:
    return f"```{language} {title}\n{text.rstrip()}\n```\n"
