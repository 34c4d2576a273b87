"""Refuses requests whose framing a proxy in front could read otherwise (RFC 9112)."""

from collections.abc import Sequence

from sealdesk.errors import ApiError, BadRequest, UnknownTransferCoding
from sealdesk.errors.requests import MALFORMED_REQUEST, NOT_ONE_HOST, UNKNOWN_TRANSFER_CODING
from sealdesk.web.request import Header

_LENGTH_DIGITS = 19  # more than any length that fits into 64 bits


def find_fault(headers: Sequence[Header], version: str) -> ApiError | None:
    """Why the head of a request is refused. headers: their names are in lower case."""
    names = [name for name, _ in headers]
    if names.count(b"host") != 1 and (version == "1.1" or b"host" in names):
        return BadRequest(NOT_ONE_HOST)  # section 3.2
    if b"transfer-encoding" in names:
        return _find_coding_fault(headers, version)
    if b"content-length" in names and len(dict(headers)[b"content-length"]) > _LENGTH_DIGITS:
        return BadRequest(MALFORMED_REQUEST)
    return None


def _find_coding_fault(headers: Sequence[Header], version: str) -> ApiError | None:
    if version != "1.1":
        return BadRequest(MALFORMED_REQUEST)  # section 6.1
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    return None if codings == [b"chunked"] else UnknownTransferCoding(UNKNOWN_TRANSFER_CODING)
