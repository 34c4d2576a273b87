"""Content-Transfer-Encoding: the bytes of a part, and of what is uuencoded within a text."""

import binascii
import re
from collections.abc import Iterator

from sealdesk.mail.parsing.types import Encoded, Fault

_CHUNK_BYTES = 192 * 1024
_MAX_PADDED = 1_000  # pieces of base64 in a chunk that end with padding
_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_NOT_BASE64 = bytes(set(range(256)) - _BASE64)
# What base64 may contain besides: white space, and the padding.
_WRONG_IN_BASE64 = bytes(set(range(256)) - _BASE64 - set(b" \t\r\n="))
_AS_IT_IS = ("", "7bit", "8bit", "binary")
_ENCODINGS = {
    "7bits": "7bit",
    "8bits": "8bit",
    "b": "base64",
    "xbase64": "base64",
    "q": "quoted-printable",
    "qp": "quoted-printable",
    "quotedprintable": "quoted-printable",
    "uuencode": "x-uuencode",
    "xuuencode": "x-uuencode",
    "xuue": "x-uuencode",
    "uue": "x-uuencode",
}
_COMMENT = re.compile(r"\([^()]{0,100}\)")
_BETWEEN_WORDS = str.maketrans("", "", " \t-_/\"'")
_BEGIN = re.compile(r"^begin(?:-base64)? [0-7]{3,4} (\S[^\r\n]{0,254})$", re.MULTILINE)
_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_PADDED_BREAK = re.compile(rb"=[ \t]+(?=\r?\n)")  # RFC 2045, 6.7 (3)
_MAX_FILES = 20  # within one text


def decode(encoded: Encoded, faults: set[Fault], limit: int | None = None) -> Iterator[bytes]:
    """The bytes in pieces; with a limit, those of so many encoded bytes."""
    raw, start, end, _ = encoded
    cut = end if limit is None else min(end, start + limit)
    encoding = _name(encoded.encoding)
    if encoding == "base64":
        return _from_base64(raw, start, cut, faults, is_cut=cut < end)
    if encoding == "quoted-printable":
        # Broken escapes stay as they are; also those that the limit has cut.
        pieces = _cut_at_lines(raw, start, cut)
        return (binascii.a2b_qp(_PADDED_BREAK.sub(b"=", each)) for each in pieces)
    if encoding == "x-uuencode":
        return _from_uu(raw, start, cut, faults)
    if encoding not in _AS_IT_IS:
        faults.add(Fault.TRANSFER_ENCODING)
    return _chunks(raw, start, cut)


def decode_text(encoded: Encoded, faults: set[Fault], limit: int) -> bytes:
    """The bytes of so many encoded bytes; what only says that it is base64 is taken as it is."""
    data = b"".join(decode(encoded, faults, limit))
    if _name(encoded.encoding) != "base64" or _is_words(data):
        return data
    return _repaired(encoded.raw[encoded.start : min(encoded.end, encoded.start + limit)], data)


def _repaired(written: bytes, data: bytes) -> bytes:
    """Base64 without the lines of others among it, or the text that is none.

    data: what the whole of it gives.
    """
    lines = written.split(b"\n")
    plain = [line for line in lines if _BASE64_LINE.fullmatch(line.strip())]
    if len(plain) == len(lines):
        return data
    kept, length = _decode_groups(b"".join(plain))[0], sum(map(len, plain))
    if _is_words(kept) and 4 * length > len(written):
        return kept
    if 2 * length < len(written):
        return written if _is_words(written) else data
    return data if _CONTROL.search(kept) else kept


def _is_words(data: bytes) -> bool:
    """Whether bytes are UTF-8 without control characters, as what is no text hardly is."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return bool(data) and _CONTROL.search(data) is None


def _name(encoding: str) -> str:
    bare = _COMMENT.sub("", encoding[:200]).partition(";")[0].lower().translate(_BETWEEN_WORDS)
    return _ENCODINGS.get(bare, bare)


def _chunks(raw: bytes, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, _CHUNK_BYTES):
        yield raw[at : min(end, at + _CHUNK_BYTES)]


def _cut_at_lines(raw: bytes, start: int, end: int) -> Iterator[bytes]:
    """The bytes in pieces that end with a line; within a longer line, before an escape."""
    while start < end:
        cut = min(end, start + _CHUNK_BYTES)
        if cut < end:
            line_end = raw.rfind(b"\n", start, cut) + 1
            escape = raw.rfind(b"=", max(start + 1, cut - 2), cut)
            cut = line_end or (escape if escape > 0 else cut)
        yield raw[start:cut]
        start = cut


def _from_base64(
    raw: bytes, start: int, end: int, faults: set[Fault], *, is_cut: bool
) -> Iterator[bytes]:
    """Bytes of base64: strange characters are passed over, and a wrong end is left out."""
    # Each piece is decoded up to its last group of four characters, since padding may also be
    # within the text.
    rest = b""
    for piece in _chunks(raw, start, end):
        if len(piece.translate(None, _WRONG_IN_BASE64)) != len(piece):
            faults.add(Fault.TRANSFER_ENCODING)
        decoded, rest = _decode_groups(rest + piece)
        yield decoded
    plain = rest.translate(None, _NOT_BASE64)
    if len(plain) == 1 and not is_cut:
        faults.add(Fault.TRANSFER_ENCODING)
    if len(plain) > 1:
        yield binascii.a2b_base64(plain + b"=" * (-len(plain) % 4))


def _decode_groups(encoded: bytes) -> tuple[bytes, bytes]:
    """What whole groups contain, and the rest."""
    if encoded.count(b"=") > _MAX_PADDED:
        encoded = encoded.replace(b"=", b"")
    *padded, last = re.split(rb"=+", encoded)
    decoded = []
    for text in padded:
        plain = text.translate(None, _NOT_BASE64)
        plain = plain[:-1] if len(plain) % 4 == 1 else plain
        decoded.append(binascii.a2b_base64(plain + b"=" * (-len(plain) % 4)))
    plain = last.translate(None, _NOT_BASE64)
    end = len(plain) - len(plain) % 4
    decoded.append(binascii.a2b_base64(plain[:end]))
    return b"".join(decoded), plain[end:]


def _from_uu(raw: bytes, start: int, end: int, faults: set[Fault]) -> Iterator[bytes]:
    lines = _lines(raw, start, end)
    for line in lines:
        if line.startswith(b"begin "):
            yield from _uu_lines(lines, faults)
            return
    faults.add(Fault.TRANSFER_ENCODING)
    yield from _chunks(raw, start, end)


def _lines(raw: bytes, start: int, end: int) -> Iterator[bytes]:
    while start < end:
        found = raw.find(b"\n", start, end)
        after = end if found < 0 else found + 1
        yield raw[start:after]
        start = after


def _uu_lines(lines: Iterator[bytes], faults: set[Fault]) -> Iterator[bytes]:
    for ended in lines:
        line = ended.rstrip(b"\r\n")
        if line.strip() in (b"end", b"`", b""):
            break
        try:
            yield binascii.a2b_uu(line)
        except binascii.Error:
            # Encoders that fill the last group make lines that are too long.
            try:
                yield binascii.a2b_uu(line[: (((line[0] - 32) & 63) * 4 + 5) // 3 + 1])
            except binascii.Error:
                faults.add(Fault.TRANSFER_ENCODING)


def take_uuencoded(text: str, faults: set[Fault]) -> tuple[str, list[tuple[str, bytes]]]:
    """A text without the files that are uuencoded in it, and their names and contents."""
    files: list[tuple[str, bytes]] = []
    kept: list[str] = []
    at = 0
    begins = _BEGIN.finditer(text) if "begin" in text else ()  # searched in a tenth of the time
    for count, found in enumerate(begins):
        end = text.find("\nend", found.end())
        if end < 0 or count >= _MAX_FILES:
            break
        lines = text[found.end() + 1 : end + 1].encode("ascii", "replace").split(b"\n")
        own_faults: set[Fault] = set()
        content = b"".join(_uu_lines(iter(lines), own_faults))
        # A sentence can also begin with "begin 100 ".
        if not content or own_faults:
            continue
        files.append((found[1].strip(), content))
        kept.append(text[at : found.start()])
        at = end + len("\nend")
    return "".join((*kept, text[at:])), files
