"""Names the known mistake that results in a wrong signature; no I/O (decision 0067)."""

import hashlib
import hmac
import math
from collections.abc import Callable

from sealdesk.crypto.diagnosis import bodies, keys, targets
from sealdesk.crypto.diagnosis.parts import find_joint, wrong_messages
from sealdesk.crypto.diagnosis.signed_message import MISTAKE_OF_PART, Difference
from sealdesk.crypto.signing import Signed, Verifier, body_sha256, head, message

# Larger ones are not diagnosed: the search hashes the target 150 times (decision 0067).
MAX_TARGET_BYTES = 2 * 1024
MAX_BODY_BYTES = 64 * 1024
# Of other bodies, when the message is known that was signed: 0.3 ms.
_MAX_COMPARED_BYTES = 64 * 1024
_HASH_LENGTH = 64
IsSigned = Callable[[bytes], bool]  # whether this message was signed


def is_small(parts: Signed) -> bool:
    """Whether a request is diagnosed."""
    return len(parts.target) <= MAX_TARGET_BYTES and len(parts.body) <= MAX_BODY_BYTES


def diagnose(
    parts: Signed, signature: bytes, *, secret: str, api_key: str, host: bytes
) -> str | None:
    """The name of the known mistake that results in this wrong signature, None when there is none.

    A variant can only match if the client has at least 60 of the secret's 64 characters, or has
    not used it at all, so the name reveals nothing of it.
    host: the Host header, for clients that sign the full URL.
    """
    if not is_small(parts):
        return None
    verifier = Verifier(secret)

    def is_signed(wrong: bytes) -> bool:
        return verifier.has_signed(wrong, signature)

    return (
        _find_in_parts(parts, is_signed, host)
        or find_in_keys(message(parts), signature, secret, api_key)
        or _find_in_bodies(parts, is_signed, secret, None)
    )


def name_difference(
    signed: bytes, parts: Signed, difference: Difference, *, secret: str, host: bytes
) -> str:
    """The name of the mistake in a message that was signed with the secret.

    signed: the message, and difference: its first one.
    """
    found = None
    if is_small(parts):
        is_signed = signed.__eq__
        digest = body_sha256(parts.body)
        if signed.startswith(head(parts)) and digest not in signed:
            length = len(signed) - len(head(parts))
            found = _find_in_bodies(parts, is_signed, secret, length)
        else:
            found = _find_in_parts(parts, is_signed, host) or find_joint(signed, parts, digest)
    if found is None and difference.part == "request_target":
        found = targets.name_of_other(difference.signed.encode("latin-1"), parts.target)
    return found or MISTAKE_OF_PART[difference.part]


def find_in_keys(signed: bytes, signature: bytes, secret: str, api_key: str) -> str | None:
    """The name of the mistake in the HMAC key or the calculation, None when none is known.

    signed: the message.
    """
    if hmac.compare_digest(secret.encode(), signature):
        return "secret_as_signature"
    for name, key in keys.wrong_keys(secret, api_key):
        made = hmac.new(key, signed, "sha256").hexdigest()
        if hmac.compare_digest(made.encode(), signature):
            return name
    for name, made in keys.wrong_calculations(secret, signed):
        if hmac.compare_digest(made.encode(), signature):
            return name
    return None


def _find_in_parts(parts: Signed, is_signed: IsSigned, host: bytes) -> str | None:
    digest = body_sha256(parts.body)
    for name, wrong in wrong_messages(parts, digest):
        if is_signed(wrong):
            return name
    start = parts.timestamp + parts.method
    for name, target in targets.wrong_targets(parts.target, host):
        if is_signed(start + target + digest):
            return name
    return None


def _find_in_bodies(
    parts: Signed, is_signed: IsSigned, secret: str, length: int | None
) -> str | None:
    start = head(parts)
    for name, ending in bodies.wrong_endings(parts.body, secret, length):
        if is_signed(start + ending):
            return name
    if length not in (None, _HASH_LENGTH):
        return None
    left_bytes = math.inf if length is None else _MAX_COMPARED_BYTES
    for name, body in bodies.wrong_bodies(parts.body):
        if is_signed(start + hashlib.sha256(body).hexdigest().encode()):
            return name
        left_bytes -= len(body)
        if left_bytes < 0:
            return None
    return None
