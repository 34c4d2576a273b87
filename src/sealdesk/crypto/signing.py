"""The signature of an external request (interface section 5.2): pure, standard library only."""

import hashlib
import hmac
import re
from typing import NamedTuple

TIMESTAMP = re.compile(rb"[1-9][0-9]{9}")
LIVE_PREFIX, TEST_PREFIX = "tk_live_", "tk_test_"
API_KEY = re.compile(rf"(?:{LIVE_PREFIX}|{TEST_PREFIX})[0-9a-f]{{40}}".encode())
SIGNATURE = re.compile(rb"[0-9a-f]{64}")
_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest().encode()
# The block of SHA-256 and the pads of HMAC (RFC 2104, section 2).
_BLOCK_BYTES = 64
_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


class Signed(NamedTuple):
    """The signed parts of a request, as they were sent.

    method: upper case. target: raw path, with `?` and the raw query when there is one.
    """

    timestamp: bytes
    method: bytes
    target: bytes
    body: bytes


def body_sha256(body: bytes) -> bytes:
    """Lower-case hex SHA-256 of the body as it is sent."""
    return hashlib.sha256(body).hexdigest().encode() if body else _EMPTY_SHA256


def message(parts: Signed) -> bytes:
    """The signed message: timestamp, method, target and body hash without separators.

    Unambiguous because the timestamp has ten digits, a method is letters, a target begins
    with `/` and a hash has 64 characters; the guard checks each before this is built.
    """
    return head(parts) + body_sha256(parts.body)


def head(parts: Signed) -> bytes:
    """The signed message without the hash of the body, for a body that is hashed as it arrives."""
    return parts.timestamp + parts.method + parts.target


def sign(secret: str, parts: Signed) -> str:
    """Lower-case hex HMAC-SHA256, keyed with the 64 hex characters of the secret as text."""
    # Not hmac.digest, which releases the interpreter lock for longer than the hash takes.
    return hmac.new(secret.encode(), message(parts), "sha256").hexdigest()


def is_valid(secret: str, parts: Signed, signature: bytes) -> bool:
    """Whether the signature is valid, compared in constant time."""
    return hmac.compare_digest(sign(secret, parts).encode(), signature)


class Verifier:
    """Checks signatures with two SHA-256 states that have read the secret, which is not kept.

    Of each HMAC, half of the work is then done: 1.0 instead of 1.6 µs (decision 0039).
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, secret: str) -> None:
        key = secret.encode().ljust(_BLOCK_BYTES, b"\0")
        if len(key) > _BLOCK_BYTES:
            raise ValueError("HMAC hashes longer keys first; a secret has 64 characters")
        self._inner = hashlib.sha256(key.translate(_INNER_PAD))
        self._outer = hashlib.sha256(key.translate(_OUTER_PAD))

    def is_valid(self, parts: Signed, signature: bytes) -> bool:
        """Whether the signature is valid, compared in constant time."""
        return self.has_signed(message(parts), signature)

    def has_signed(self, signed: bytes, signature: bytes) -> bool:
        """Whether it is the signature of this message, compared in constant time."""
        inner = self._inner.copy()
        inner.update(signed)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return hmac.compare_digest(outer.hexdigest().encode(), signature)
