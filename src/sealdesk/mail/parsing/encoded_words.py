"""Encoded words in header fields (RFC 2047), also those that are broken."""

import binascii
import re
from collections.abc import Iterator
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from sealdesk.mail.parsing.charsets import Decoded, clean_line, codec_of, decode
from sealdesk.mail.parsing.types import Fault

# Mailers leave spaces and question marks in a word as they are, although the RFC forbids both.
_WORD = re.compile(
    r"=\?([^?\s]{1,60})\?([bq])\?([^?]*(?:(?<!=)\?(?!=)[^?]*){0,4})\?=", re.IGNORECASE
)
# A word at the end of a field whose last characters were cut off.
_CUT_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bq])\?([^?\s]*)\??\s*$", re.IGNORECASE)
_CUT_BYTE = re.compile(r"=[0-9A-F]?$", re.IGNORECASE)
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")
_MAX_WORDS = 2_000


class _Word(NamedTuple):
    """base64: as it is written, "" for a word in the other encoding. is_cut: at its end."""

    charset: str
    data: bytes
    base64: str
    is_cut: bool


def decode_words(value: str, faults: set[Fault]) -> str:
    """A field with its encoded words decoded, as one line without control characters."""
    if "=?" not in value:
        return clean_line(value)
    texts: list[str] = []
    words: list[_Word] = []
    end = 0
    for found in islice(_words(value), _MAX_WORDS):
        between = value[end : found.start()]
        # White space between two encoded words is not part of the text (RFC 2047, 6.2).
        if not words or between.strip():
            texts += (*_decoded(words, faults), between)
            words = []
        words.append(_read(found))
        end = found.end()
    rest = value[end:]
    if "=?" in rest and "?=" in rest:
        faults.add(Fault.ENCODED_WORD)
    # A field whose end was cut off may end within a character.
    text = "".join((*texts, *_decoded(words, faults))).removesuffix("\ufffd") + rest
    return clean_line(text)


def _words(value: str) -> Iterator[re.Match[str]]:
    end = 0
    for found in _WORD.finditer(value):
        yield found
        end = found.end()
    cut = _CUT_WORD.search(value, end)
    if cut is not None:
        yield cut


def charset_of_words(value: str) -> str | None:
    """The codec of the first encoded word, None without one."""
    found = _WORD.search(value)
    return None if found is None else codec_of(found[1].partition("*")[0])


def _read(found: re.Match[str]) -> _Word:
    # The charset may have a language (RFC 2231, 5).
    charset, is_cut = found[1].partition("*")[0], found.re is _CUT_WORD
    if found[2] in "bB":
        return _Word(charset, _from_base64(found[3]), found[3], is_cut)
    written = _CUT_BYTE.sub("", found[3]).replace("_", " ")
    return _Word(charset, binascii.a2b_qp(written.encode()), "", is_cut)


def _from_base64(text: str) -> bytes:
    plain = _NOT_BASE64.sub("", text)
    plain = plain[:-1] if len(plain) % 4 == 1 else plain
    return binascii.a2b_base64(plain + "=" * (-len(plain) % 4))


def _decoded(words: list[_Word], faults: set[Fault]) -> list[str]:
    """The texts of adjacent words; a character may begin in one and end in the next."""
    texts: list[str] = []
    for charset, same in groupby(words, key=lambda word: word.charset.lower()):
        decoded = _decode(charset, list(same))
        if not decoded.is_certain or codec_of(charset) is None:
            faults.add(Fault.CHARSET)
        texts.append(decoded.text)
    return texts


def _decode(charset: str, words: list[_Word]) -> Decoded:
    is_cut = words[-1].is_cut
    decoded = decode(b"".join(word.data for word in words), charset, is_cut=is_cut)
    if decoded.is_certain or len(words) == 1:
        return decoded
    if all(word.base64 for word in words):
        # Some mailers cut base64 anywhere.
        joined = decode(_from_base64("".join(word.base64 for word in words)), charset)
        if joined.is_certain:
            return joined
    apart = [decode(word.data, charset, is_cut=word.is_cut) for word in words]
    if all(one.is_certain or next_.is_certain for one, next_ in pairwise(apart)):
        # No character spans two of them: one word has another charset than it says.
        return decoded._replace(text="".join(each.text for each in apart))
    return decoded
