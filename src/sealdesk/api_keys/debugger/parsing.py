"""Parses a request that a user pasted into the signature debugger; no IO."""

import base64
import re
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from sealdesk import clock
from sealdesk.crypto import signing
from sealdesk.crypto.diagnosis import forms
from sealdesk.crypto.signing import Signed

_HEADER = re.compile(r"x-api-(?:key|timestamp|signature)\s*[:=]\s*", re.IGNORECASE)
_METHOD = re.compile(r"[A-Za-z]{3,7}\s+(?=\S)")
_VERSION = re.compile(r"HTTP/[0-9.]+")
_AUTHORITY = re.compile(r"(https?://)?([^/?#\s]*)", re.IGNORECASE)
_LONG_TIMESTAMP = re.compile(r"([1-9][0-9]{9})(?:[0-9]{3,9}|[.,][0-9]*)", re.ASCII)
_TARGET_CHARACTERS = "".join(map(chr, range(0x21, 0x7F)))  # of a request's target
_QUOTES = "\"'`"
_BOM = "\ufeff"
_INVISIBLE = f"{_BOM}\u200b"
_LINE_ENDS = ("\n", "\r\n", "")


class PastedRequest(msgspec.Struct, frozen=True):
    """The fields of the form as they were submitted."""

    method: str
    target: str
    timestamp: str
    body: str
    signature: str
    api_key: str
    host: str


class ParsedField(NamedTuple):
    """A field in its correct form. mistake: what was wrong with its form, "" for nothing."""

    text: str
    mistake: str


def signed_parts(pasted: PastedRequest, prefix: str = "") -> Signed:
    """The parts of the request that the signature must cover, as the server receives them."""
    return Signed(
        parse_timestamp(pasted.timestamp).text.encode(),
        pasted.method.strip().upper().encode(),
        parse_target(pasted.target, prefix).encode(),
        pasted.body.encode(),
    )


def strip_decoration(text: str) -> str:
    """The value of a header without the header's name, quotes and white space."""
    return _HEADER.sub("", text.strip().strip(_INVISIBLE), count=1).strip().strip(_QUOTES)


def parse_target(text: str, prefix: str = "") -> str:
    """Path and query as a server receives them, from a URL or a line of a log.

    prefix: stripped from the path by a proxy, but part of what is signed.
    """
    _, target = _split_host(_read_request_line(text).partition("#")[0])
    target = quote(target[:-1] if target.endswith("?") else target, safe=_TARGET_CHARACTERS)
    target = target if target.startswith("/") else f"/{target}"
    has_prefix = not prefix or target == prefix or target.startswith(f"{prefix}/")
    return target if has_prefix else f"{prefix}{target}"


def find_host(pasted: PastedRequest) -> str:
    """The host of the pasted URL, or else of the field for it."""
    host, target = _split_host(line := _read_request_line(pasted.target))
    return strip_decoration(pasted.host) if target == line else host


def _read_request_line(text: str) -> str:
    """The target of a request line; the method and the version may be missing."""
    line = strip_decoration(text).strip()
    method = _METHOD.match(line)
    line = line[method.end() :] if method else line
    target, *last_word = line.rsplit(maxsplit=1) or [""]
    return target if last_word and _VERSION.fullmatch(last_word[0]) else line


def _split_host(target: str) -> tuple[str, str]:
    """The host of a URL, with or without its scheme, and the rest; ("", target) without a host."""
    authority = _AUTHORITY.match(target)
    scheme, host = authority.groups() if authority else (None, "")
    rest = target[len(scheme or "") + len(host) :]
    is_at_end = not rest or rest[0] in "/?#"
    is_host = host.lower() == "localhost" or any(mark in host for mark in ".:]")
    return (host, rest) if scheme or (is_at_end and is_host) else ("", target)


def parse_timestamp(text: str) -> ParsedField:
    """Whole seconds, from milliseconds, fractions or ISO 8601."""
    text = strip_decoration(text)
    if signing.TIMESTAMP.fullmatch(text.encode("utf-8", "replace")):
        return ParsedField(text, "")
    long_timestamp = _LONG_TIMESTAMP.fullmatch(text)
    if long_timestamp:
        return ParsedField(long_timestamp[1], forms.find_timestamp_mistake(text.encode()) or "")
    at_us = clock.parse_instant(text)
    return ParsedField(text if at_us is None else str(at_us // 1_000_000), "timestamp_not_seconds")


def parse_signature(text: str) -> ParsedField:
    """Lower-case hex, from upper case, Base64 or behind a prefix."""
    text = "".join(strip_decoration(text).split())
    mistake = forms.find_signature_mistake(text) or ""
    if mistake == "signature_prefixed":
        text = forms.find_hex_behind_prefix(text) or text
    elif mistake == "signature_base64":
        text = _from_base64(text)
    return ParsedField(text.lower(), mistake)


def _from_base64(text: str) -> str:
    """The hex; some programs encode the hex text itself in Base64."""
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    raw = base64.b64decode(padded + "=" * (-len(padded) % 4))
    return raw.decode("ascii", "replace") if len(raw) == 64 else raw.hex()


def body_variants(text: str) -> list[bytes]:
    """The body as pasted, and with the white space and line ends that forms and editors change."""
    if not text:
        return [b""]
    lines = text.rstrip("\n")
    variants = [lines + line_end for line_end in _LINE_ENDS]
    variants += [each.replace("\r\n", "\n").replace("\n", "\r\n") for each in variants]
    stripped = text.strip().strip(_BOM).strip()
    variants += [stripped, _BOM + stripped]
    return [each.encode() for each in dict.fromkeys([text, *variants])]
