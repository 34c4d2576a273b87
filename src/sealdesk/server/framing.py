"""Refuses heads that are too large, or that a proxy in front could read otherwise (RFC 9112)."""

import re
from collections.abc import Sequence

import httptools

from sealdesk.errors import ApiError, BadRequest, HeadersTooLarge, UnknownTransferCoding
from sealdesk.errors.requests import (
    HEADERS_TOO_LARGE,
    INVALID_HOST,
    LOWER_CASE_METHOD,
    MALFORMED_REQUEST,
    NOT_ONE_HOST,
    UNKNOWN_TRANSFER_CODING,
)
from sealdesk.web.request import Header

MAX_HEADER_BYTES = 16 * 1024
MAX_HEADERS = 100
_METHOD = re.compile(rb"([A-Za-z]{3,7}) ")
# A name or address and a port, in the characters of RFC 3986 section 3.2.2.
_HOST = re.compile(rb"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?[ \t]*", re.ASCII)
_TWO_SPACES = re.compile(rb"[A-Za-z]+ (?: |[^\s]+  )")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_VERSIONS = ("1.0", "1.1")
_LENGTH_DIGITS = 19  # more than any length that fits into 64 bits


def find_fault(target: bytes, headers: Sequence[Header], version: str) -> ApiError | None:
    """Why the head of a request is refused. headers: their names are in lower case."""
    size = len(target) + sum([len(name) + len(value) + 4 for name, value in headers])
    if size > MAX_HEADER_BYTES or len(headers) > MAX_HEADERS:
        return headers_too_large()
    if version not in _VERSIONS:
        return BadRequest(MALFORMED_REQUEST)
    names = [name for name, _ in headers]
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 and (version == "1.1" or hosts):
        return BadRequest(NOT_ONE_HOST)  # section 3.2
    if hosts and _HOST.fullmatch(hosts[0]) is None:
        return BadRequest(INVALID_HOST)  # the same section
    if b"transfer-encoding" in names:
        return _find_coding_fault(headers, version)
    if b"content-length" in names and len(dict(headers)[b"content-length"]) > _LENGTH_DIGITS:
        return BadRequest(MALFORMED_REQUEST)
    return None


def headers_too_large() -> HeadersTooLarge:
    """The error of a head over one of the limits."""
    return HeadersTooLarge(HEADERS_TOO_LARGE, max_bytes=MAX_HEADER_BYTES, max_headers=MAX_HEADERS)


def find_method_fault(data: bytes) -> ApiError | None:
    """The error that names a method in lower case at the start of unreadable data."""
    found = _METHOD.match(data)
    method = found[1].decode() if found else ""
    if method.upper() not in _METHODS or method == method.upper():
        return None
    return BadRequest(LOWER_CASE_METHOD, method=method, upper=method.upper())


def has_two_spaces(data: bytes) -> bool:
    """Whether a request line at the start of data has more than one space between its parts.

    The parser skips them, while other servers read an empty target (section 3).
    """
    return _TWO_SPACES.match(data) is not None


def split_target(target: bytes) -> tuple[bytes, bytes]:
    """The path and the query of a request target, as they were sent. Raises ValueError."""
    if b"#" in target:
        # Without the fragment two targets would share a signature (RFC 9112 3.2).
        raise ValueError("a target has no fragment")
    if target.startswith(b"/"):
        path, _, query = target.partition(b"?")
        return path, query
    url = httptools.parse_url(target)  # http://host/path, or *
    if url.path is None:
        raise ValueError("a target has a path")
    return url.path, url.query or b""


def _find_coding_fault(headers: Sequence[Header], version: str) -> ApiError | None:
    if version != "1.1":
        return BadRequest(MALFORMED_REQUEST)  # section 6.1
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    return None if codings == [b"chunked"] else UnknownTransferCoding(UNKNOWN_TRANSFER_CODING)
