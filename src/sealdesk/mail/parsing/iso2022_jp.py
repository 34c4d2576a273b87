"""ISO-2022-JP and EUC-JP as Shift_JIS, for which Python knows the characters of NEC and IBM too."""

import re

_ESCAPE = re.compile(rb"\x1b(\$[@B]|\$\([@BDO]|\([BJHI])")
_TWO_BYTES = (b"$@", b"$B", b"$(@", b"$(B")
_KATAKANA = b"(I"
_EUC = re.compile(rb"((?:[\xa1-\xfe]{2})+)|\x8e([\xa1-\xdf])")


def iso2022_jp_as_cp932(data: bytes) -> bytes:
    """The bytes of a text in Shift_JIS; a set of characters that it lacks becomes question marks.

    cp50220, what Outlook calls ISO-2022-JP, is JIS X 0208 with the characters that NEC and IBM
    have put into its empty rows. cp932 has them at the places that follow from their rows.
    """
    pieces: list[bytes] = []
    at, charset = 0, b"(B"
    for found in _ESCAPE.finditer(data):
        pieces.append(_in_cp932(data[at : found.start()], charset))
        at, charset = found.end(), found[1]
    pieces.append(_in_cp932(data[at:], charset))
    return b"".join(pieces)


def euc_jp_as_cp932(data: bytes) -> bytes:
    """The bytes of a text in Shift_JIS; cp51932 is to EUC-JP what cp50220 is to ISO-2022-JP."""
    return _EUC.sub(
        lambda found: found[2] or _shifted(bytes(byte & 0x7F for byte in found[1])), data
    )


def _in_cp932(data: bytes, charset: bytes) -> bytes:
    if charset in _TWO_BYTES:
        # Text of this set has no control characters: a new line returns to ASCII.
        lines = data.split(b"\n")
        return b"\n".join((_shifted(lines[0]), *lines[1:]))
    if charset == _KATAKANA:
        return bytes(byte | 0x80 if 0x21 <= byte <= 0x5F else byte for byte in data)
    return b"?" * (len(data) // 2) if charset.startswith(b"$(") else data


def _shifted(data: bytes) -> bytes:
    """Pairs of row and cell in JIS X 0208 as pairs of bytes in Shift_JIS (JIS X 0208, annex 1)."""
    shifted = bytearray()
    for row, cell in zip(data[::2], data[1::2], strict=False):
        lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
        trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
        shifted += bytes((lead & 0xFF, trail & 0xFF))
    return bytes(shifted)
