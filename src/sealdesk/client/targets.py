"""Paths and queries of requests, percent-encoded."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from sealdesk.client.errors import InvalidConfiguration
from sealdesk.client.values import instant

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
    try:
        encoded = urlencode(pairs, quote_via=quote, safe="")
    except UnicodeEncodeError as error:
        raise InvalidConfiguration(f"the query cannot be sent: {error}") from error
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
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, datetime):
        return [instant(value, name)]
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise InvalidConfiguration(f"{name} cannot be {value!r}")
    return [",".join(map(str, value))]
