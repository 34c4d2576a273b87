"""What people paste of a request, read as they mean it; no IO."""

import base64
import re
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from sealdesk import clock
from sealdesk.crypto import signing
from sealdesk.crypto.signing import Signed

_HEADER = re.compile(r"x-api-(?:key|timestamp|signature)\s*[:=]\s*", re.IGNORECASE)
_REQUEST_LINE = re.compile(r"(?:[A-Za-z]{3,7}\s+)?(\S.*?)(?:\s+HTTP/[0-9.]+)?", re.DOTALL)
_HOST = re.compile(
    r"(?:https?://([^/?#\s]*)|([^/?#\s]*[.:\]][^/?#\s]*|localhost)(?=[/?#]|$))", re.IGNORECASE
)
_BEHIND_A_SIGN = re.compile(r".*[^0-9A-Za-z]([0-9A-Fa-f]{64})", re.DOTALL)
_HEX = re.compile(r"[0-9A-Fa-f]{64}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+/_-]{86}(?:==)?)")
_MORE_DIGITS = re.compile(r"([1-9][0-9]{9})(?:[0-9]{3,9}|[.,][0-9]*)", re.ASCII)
_SENT = "".join(map(chr, range(0x21, 0x7F)))  # all that can stand in the target of a request
_QUOTES = "\"'`"
_BOM = "\ufeff"
_UNSEEN = f"{_BOM}\u200b"
_FEET = ("\n", "\r\n", "")


class Pasted(msgspec.Struct, frozen=True):
    """What somebody says of a request, in text as they have it."""

    method: str
    target: str
    timestamp: str
    body: str
    signature: str
    api_key: str
    host: str


class Read(NamedTuple):
    """A field as it was meant, and the name of what is wrong with how it was written, or ""."""

    text: str
    mistake: str


def canonical(pasted: Pasted, prefix: str = "") -> Signed:
    """The parts as they are to be signed: what a server receives."""
    return Signed(
        timestamp_of(pasted.timestamp).text.encode(),
        pasted.method.strip().upper().encode(),
        target_of(pasted.target, prefix).encode(),
        pasted.body.encode(),
    )


def bare(text: str) -> str:
    """The value of a header, without its name, quotes and what stands around it."""
    return _HEADER.sub("", text.strip().strip(_UNSEEN), count=1).strip().strip(_QUOTES)


def target_of(text: str, prefix: str = "") -> str:
    """Path and query as a server receives them, out of an address or a line of a log.

    prefix: what a proxy strips from the path, which is signed all the same.
    """
    line = _REQUEST_LINE.fullmatch(bare(text))
    target = (line[1] if line else "").partition("#")[0]
    found = _HOST.match(target)
    target = target[found.end() :] if found else target
    target = quote(target[:-1] if target.endswith("?") else target, safe=_SENT)
    target = target if target.startswith("/") else f"/{target}"
    is_below = not prefix or target == prefix or target.startswith(f"{prefix}/")
    return target if is_below else f"{prefix}{target}"


def host_of(pasted: Pasted) -> str:
    """The host of the address that was pasted, or else what stands in its own field."""
    line = _REQUEST_LINE.fullmatch(bare(pasted.target))
    found = _HOST.match(line[1]) if line else None
    return (found[1] or found[2] or "") if found else bare(pasted.host)


def timestamp_of(text: str) -> Read:
    """Whole seconds, out of whatever tells an instant."""
    text = bare(text)
    if signing.TIMESTAMP.fullmatch(text.encode("utf-8", "replace")):
        return Read(text, "")
    longer = _MORE_DIGITS.fullmatch(text)
    if longer:
        is_ms = len(text) == 13 and text.isdigit()
        return Read(longer[1], "timestamp_milliseconds" if is_ms else "timestamp_not_seconds")
    at_us = clock.parse_instant(text)
    return Read(text if at_us is None else str(at_us // 1_000_000), "timestamp_not_seconds")


def signature_of(text: str) -> Read:
    """Lower-case hex, however it was written."""
    text = "".join(bare(text).split())
    if _HEX.fullmatch(text):
        return Read(text.lower(), "" if text == text.lower() else "uppercase_hex")
    behind = _BEHIND_A_SIGN.fullmatch(text)
    if behind:
        return Read(behind[1].lower(), "signature_prefixed")
    if _BASE64.fullmatch(text):
        return Read(_from_base64(text), "signature_base64")
    return Read(text.lower(), "signature_not_hex")


def _from_base64(text: str) -> str:
    """In hex; some programs put the hex text itself into Base64."""
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    raw = base64.b64decode(padded + "=" * (-len(padded) % 4))
    return raw.decode("ascii", "replace") if len(raw) == 64 else raw.hex()


def bodies(text: str) -> list[bytes]:
    """A body as pasted, and as it may have been: fields of forms change what stands around it."""
    if not text:
        return [b""]
    lines = text.rstrip("\n")
    spelt = [lines + foot for foot in _FEET]
    spelt += [each.replace("\r\n", "\n").replace("\n", "\r\n") for each in spelt]
    core = text.strip().strip(_BOM).strip()
    spelt += [core, _BOM + core]
    return [each.encode() for each in dict.fromkeys([text, *spelt])]
