"""Webhook signatures of Standard Webhooks (spec decision 11): pure."""

import base64
import binascii
import codecs
import hmac
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Literal, NamedTuple

from sealdesk.crypto.diagnosis.serialisations import reserialised

PREFIX = "whsec_"
TOLERANCE_S = 300  # of the official libraries
_SECRET_BYTES = 32
_KEY_BYTES = range(24, 65)  # Standard Webhooks, "Signature scheme"
_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)
_MILLISECONDS = re.compile(r"[0-9]{12,14}", re.ASCII)
_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[0-9a-zA-Z+/]{43}=")
_URL_SAFE = re.compile(r"[0-9a-zA-Z_-]{43}=?")
_API_CREDENTIAL = re.compile(r"tk_(?:live|test)_.*|[0-9a-f]{64}")

Mistake = Literal[
    "secret_is_a_signature",
    "secret_of_the_api",
    "secret_malformed",
    "id_missing",
    "timestamp_missing",
    "signature_missing",
    "body_missing",
    "timestamp_milliseconds",
    "timestamp_not_seconds",
    "signature_hex",
    "signature_url_safe",
    "signature_without_version",
    "signature_malformed",
    "body_newline",
    "body_reserialised",
    "body_encoded_twice",
    "body_hashed",
    "id_not_signed",
    "timestamp_not_signed",
    "only_body_signed",
    "dots_not_signed",
    "secret_not_decoded",
    "signature_mismatch",
    "timestamp_too_old",
    "timestamp_in_future",
]


class Captured(NamedTuple):
    """A received webhook: its three headers, "" for a missing one, and its body."""

    webhook_id: str
    timestamp: str
    signature: str
    body: bytes


def mint_secret() -> str:
    """`whsec_` and base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """The HMAC key of a secret. Raises ValueError."""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("a webhook secret is whsec_ and base64") from error


def sign(key: bytes, webhook_id: str, timestamp: int, body: bytes) -> str:
    """One signature: `v1,` and base64. timestamp: when it is sent, in seconds."""
    return _signature(key, f"{webhook_id}.{timestamp}.".encode() + body)


def find_mistake(secret: str, captured: Captured, now_s: int) -> Mistake | None:
    """The mistake in a webhook that this secret should verify, None when it is valid."""
    mistake = (
        find_mistake_of_secret(secret)
        or _find_header_mistake(captured)
        or _find_signature_mistake(captured.signature)
    )
    if mistake:
        return mistake
    key = key_of(secret)
    if not _is_signature_of(key, _signed_prefix(captured) + captured.body, captured):
        made = (
            name
            for name, k, wrong in _known_mistakes(secret, captured)
            if _is_signature_of(k, wrong, captured)
        )
        return next(made, "signature_mismatch")
    age_s = now_s - int(captured.timestamp)
    if age_s > TOLERANCE_S:
        return "timestamp_too_old"
    return "timestamp_in_future" if age_s < -TOLERANCE_S else None


def find_mistake_of_secret(secret: str) -> Mistake | None:
    """The mistake in the format of a secret, None when it is usable."""
    if secret.startswith("v1,"):
        return "secret_is_a_signature"
    if _API_CREDENTIAL.fullmatch(secret):
        return "secret_of_the_api"
    try:
        return None if len(key_of(secret)) in _KEY_BYTES else "secret_malformed"
    except ValueError:
        return "secret_malformed"


def _signature(key: bytes, message: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, message, "sha256")).decode()


def _signed_prefix(captured: Captured) -> bytes:
    return f"{captured.webhook_id}.{captured.timestamp}.".encode()


def _is_signature_of(key: bytes, message: bytes, captured: Captured) -> bool:
    wanted = _signature(key, message).encode()
    return any(hmac.compare_digest(wanted, given.encode()) for given in captured.signature.split())


def _find_header_mistake(captured: Captured) -> Mistake | None:
    if not captured.webhook_id:
        return "id_missing"
    if not captured.timestamp:
        return "timestamp_missing"
    if not captured.signature.strip():
        return "signature_missing"
    if _MILLISECONDS.fullmatch(captured.timestamp):
        return "timestamp_milliseconds"
    if not _SECONDS.fullmatch(captured.timestamp):
        return "timestamp_not_seconds"
    return None if captured.body else "body_missing"


def _find_signature_mistake(signature: str) -> Mistake | None:
    texts = [part.removeprefix("v1").lstrip(",=:") for part in signature.split()]
    if any(_HEX.fullmatch(text) for text in texts):
        return "signature_hex"
    if not any(_BASE64.fullmatch(text) for text in texts):
        is_url_safe = any(_URL_SAFE.fullmatch(text) for text in texts)
        return "signature_url_safe" if is_url_safe else "signature_malformed"
    has_version = any(part.startswith("v1,") for part in signature.split())
    return None if has_version else "signature_without_version"


def _known_mistakes(secret: str, captured: Captured) -> Iterator[tuple[Mistake, bytes, bytes]]:
    """(name, HMAC key, message) of each known mistake in sending or capturing."""
    key, head, body = key_of(secret), _signed_prefix(captured), captured.body
    for name, other in _possible_bodies(body):
        yield name, key, head + other
    webhook_id, timestamp = captured.webhook_id.encode(), captured.timestamp.encode()
    yield "id_not_signed", key, timestamp + b"." + body
    yield "timestamp_not_signed", key, webhook_id + b"." + body
    yield "only_body_signed", key, body
    yield "dots_not_signed", key, webhook_id + timestamp + body
    for text in (secret, secret.removeprefix(PREFIX)):
        yield "secret_not_decoded", text.encode(), head + body


def _possible_bodies(body: bytes) -> Iterator[tuple[Mistake, bytes]]:
    """Bodies that may have been signed when this one was captured."""
    bare = body.removeprefix(codecs.BOM_UTF8).strip()
    for ending in (b"", b"\n", b"\r\n"):
        yield "body_newline", bare + ending
    for _, other in reserialised(body):
        yield "body_reserialised", other
    for encoding in ("latin-1", "cp1252"):
        with suppress(UnicodeError):
            yield "body_encoded_twice", body.decode().encode(encoding)
    with suppress(ValueError, RecursionError, AttributeError):
        yield "body_encoded_twice", json.loads(body).encode()
    yield "body_hashed", sha256(body).hexdigest().encode()
