"""An operation of the API: its request, and how its response is read."""

import secrets
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from sealdesk.client.bodies import MAX_JSON_BYTES
from sealdesk.client.errors import InvalidConfiguration
from sealdesk.client.results import Done, Page, Result
from sealdesk.client.targets import make_target
from sealdesk.client.values import encode

T = TypeVar("T")
PAGE_ROWS = 100  # the largest page of the service
# What the service does not know is refused, not ignored.
JSON_HEADERS = {"content-type": "application/json", "prefer": "handling=strict"}
# An ETag, or a result that was asked for by itself.
IfMatch = str | Result | None


class Operation(NamedTuple, Generic[T]):
    """A request, and the function that reads its response.

    target: path and query, percent-encoded. extra_timeout_s: how much longer than usual it may
    take. max_bytes: of the response. is_repeatable: False if a second attempt could be refused
    because the first one had its effect. resource_id: which the result must have.
    """

    method: str
    target: str
    body: bytes
    headers: Mapping[str, str]
    read: Callable[[bytes], T]
    extra_timeout_s: float = 0.0
    max_bytes: int = MAX_JSON_BYTES
    is_repeatable: bool = True
    resource_id: str | None = None


class ListOperation(NamedTuple, Generic[T]):
    """A list, of which each page is an operation."""

    path: str
    query: Mapping[str, Any]
    read: Callable[[bytes], Page[T]]

    def page(self, cursor: str | None) -> Operation[Page[T]]:
        """Return the request of the page at the cursor, or of the first page."""
        at = {"cursor": cursor} if cursor else {}
        target = make_target(self.path, {"per_page": PAGE_ROWS, **self.query, **at})
        return Operation("GET", target, b"", {}, self.read)


class _Meta(msgspec.Struct):
    has_more: bool = False
    next_cursor: str | None = None
    resume_cursor: str | None = None


class _One(msgspec.Struct, Generic[T]):
    data: T


class _Rows(msgspec.Struct, Generic[T]):
    data: list[T]
    meta: _Meta


def reader_of(kind: type[T]) -> Callable[[bytes], T]:
    """Return the function that reads one object of this type."""
    return partial(_read_one, _One[kind])  # type: ignore[valid-type]


def page_reader_of(kind: type[T]) -> Callable[[bytes], Page[T]]:
    """Return the function that reads a page with rows of this type."""
    return partial(_read_page, _Rows[kind])  # type: ignore[valid-type]


# Functions of the module, so that lists can be pickled.
def _read_one(shape: Any, body: bytes) -> Any:
    return _decoder_of(shape).decode(body).data


def _read_page(shape: Any, body: bytes) -> Page[Any]:
    rows = _decoder_of(shape).decode(body)
    return Page(rows.data, rows.meta.has_more, rows.meta.next_cursor, rows.meta.resume_cursor)


@cache
def _decoder_of(shape: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


def key_header(idempotency_key: object) -> dict[str, str]:
    """Return the header of this Idempotency-Key, or of a new one. Raises InvalidConfiguration."""
    key = new_key() if idempotency_key is None else idempotency_key
    if not isinstance(key, str) or not key:
        raise InvalidConfiguration(f"idempotency_key must be a text, not {key!r}")
    return {"idempotency-key": key}


def new_key() -> str:
    """Return a new Idempotency-Key."""
    return secrets.token_urlsafe(24)


def post(
    path: str, fields: Mapping[str, Any], idempotency_key: str | None, read: Callable[[bytes], T]
) -> Operation[T]:
    """Return a POST of JSON with an Idempotency-Key, so it may be repeated."""
    headers = {**JSON_HEADERS, **key_header(idempotency_key)}
    return Operation("POST", path, encode(fields), headers, read)


def patch(
    path: str, fields: Mapping[str, Any], if_match: IfMatch, read: Callable[[bytes], T]
) -> Operation[T]:
    """Return a PATCH of JSON."""
    headers = {**JSON_HEADERS, **match_header(if_match)}
    return Operation("PATCH", path, encode(fields), headers, read)


def delete(target: str, if_match: IfMatch = None) -> Operation[Done]:
    """Return a DELETE, whose response has no body."""
    return Operation("DELETE", target, b"", match_header(if_match), lambda _: Done())


def match_header(if_match: IfMatch) -> dict[str, str]:
    """Return the header of a condition. Raises InvalidConfiguration."""
    if if_match is None:
        return {}
    etag: object = if_match.etag if isinstance(if_match, Result) else if_match
    if etag is None:
        raise InvalidConfiguration(
            "the rows of a list have no ETag for if_match: get the one first"
        )
    if not isinstance(etag, str) or not etag:
        raise InvalidConfiguration(f"if_match must be an ETag, not {etag!r}")
    return {"if-match": etag}
