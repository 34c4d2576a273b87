"""Names the known mistake that results in a wrong signature; no I/O (decision 0067)."""

import hmac

from sealdesk.crypto.diagnosis import keys, signed_message
from sealdesk.crypto.diagnosis.messages import wrong_messages
from sealdesk.crypto.diagnosis.signed_message import Difference
from sealdesk.crypto.signing import Signed, Verifier, message

# Larger ones are not diagnosed: the search hashes the target 30 times (decision 0067).
MAX_TARGET_BYTES = 2 * 1024
MAX_BODY_BYTES = 64 * 1024


def is_small(parts: Signed) -> bool:
    """Whether a request is diagnosed."""
    return len(parts.target) <= MAX_TARGET_BYTES and len(parts.body) <= MAX_BODY_BYTES


def diagnose(
    parts: Signed, signature: bytes, *, secret: str, api_key: str, host: bytes
) -> str | None:
    """The name of the known mistake that results in this wrong signature, None when there is none.

    A variant can only match if the client has all of the secret, or has not used it at all, so
    the name reveals nothing of it.
    host: the Host header, for clients that sign the full URL.
    """
    if not is_small(parts):
        return None
    verifier = Verifier(secret)
    for name, wrong in wrong_messages(parts, host):
        if verifier.has_signed(wrong, signature):
            return name
    return find_in_keys(message(parts), signature, secret, api_key)


def name_difference(signed: bytes, parts: Signed, difference: Difference, host: bytes) -> str:
    """The name of the mistake in a message that was signed with the secret.

    signed: the message, and difference: its first one.
    """
    if is_small(parts):
        for name, wrong in wrong_messages(parts, host):
            if wrong == signed:
                return name
        found = signed_message.find_joint(signed, parts)
        if found is not None:
            return found
    return signed_message.MISTAKE_OF_PART[difference.part]


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
