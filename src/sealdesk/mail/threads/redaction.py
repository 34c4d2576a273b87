"""Texts without the tokens that give access to a ticket, however a program has spelt them; no I/O.

A quoted or forwarded e-mail contains the link and the reply address of whoever got it, rewritten by
filters (SafeLinks, urldefense), percent-encoded, wrapped, or with HTML entities (decision 0091).
"""

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from sealdesk.crypto.sealing import KeyRing
from sealdesk.mail.threads.types import Participant

_HIDDEN = "…"
_LINK_TOKEN_LENGTH = 84  # 52 bytes in base32: fingerprint, SIV, ticket id and hash
_FINGERPRINT_LENGTH = 6  # the characters of base32 that 4 bytes determine
_MAX_ROUNDS = 4  # a filter encodes once, and two filters may follow each other
# Filters and editors put them where a line may be broken.
_INVISIBLE = "[\u00ad\u200b-\u200f\u2060\ufeff]"
_WRAP = rf"(?:=?\r?\n[>|\s]{{0,20}}|{_INVISIBLE}{{1,3}})?"
_TOKEN = rf"{_WRAP}(?:[a-z2-7]{_WRAP}){{26}}"
# HTML makes a space of a broken line. One alone, as words may follow a +.
_SPLIT = r"(?=[a-z2-7 \t\xa0]{27}(?![a-z2-7]))[a-z2-7]{0,26}[ \t\xa0][a-z2-7]{0,26}"
# Of any ticket. urldefense writes + as -2B or *, and what another filter had encoded as -252B.
_REPLY_ADDRESS = re.compile(
    rf"(?:[+*]|[-=%](?:25){{0,4}}2b)({_TOKEN}|{_SPLIT})[ \t]?"
    r"(?=[@*]|[-=%](?:25){0,4}40|[\[(]at[\])]|<mailto:)",
    re.IGNORECASE | re.ASCII,
)
# Of any installation.
_LINK = re.compile(r"/(?:ticket|r)/([a-z2-7]{40,200})", re.IGNORECASE | re.ASCII)
_BASE32, _NO_BASE32 = re.compile(r"[A-Za-z2-7]+"), re.compile(r"[^A-Za-z2-7]+")
# As the pattern, in a fiftieth of the time.
_NO_BASE32_IN_ASCII = bytes(code for code in range(128) if _NO_BASE32.match(chr(code)))
_LOWER = bytes(range(256)).lower()
_ENCODED = re.compile(
    r"%(?:25)*[0-9a-f]{2}|&(?:amp;)*(?:#[0-9]{1,7};?|#x[0-9a-f]{1,6};?|[a-z]{2,8};)"
    r"|\\u[0-9a-f]{4}",
    re.IGNORECASE | re.ASCII,
)
# Links of filters such as Sophos's name in base64 where they lead.
_BASE64 = re.compile(r"[=/]([A-Za-z0-9+/_-]{35,})", re.ASCII)
# Only in URLs: without what stands before it, the search takes ten times as long.
_HEX = re.compile(r"[=/.?&-]([0-9A-Fa-f]{70,})", re.ASCII)
# Of 70 digits ten are in every seventh character, where they are found in half the time.
_STRIDE, _SAMPLED_HEX = 7, re.compile(r"[0-9A-Fa-f]{10}", re.ASCII)
_OF_URLS = str.maketrans("-_", "+/")
_WIDE = re.compile("[\uff01-\uff5e]")  # the full-width forms of ASCII
_QUOTED_PRINTABLE = re.compile(r"=(?:3D)*[0-9A-F]{2}", re.ASCII)


class Secrets(NamedTuple):
    """What is looked for. prefixes: with which the token of a link begins."""

    reply_tokens: tuple[str, ...]
    prefixes: tuple[str, ...]


class _Decoded(NamedTuple):
    """A text after some rounds. starts: where each character begins in the first one, and its
    end."""

    text: str
    starts: Sequence[int]


def secrets_of(key_ring: KeyRing, participants: Iterable[Participant] = ()) -> Secrets:
    """The secrets of a ticket, and of all links of this installation."""
    fingerprints = (bytes.fromhex(each) for each in sorted(key_ring.fingerprints))
    prefixes = (base64.b32encode(each).decode().lower() for each in fingerprints)
    return Secrets(
        tuple(each.token for each in participants),
        tuple(each[:_FINGERPRINT_LENGTH] for each in prefixes),
    )


def redact(text: str, secrets: Secrets) -> str:
    """A text without secrets."""
    found = (span for each in _decodings(text) for span in _find(each, secrets))
    spans = sorted((*found, *_find_in_base64(text, secrets), *_find_in_hex(text, secrets)))
    parts, end = list[str](), 0
    for span in spans:
        if span[0] >= end:
            parts += (text[end : span[0]], _HIDDEN)
        end = max(end, span[1])
    return "".join((*parts, text[end:]))


def _decodings(text: str) -> Iterator[_Decoded]:
    """The text as it is, and what each round of decoding makes of it."""
    narrow = text
    if not text.isascii():
        narrow = _WIDE.sub(lambda wide: chr(ord(wide[0]) - 0xFEE0), text)
    plain = _Decoded(narrow, range(len(text) + 1))
    begins = [plain]
    if _QUOTED_PRINTABLE.search(text):
        begins.append(_decode(plain, _QUOTED_PRINTABLE))
    for begin in begins:
        decoded, rounds = begin, 0
        yield decoded
        while rounds < _MAX_ROUNDS and _is_encoded(decoded.text):
            decoded, rounds = _decode(decoded, _ENCODED), rounds + 1
            yield decoded


def _is_encoded(text: str) -> bool:
    return _has_any(text, "%&\\") and _ENCODED.search(text) is not None


def _has_any(text: str, parts: Iterable[str]) -> bool:
    """Whether a pattern may match; most texts have none of these, which is found in no time."""
    return any(part in text for part in parts)


def _decode(before: _Decoded, pattern: re.Pattern[str]) -> _Decoded:
    parts, starts, end = list[str](), list[int](), 0
    for found in pattern.finditer(before.text):
        begin = found.start()
        character = _character(found[0])
        parts += (before.text[end:begin], character)
        starts += before.starts[end:begin]
        starts += [before.starts[begin]] * len(character)
        end = found.end()
    starts += before.starts[end:]
    return _Decoded("".join((*parts, before.text[end:])), starts)


def _character(encoded: str) -> str:
    if encoded.startswith("&"):
        return html.unescape(f"&{encoded[1:].replace('amp;', '') or 'amp;'}")
    if encoded.startswith("\\"):
        return chr(int(encoded[2:], 16))
    return unquote_to_bytes("%" + encoded[-2:]).decode("latin-1")


def _find(decoded: _Decoded, secrets: Secrets) -> Iterator[tuple[int, int]]:
    """Where secrets are in the first text."""
    starts = decoded.starts
    patterns = [_LINK]
    if _has_any(decoded.text, ("+", "*", "2b", "2B")):
        patterns.append(_REPLY_ADDRESS)
    for pattern in patterns:
        for found in pattern.finditer(decoded.text):
            yield starts[found.start(1)], starts[found.end(1)]
    # Whatever separates the characters of a token, such as a wrapped line, is left out.
    text = decoded.text
    if text.isascii():
        bare = text.encode().translate(_LOWER, _NO_BASE32_IN_ASCII).decode()
    else:
        bare = _NO_BASE32.sub("", text).lower()
    spans = [*_find_all(bare, secrets)]
    if spans:
        at = [begin for run in _BASE32.finditer(decoded.text) for begin in range(*run.span())]
        for begin, end in spans:
            yield starts[at[begin]], starts[at[end - 1] + 1]


def _find_in_base64(text: str, secrets: Secrets) -> Iterator[tuple[int, int]]:
    for found in _BASE64.finditer(text) if _has_any(text, "=/") else ():
        # What is decoded may begin behind a part of a path.
        if any(_has_secret(_from_base64(found[1][at:]), secrets) for at in range(4)):
            yield found.span(1)


def _find_in_hex(text: str, secrets: Secrets) -> Iterator[tuple[int, int]]:
    is_likely = _SAMPLED_HEX.search(text[::_STRIDE]) is not None
    for found in _HEX.finditer(text) if is_likely else ():
        decoded = bytes.fromhex(found[1][: len(found[1]) // 2 * 2]).decode("latin-1").lower()
        if _has_secret(decoded, secrets):
            yield found.span(1)


def _has_secret(decoded: str, secrets: Secrets) -> bool:
    """No encoding changes a token."""
    known = (*secrets.reply_tokens, *secrets.prefixes)
    is_known = any(each in decoded for each in known)
    return is_known or ("+" in decoded and _REPLY_ADDRESS.search(decoded) is not None)


def _from_base64(encoded: str) -> str:
    whole = encoded[: len(encoded) // 4 * 4].translate(_OF_URLS)
    return base64.b64decode(whole).decode("latin-1").lower()


def _find_all(bare: str, secrets: Secrets) -> Iterator[tuple[int, int]]:
    wanted = [(each, len(each)) for each in secrets.reply_tokens]
    wanted += [(each, _LINK_TOKEN_LENGTH) for each in secrets.prefixes]
    for begins_with, length in wanted:
        begin = bare.find(begins_with)
        while begin >= 0:
            end = min(begin + length, len(bare))
            yield begin, end
            begin = bare.find(begins_with, end)
