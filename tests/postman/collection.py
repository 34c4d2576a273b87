"""Makes the Postman collection from the OpenAPI document."""

import json
from pathlib import Path
from typing import Any

from tests.support.openapi import openapi_document

Json = dict[str, Any]
_PLACE = Path(__file__).parents[2] / "clients" / "postman"
COLLECTION = _PLACE / "sealdesk.postman_collection.json"
SCRIPT = _PLACE / "sign.js"
_PATHS = ("/api/v1/external", "/api/v1/time")
_METHODS = ("get", "post", "patch", "put", "delete")
_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_ABOUT = """Every request for an API key, each signed before it is sent.

Set the variables base_url, api_key and api_secret of this collection, as current values, which are
not shared. Then send "whoami". Bruno, Insomnia and Hoppscotch import the file too."""
_VARIABLES = [
    {"key": "base_url", "value": "http://127.0.0.1:8000", "type": "string"},
    {"key": "api_key", "value": "", "type": "string"},
    {"key": "api_secret", "value": "", "type": "secret"},
]


def generated() -> dict[Path, str]:
    """The file of the collection and its content."""
    whole = openapi_document()
    folders = [{"name": tag["name"], "item": _items(whole, tag["name"])} for tag in whole["tags"]]
    made = {
        "info": {"name": "Sealdesk", "description": _ABOUT, "schema": _SCHEMA},
        "variable": _VARIABLES,
        "event": [{"listen": "prerequest", "script": _script()}],
        "item": [folder for folder in folders if folder["item"]],
    }
    return {COLLECTION: json.dumps(made, indent=1, ensure_ascii=False) + "\n"}


def _script() -> Json:
    return {"type": "text/javascript", "exec": SCRIPT.read_text().splitlines()}


def _items(whole: Json, tag: str) -> list[Json]:
    return [
        _item(whole, path, method, item[method])
        for path, item in whole["paths"].items()
        if path.startswith(_PATHS)
        for method in _METHODS
        if method in item and tag in item[method]["tags"]
    ]


def _item(whole: Json, path: str, method: str, operation: Json) -> Json:
    parameters = [_resolved(whole, each) for each in operation.get("parameters", [])]
    url: Json = {"raw": "{{base_url}}" + _colons(path), "host": ["{{base_url}}"]}
    url["path"] = _colons(path).removeprefix("/").split("/")
    query = [_parameter(each, disabled=True) for each in parameters if each["in"] == "query"]
    variables = [_parameter(each) for each in parameters if each["in"] == "path"]
    url |= {name: rows for name, rows in (("query", query), ("variable", variables)) if rows}
    request: Json = {"method": method.upper(), "url": url, "header": []}
    request["description"] = operation["description"]
    request |= _body(whole, operation)
    return {"name": operation["operationId"], "request": request, "response": []}


def _body(whole: Json, operation: Json) -> Json:
    content = _resolved(whole, operation.get("requestBody", {})).get("content", {})
    if "application/json" not in content:
        return {}
    example = json.dumps(_example(content["application/json"]), indent=2, ensure_ascii=False)
    return {
        "header": [{"key": "content-type", "value": "application/json"}],
        "body": {"mode": "raw", "raw": example, "options": {"raw": {"language": "json"}}},
    }


def _example(media: Json) -> Any:
    if "example" in media:
        return media["example"]
    return next((each["value"] for each in media.get("examples", {}).values()), {})


def _parameter(parameter: Json, *, disabled: bool = False) -> Json:
    example = _example(parameter)
    value = ",".join(map(str, example)) if isinstance(example, list) else example
    if isinstance(value, bool):
        value = str(value).lower()
    row = {"key": parameter["name"], "value": "" if value == {} else str(value)}
    row["description"] = parameter.get("description", "")
    return {**row, "disabled": True} if disabled else row


def _colons(path: str) -> str:
    return path.replace("{", ":").replace("}", "")


def _resolved(whole: Json, value: Json) -> Json:
    found: Any = whole
    if "$ref" not in value:
        return value
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)
