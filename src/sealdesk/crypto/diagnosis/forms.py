"""Wrong forms of the signature headers, which need no secret to be named."""

import re

from sealdesk.crypto import signing

_HEX = re.compile(r"[0-9A-Fa-f]+")
_PREFIXED = re.compile(r".*[^0-9A-Za-z]([0-9A-Fa-f]{64})", re.DOTALL)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+/_-]{86}(?:==)?)")
_SECRET = re.compile(rb"[0-9A-Fa-f]{64}")
_OTHER_HEX_LENGTHS = (32, 40, 56, 96, 128)  # MD5, SHA-1, SHA-224, SHA-384, SHA-512


def find_signature_mistake(text: str) -> str | None:
    """The name of the mistake in the form of a signature, None for 64 lower-case hex characters."""
    if _HEX.fullmatch(text):
        if len(text) == 64:
            return None if text == text.lower() else "uppercase_hex"
        if len(text) in _OTHER_HEX_LENGTHS:
            return "signature_other_algorithm"
    if _PREFIXED.fullmatch(text):
        return "signature_prefixed"
    return "signature_base64" if _BASE64.fullmatch(text) else "signature_not_hex"


def find_hex_behind_prefix(text: str) -> str | None:
    """The 64 hex characters behind a prefix such as `sha256=`."""
    found = _PREFIXED.fullmatch(text)
    return found[1] if found else None


def find_key_mistake(api_key: bytes) -> str | None:
    """The name of the mistake in x-api-key, if it is a known one."""
    return "secret_as_api_key" if _SECRET.fullmatch(api_key) else None


def find_timestamp_mistake(timestamp: bytes) -> str | None:
    """The name of the mistake in the form of x-api-timestamp, None for ten digits."""
    if signing.TIMESTAMP.fullmatch(timestamp):
        return None
    is_ms = len(timestamp) == 13 and timestamp.isdigit()
    return "timestamp_milliseconds" if is_ms else "timestamp_not_seconds"
