"""Conditional requests: If-Match, If-None-Match and 304 (RFC 9110 section 13)."""

import re
from typing import NoReturn

from sealdesk.errors import BadRequest
from sealdesk.errors.requests import INVALID_HEADER, NO_ETAG, ONLY_OF_READS
from sealdesk.web.request import Request, Response

OTHERS = frozenset((b"if-none-match", b"if-unmodified-since"))  # than If-Match
_ENTITY_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
# Empty elements of a list count for nothing (RFC 9110 section 5.6.1).
_TAG_LIST = re.compile(rf"\*|(?:,[ \t]*)*(?:{_ENTITY_TAG}[ \t]*(?:(?:,[ \t]*)+|\Z))+")
_WEAK = b"if-match: a weak ETag was compared as if it were strong"
_SUFFIX = re.compile(r'(?:[-;:+/]{1,2}(?:x-gzip|gzip|gz|br|deflate|zstd|dcb|dcz)){1,3}"$')
_TAG = re.compile(r'\*|(?:W/)?"[^"]*"')


def if_match(request: Request) -> tuple[str, ...] | None:
    """The entity tags of If-Match, None when it is absent. Raises BadRequest.

    They are compared weakly, unlike in RFC 9110 section 13.1.1: a proxy that compresses a response
    makes its ETag weak, and our versions are the same in either form. `x-warnings` says so.
    """
    tags = _read_tags(request, b"if-match")
    if tags is None or tags == (strong := tuple(map(as_we_send_it, tags))):
        return tags
    request.response_headers.append((b"x-warnings", _WEAK))
    return strong


def refuse_if_match(request: Request) -> None:
    """Raises BadRequest for a condition that nobody would check."""
    if request.headers.get(b"if-match", b"*") != b"*":
        raise BadRequest(NO_ETAG, header="if-match")


def refuse_others(request: Request) -> NoReturn:
    """Raises BadRequest for a condition of a change, such as `*` for "only if it is new".

    The request has one of OTHERS.
    """
    raise BadRequest(ONLY_OF_READS, header=min(OTHERS & request.headers.keys()).decode())


def as_we_send_it(tag: str) -> str:
    """The entity tag that a proxy has changed when it compressed the response.

    nginx and others put W/ before it, Apache's mod_deflate, mod_brotli and Jetty a suffix into it;
    two proxies in a row do so twice. Our own have none of these signs.
    """
    return _SUFFIX.sub('"', tag.removeprefix("W/"))


def is_unchanged(request: Request, etag: str) -> bool:
    """Whether If-None-Match names the current ETag. Raises BadRequest."""
    known_tags = _read_tags(request, b"if-none-match") or ()
    return any(known in ("*", etag) or as_we_send_it(known) == etag for known in known_tags)


def unless_unchanged(request: Request, etag: str, response: Response) -> Response:
    """The response with its ETag; 304 when If-None-Match names the current one."""
    tagged = (b"etag", etag.encode())
    if is_unchanged(request, etag):
        vary = [header for header in response.headers if header[0] == b"vary"]
        return Response(304, b"", [tagged, *vary])
    response.headers.append(tagged)
    return response


def _read_tags(request: Request, name: bytes) -> tuple[str, ...] | None:
    text = request.header(name)
    if text is None:
        return None
    if _TAG_LIST.fullmatch(text) is None:
        raise BadRequest(INVALID_HEADER, header=name.decode())
    return tuple(_TAG.findall(text))
