"""Wrong messages that clients sign without being asked what they have signed (decision 0095)."""

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from sealdesk.crypto.diagnosis.serialisations import reserialised
from sealdesk.crypto.signing import Signed, body_sha256, head

_METHODS = (b"GET", b"POST", b"PATCH", b"PUT", b"DELETE", b"HEAD")
_API_PREFIXES = (b"/api/v1/external", b"/api/v1", b"/api")
_EMPTY_BODIES = (b"{}", b"null", b'""', b"[]", b"undefined", b"None")
_LINE_ENDS = (b"\n", b"\r\n")
MAX_SERIALISED_BYTES = 4 * 1024  # at most 0.3 ms (decision 0067)


def wrong_messages(parts: Signed, host: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, message). host: the Host header."""
    timestamp, method, target, body = parts
    digest = body_sha256(body)
    rest = target + digest
    yield "method_lowercase", timestamp + method.lower() + rest
    for other in _METHODS:
        if other != method:
            yield "method_differs", timestamp + other + rest
    yield "timestamp_not_signed", method + rest
    yield "target_not_signed", timestamp + method + digest
    yield "newline_separators", b"\n".join((timestamp, method, target, digest))
    yield "dot_separators", b".".join((timestamp, method, target, digest))
    for name, other in _wrong_targets(target, host):
        yield name, timestamp + method + other + digest
    start = head(parts)
    for line_end in _LINE_ENDS:
        yield "newline_appended", start + digest + line_end
    yield "body_not_hashed", start + body
    yield "body_omitted", start
    for name, other in _wrong_bodies(body):
        yield name, start + body_sha256(other)


def _wrong_targets(target: bytes, host: bytes) -> Iterator[tuple[str, bytes]]:
    path, mark, _ = target.partition(b"?")
    if mark:
        yield "query_string_not_signed", path
    else:
        yield "trailing_question_mark", target + b"?"
    for scheme in (b"https://", b"http://"):
        yield "full_url_signed", scheme + host + target
    yield "target_percent_decoded", unquote_to_bytes(target)
    at = max(path.find(b"/api/v1/"), 0)  # behind the prefix of a proxy
    if at:
        yield "api_prefix_missing", target[at:]
    for prefix in _API_PREFIXES:
        if target.startswith(prefix, at):
            yield "api_prefix_missing", target[at + len(prefix) :]


def _wrong_bodies(body: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, body that was hashed)."""
    if not body:
        for other in _EMPTY_BODIES:
            yield "body_not_sent", other
        return
    yield "body_omitted", b""
    for line_end in _LINE_ENDS:
        yield "newline_appended", body + line_end
        if body.endswith(line_end):
            yield "newline_not_signed", body.removesuffix(line_end)
    if len(body) <= MAX_SERIALISED_BYTES:
        yield from reserialised(body)
