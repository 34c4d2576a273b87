"""Code samples that send one request without a signature, for the documentation."""

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def plain(method: str, target: str, body: str, *, needs_token: bool) -> str:
    """The commands that send this request without an API key. body: a quoted word of the shell."""
    template = _environment().get_template("signing/plain.txt")
    return template.render(method=method, target=target, body=body, needs_token=needs_token)


@cache
def _environment() -> Environment:
    return Environment(  # noqa: S701, plain text
        loader=PackageLoader("sealdesk.web"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def shell(value: Any) -> str:
    """A JSON value as a single-quoted shell argument."""
    text = "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    return "'" + text.replace("'", "'\\''") + "'"
