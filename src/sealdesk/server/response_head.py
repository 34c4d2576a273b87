"""The head of a response: the status line and the header fields."""

import http
from collections.abc import Sequence

from sealdesk.errors import ApiError
from sealdesk.web import envelope
from sealdesk.web.request import Header

_STATUS_LINES = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode())
    for status in http.HTTPStatus
}
# None of them may be in a field (RFC 9110 5.5); a line break would end it.
_CONTROLS = bytes({*range(0x20), 0x7F} - {0x09})


class InvalidField(ValueError):
    """A header field contains a control character."""


def encode(status: int, fields: Sequence[Header]) -> bytes:
    """The bytes of the head. fields: the names in lower case. Raises InvalidField."""
    lines = b"\r\n".join([b": ".join(field) for field in fields])
    # All fields are checked in one pass: what separates them is all that may be found.
    separators_bytes = 2 * (len(fields) - 1)
    if len(lines) - len(lines.translate(None, _CONTROLS)) != separators_bytes:
        raise InvalidField("a control character in a header field of the response")
    return b"%b%b\r\n\r\n" % (_STATUS_LINES[status], lines)


def encode_problem(error: ApiError, request_id: str) -> bytes:
    """A whole response without the application, after which the connection is closed."""
    response = envelope.problem(error, "", request_id)
    fields = (
        (b"content-type", response.content_type),
        (b"content-length", b"%d" % len(response.body)),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"private, no-store"),
        (b"x-request-id", request_id.encode()),
        *response.headers,
        (b"connection", b"close"),
    )
    return encode(response.status, fields) + response.body
