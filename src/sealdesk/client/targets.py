"""Paths and queries of requests, percent-encoded."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from sealdesk.client.errors import InvalidConfiguration

ROOT = "/api/v1/external"
_REPEATED = ("tag", "custom_field")


def make_target(path: str, query: Mapping[str, Any]) -> str:
    """Return path and query. None is left out.

    The values of a sequence are separated by commas. Of tags and custom
    fields, which may contain commas and must all be there, each is a parameter of its own.
    """
    pairs = [
        (name, text)
        for name, value in query.items()
        if value is not None
        for text in _to_texts(name, value)
    ]
    encoded = urlencode(pairs, quote_via=quote, safe="")
    return f"{path}?{encoded}" if encoded else path


def encode_segment(value: object) -> str:
    """Encode an id as one segment of a path: an empty one would address the list."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise InvalidConfiguration(f"an id cannot be {value!r}")
    try:
        return quote(value, safe="")
    except UnicodeEncodeError as error:
        raise InvalidConfiguration(f"an id cannot be {value!r}") from error


def _to_texts(name: str, value: Any) -> Sequence[str]:
    if name in _REPEATED and not isinstance(value, str):
        return [str(each) for each in value]
    return [_to_text(value)]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return ",".join(map(str, value))
