"""HMAC keys that clients use instead of the secret, and calculations that are not the HMAC."""

import base64
import hmac
from collections.abc import Iterator
from hashlib import sha256

_AROUND = ('"', "'", " ", "\r", "\ufeff", "\u200b", "\xa0")
_PLACEHOLDERS = (b"", b"undefined", b"null", b"None", b"$SEALDESK_API_SECRET")


def wrong_keys(secret: str, api_key: str) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, HMAC key)."""
    key = secret.encode()
    yield "secret_hex_decoded", bytes.fromhex(secret)
    yield "signed_with_api_key", api_key.encode()
    for ending in (b"\n", b"\r\n"):
        yield "newline_appended", key + ending
    yield "secret_base64_decoded", base64.b64decode(key)
    yield "secret_uppercase", key.upper()
    yield "secret_quoted", f"b'{secret}'".encode()
    for each in _AROUND:
        mark = each.encode()
        for quoted in (mark + key + mark, key + mark, mark + key):
            yield "secret_quoted", quoted
    for placeholder in _PLACEHOLDERS:
        yield "secret_empty", placeholder


def wrong_calculations(secret: str, signed: bytes) -> Iterator[tuple[str, str]]:
    """(name of the mistake, signature as hex)."""
    key = secret.encode()
    yield "secret_and_message_swapped", hmac.new(signed, key, "sha256").hexdigest()
    for text in (key + signed, signed + key, signed):
        yield "hash_instead_of_hmac", sha256(text).hexdigest()
    hashed = sha256(signed)
    for text in (hashed.hexdigest().encode(), hashed.digest()):
        yield "message_hashed_first", hmac.new(key, text, "sha256").hexdigest()
