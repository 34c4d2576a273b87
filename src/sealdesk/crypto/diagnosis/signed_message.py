"""Compares the message that a client says it has signed with what the server received; no I/O."""

import base64
import re
from datetime import datetime

import msgspec

from sealdesk.crypto.signing import Signed, body_sha256

MAX_BYTES = 4 * 1024
# The time of a message: Unix time in seconds or a thousandth, millionth … of them, or ISO 8601.
_TIME = re.compile(
    rb"(\A[0-9]{10}"  # whatever follows, as a nonce
    rb"|[0-9]{10}(?=(?:GET|HEAD|POST|PUT|PATCH|DELETE)/))"  # behind a hash or a key, too
    rb"|(?<![0-9])(?:([0-9]{10})(?:[0-9]{3}){0,3}(?![0-9])"
    rb"|([0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9])"
    rb"(?:[.,][0-9]{1,9})?(Z|[+-][0-2][0-9]:?[0-5][0-9])?)"
)
_BEFORE_METHOD = re.compile(rb"[^A-Za-z/]*")
_BEFORE_TARGET = re.compile(rb"[^/]*")
_HASH_AT_END = re.compile(rb"[0-9a-f]{64}\Z")
MISTAKE_OF_PART = {
    "timestamp": "timestamp_differs",
    "method": "method_differs",
    "request_target": "target_differs",
    "body_sha256": "body_differs",
}


class Difference(msgspec.Struct, frozen=True):
    """The first part that was signed in another form than it was received.

    part: its name, as in `received` of the refusal. signed, received: as text; bytes that are not
    ASCII are shown as Latin-1.
    """

    part: str
    signed: str
    received: str


def decode(header: bytes) -> bytes | None:
    """The message in a header; None if it is not Base64 of 1 to 4096 bytes."""
    try:
        message = base64.b64decode(header, validate=True)
    except ValueError:
        return None
    return message if 0 < len(message) <= MAX_BYTES else None


def is_recent(message: bytes, now_s: int, max_skew_s: int) -> bool:
    """Whether the first time in the message is within the allowed skew.

    An old message with its signature may have been captured: whether the two still fit would tell
    that the secret is in use.
    """
    found = _TIME.search(message)
    signed_s = None if found is None else _unix_time(found)
    return signed_s is not None and abs(signed_s - now_s) <= max_skew_s


def _unix_time(found: re.Match[bytes]) -> int | None:
    before_method, seconds, written, offset = found.groups()
    if before_method or seconds:
        return int(before_method or seconds)
    try:
        at = datetime.fromisoformat((written + (offset or b"Z")).decode())
    except ValueError:
        return None
    return int(at.timestamp())


def first_difference(message: bytes, parts: Signed, digest: bytes) -> Difference:
    """The first part of a wrong message that differs from what was received.

    parts: their body is not read. digest: of the received body, as hex.
    """
    before_method = _BEFORE_METHOD.match(message)
    timestamp = b"" if before_method is None else before_method[0]
    if timestamp != parts.timestamp:
        return _difference("timestamp", timestamp, parts.timestamp)
    rest = message[len(timestamp) :]
    if not rest.startswith(parts.method):
        before_target = _BEFORE_TARGET.match(rest)
        return _difference("method", before_target[0] if before_target else b"", parts.method)
    rest = rest[len(parts.method) :]
    at_end = _HASH_AT_END.search(rest)
    if at_end is None and rest.startswith(parts.target):
        return _difference("body_sha256", rest[len(parts.target) :], digest)
    target = rest if at_end is None else rest[: at_end.start()]
    if target != parts.target:
        return _difference("request_target", target, parts.target)
    return _difference("body_sha256", rest[len(target) :], digest)


def _difference(part: str, signed: bytes, received: bytes) -> Difference:
    return Difference(part, signed.decode("latin-1"), received.decode("latin-1"))


def find_joint(signed: bytes, parts: Signed) -> str | None:
    """The name of the mistake in a message that has all four parts as they were received."""
    right = (*parts[:3], body_sha256(parts.body))
    found = [(signed.find(part), part) for part in right]
    if any(at < 0 for at, _ in found):
        return None
    if found != sorted(found):
        return "parts_in_another_order"
    between, end = [], 0
    for at, part in found:
        between.append(signed[end:at])
        end = at + len(part)
    if between[1][:1].isdigit() or re.match(rb"[.,][0-9]", between[1]):
        return None  # a more precise clock
    if between[2] and not between[1] and not between[3]:
        return None  # as a host: it was taken for the path
    separators = set(between[1:])
    if not between[0] and len(separators) == 1 and signed[end:] in (b"", *separators):
        return "other_separators"
    return "other_text_signed"
