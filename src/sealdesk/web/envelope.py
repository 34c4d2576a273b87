"""The JSON bodies of all responses (interface section 2.5), and what caches are told of them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.errors import ApiError
from sealdesk.web.request import Header, Request, Response

# Responses belong to one caller. `private, no-store` keeps them out of every cache: a stock Varnish
# stores what does not forbid it, and gives it to anybody. With an ETag, the caller itself may keep
# a copy, and must ask before each use.
_NO_STORE = (b"cache-control", b"private, no-store")
_NO_CACHE = (b"cache-control", b"private, no-cache")

# A cursor for the documentation: sealed as all are, with a key that no service has.
EXAMPLE_CURSOR = (
    "TpnDnC-6SKANMuOGbk_g5QAIUmJE_YAldvH1KHKvWuFkYVapw_a5l5wj"
    "3fPbpCbwO9bW6p1Eu32XyrPt1_-9AUvDCO31U_yhnpJpYwUdIPzGwv7e"
)

_encode = msgspec.json.Encoder().encode


class PageMeta(msgspec.Struct, frozen=True):
    """The `meta` of a page of a list."""

    per_page: int
    has_more: bool
    next_cursor: str | None


class FeedMeta(PageMeta, frozen=True):
    """The `meta` of a page of the event feed.

    resume_cursor: a cursor after the last event of this page, also when there is no later one.
    """

    resume_cursor: str


def one(value: Any, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    """`{"data": value}`."""
    return one_document(_encode(value), status, headers)


def one_document(document: bytes, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    """`{"data": …}` around an encoded document."""
    return Response(status, b'{"data":' + document + b"}", list(headers))


def created(request: Request, value: Any) -> Response:
    """201, with the URL at which the value is from now on."""
    return one(value, 201, [location(request, value.id)])


def location(request: Request, new_id: str) -> Header:
    """The URL of what was added to the list at the URL of the request."""
    return b"location", f"{request.path}/{new_id}".encode()


def etag(tag: str) -> Header:
    return b"etag", tag.encode()


def many(documents: Sequence[bytes], meta: PageMeta) -> Response:
    """`{"data": […], "meta": …}` around rows that are ready JSON."""
    rows = b",".join(documents)
    return Response(200, b'{"data":[%b],"meta":%b}' % (rows, _encode(meta)))


def nothing() -> Response:
    """204."""
    return Response(204)


def problem(error: ApiError, instance: str, request_id: str) -> Response:
    """The problem document (RFC 9457) of an error."""
    document = {
        "type": f"/docs/errors#{error.code}",
        "title": error.problem_type.title,
        "status": error.status,
        "detail": error.detail,
        "instance": instance,
        "code": error.code,
        "request_id": request_id,
        **error.members,
    }
    headers = [(name.encode(), value.encode()) for name, value in error.headers]
    return Response(error.status, _encode(document), headers, b"application/problem+json")


def caching_headers(response: Response) -> tuple[Header, ...]:
    """What tells caches to keep the response to its caller."""
    names = [name for name, _ in response.headers]
    if b"cache-control" in names:  # static files and the reference are public
        return ()
    return (_NO_CACHE if b"etag" in names else _NO_STORE,)
