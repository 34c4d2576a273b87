"""The sources of the TypeScript client that are made from the OpenAPI document."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sealdesk.routes import PROBLEM_TYPES
from tests.interop import NODE
from tests.support.openapi import openapi_document

Json = dict[str, Any]
CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
ROOT = "/api/v1/external"
_PATHS = (ROOT, "/api/v1/time")
_REFERENCE = re.compile(r'"#/components/(\w+)/(\w+)"')
_BASES = {
    400: "BadRequest", 401: "AuthenticationFailed", 403: "PermissionDenied", 404: "NotFound",
    405: "MethodNotAllowed", 408: "RequestTimeout", 409: "Conflict", 410: "Gone",
    412: "PreconditionFailed", 413: "ContentTooLarge", 415: "UnsupportedMediaType",
    422: "Unprocessable", 429: "RateLimited", 431: "HeadersTooLarge", 500: "ServerFailed",
    501: "ServerFailed", 503: "ServiceUnavailable",
}  # fmt: skip
_HEAD = "/** Made from the OpenAPI document by `python -m tests.typescript`. */\n\n"


def generated(node_modules: Path) -> dict[Path, str]:
    """Each generated file and its content."""
    return {
        CLIENT / "src" / "schema.ts": _HEAD + _types(external_document(), node_modules),
        CLIENT / "src" / "errorCodes.ts": _HEAD + _error_classes(),
    }


def external_document() -> Json:
    """The document with the operations for API keys, their results and nothing else."""
    whole = openapi_document()
    paths = {
        path: {method: _without_refusals(each) for method, each in item.items()}
        for path, item in _external_paths().items()
    }
    small: Json = {"openapi": whole["openapi"], "info": whole["info"], "paths": paths}
    return {**small, "components": {"schemas": _used(paths, whole["components"]["schemas"])}}


def _external_paths() -> Json:
    paths = openapi_document()["paths"]
    return {path: item for path, item in paths.items() if path.startswith(_PATHS)}


def _without_refusals(operation: Any) -> Any:
    if not isinstance(operation, dict):
        return operation
    answers = {
        status: {name: value for name, value in answer.items() if name != "headers"}
        for status, answer in operation["responses"].items()
        if status.startswith("2")
    }
    return {**operation, "responses": answers}


def _used(paths: Json, schemas: Json) -> Json:
    """The schemas to which the paths lead, in their order."""
    found: set[str] = set()
    texts = [json.dumps(paths)]
    while texts:
        names = {name for _, name in _REFERENCE.findall(texts.pop()) if name in schemas} - found
        found |= names
        texts += [json.dumps(schemas[name]) for name in names]
    return {name: schema for name, schema in schemas.items() if name in found}


def _types(small: Json, node_modules: Path) -> str:
    program = node_modules / "openapi-typescript" / "bin" / "cli.js"
    done = subprocess.run(
        [NODE, program, "--default-non-nullable=false"],
        input=json.dumps(small), capture_output=True, check=True, text=True, timeout=300,
        cwd=node_modules.parent,
    )  # fmt: skip
    # The examples of parameters are in the reference.
    return re.sub(r" \* @example [^\n]*\n", " *\n", done.stdout)


def _error_classes() -> str:
    """A class for each code that an API key can meet."""
    codes = {code for item in _external_paths().values() for code in _codes_of(item)}
    known = sorted(
        (each for each in PROBLEM_TYPES if each.code in codes), key=lambda p: (p.status, p.code)
    )
    bases = [*sorted({_BASES[each.status] for each in known}), "classOfStatus"]
    lines = ["import {", "  type ApiErrorClass,", *(f"  {name}," for name in bases)]
    lines += ['} from "./errors.js";', ""]
    for each in known:
        if _name(each.code) in _BASES.values():
            continue  # the class of its status has this name
        lines += [f"/** {each.status}: {each.title}. */"]
        lines += [f"export class {_name(each.code)} extends {_BASES[each.status]} {{}}"]
    lines += ["", "/** The class of each code. */"]
    lines += ["export const CLASS_OF_CODE: Readonly<Record<string, ApiErrorClass>> = {"]
    lines += [f"  {each.code}: {_name(each.code)}," for each in known]
    lines += ["};", "", "/** The class of a code; of an unknown one, that of its status. */"]
    lines += ["export function classOfCode(code: string, status: number): ApiErrorClass {"]
    lines += ["  return Object.hasOwn(CLASS_OF_CODE, code)"]
    lines += ["    ? (CLASS_OF_CODE[code] as ApiErrorClass)", "    : classOfStatus(status);", "}"]
    return "\n".join(lines) + "\n"


def _codes_of(item: Json) -> Iterator[str]:
    """The codes of the problems in the responses of a path."""
    for operation in item.values():
        for response in operation["responses"].values() if isinstance(operation, dict) else ():
            problem = response.get("content", {}).get("application/problem+json", {})
            yield from problem.get("examples", ())


def _name(code: str) -> str:
    return "".join(part.capitalize() for part in code.split("_"))
