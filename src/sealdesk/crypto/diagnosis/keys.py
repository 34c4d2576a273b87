"""HMAC keys that clients use instead of the secret, and calculations that are not the HMAC."""

import base64
import hmac
from collections.abc import Iterator
from hashlib import sha256

# With at most four characters missing, whoever matches already has 240 of 256 bits. With fewer,
# an answer for each prefix would let the secret be guessed character by character (decision 0067).
_MISSING_CHARACTERS = range(1, 5)
_AROUND = ('"', "'", "`", " ", "\t", "\r", "\ufeff", "\u200b", "\xa0", ",", ";", "\\n")
_BEFORE = ("SEALDESK_API_SECRET=", "secret=", "Bearer ", "whsec_", "0x")
_PLACEHOLDERS = (
    b"",
    b"undefined",
    b"null",
    b"None",
    b"nil",
    b"$SECRET",
    b"$API_SECRET",
    b"$SEALDESK_API_SECRET",
    b"${SEALDESK_API_SECRET}",
    b"SEALDESK_API_SECRET",
    b"secret",
    b"your-api-secret",
    b"YOUR_API_SECRET",
    b"***",
)


def wrong_keys(secret: str, api_key: str) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, HMAC key)."""
    key = secret.encode()
    yield "secret_hex_decoded", bytes.fromhex(secret)
    yield "signed_with_api_key", api_key.encode()
    for ending in (b"\n", b"\r\n"):
        yield "newline_appended", key + ending
    yield "secret_base64_decoded", base64.b64decode(key)
    yield "secret_uppercase", key.upper()
    yield "secret_quoted", f'b"{secret}"'.encode()
    yield "secret_quoted", f"b'{secret}'".encode()
    for each in _AROUND:
        mark = each.encode()
        for quoted in (mark + key + mark, key + mark, mark + key):
            yield "secret_quoted", quoted
    for start in _BEFORE:
        yield "secret_quoted", f"{start}{secret}".encode()
    for text in (f"<{secret}>", f'"{secret}"\n', f"{api_key}:{secret}"):
        yield "secret_quoted", text.encode()
    for count in _MISSING_CHARACTERS:
        yield "secret_cut_off", key[:-count]
        yield "secret_cut_off", key[count:]
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
