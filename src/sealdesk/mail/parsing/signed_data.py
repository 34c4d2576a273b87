"""The message within an opaque signature of S/MIME (RFC 8551, 3.5.2; CMS: RFC 5652, 5.1).

`cryptography` decrypts and verifies CMS, but does not give the content of what it cannot verify.
"""

from collections.abc import Iterator
from typing import NamedTuple

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")  # 1.2.840.113549.1.7.2
_DATA = bytes.fromhex("2a864886f70d010701")  # 1.2.840.113549.1.7.1
_OBJECT_IDENTIFIER, _OCTETS, _EXPLICIT = 0x06, 0x04, 0xA0
_CONSTRUCTED = 0x20
_MAX_DEPTH = 8
_MAX_ELEMENTS = 50_000
_MAX_LENGTH_BYTES = 4


def signed_content(data: bytes) -> bytes | None:
    """What was signed, None for bytes that are no signed message, such as an encrypted one."""
    try:
        return _Reader(data).content()
    except (ValueError, IndexError):
        return None


class _Element(NamedTuple):
    """An element of BER: the place of its content. after: where the next one begins."""

    tag: int
    start: int
    end: int
    after: int


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._count = 0

    def content(self) -> bytes | None:
        signed = self._explicit(next(self._elements(0, len(self._data), 0), None), _SIGNED_DATA)
        if signed is None:
            return None
        # SignedData: version, digestAlgorithms, encapContentInfo, …
        _, _, wrapped, *_ = self._within(signed)
        content = self._explicit(wrapped, _DATA)
        return None if content is None else b"".join(self._octets(content, 0))

    def _explicit(self, outer: _Element | None, kind: bytes) -> _Element | None:
        """What is within `SEQUENCE { kind, [0] EXPLICIT … }`."""
        fields = self._within(outer) if outer is not None else []
        if len(fields) < 2 or (fields[0].tag, fields[1].tag) != (_OBJECT_IDENTIFIER, _EXPLICIT):
            return None
        if self._data[fields[0].start : fields[0].end] != kind:
            return None
        return next(iter(self._within(fields[1])), None)

    def _within(self, outer: _Element) -> list[_Element]:
        return list(self._elements(outer.start, outer.end, 0))

    def _octets(self, element: _Element, depth: int) -> Iterator[bytes]:
        """The pieces of an octet string, which a stream writes as several."""
        if not element.tag & _CONSTRUCTED:
            yield self._data[element.start : element.end]
            return
        for piece in self._elements(element.start, element.end, depth + 1):
            if piece.tag & ~_CONSTRUCTED == _OCTETS:
                yield from self._octets(piece, depth + 1)

    def _elements(self, start: int, end: int, depth: int) -> Iterator[_Element]:
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        while start < end and self._data[start : start + 2] != b"\0\0":
            element = self._element(start, end, depth)
            yield element
            start = element.after

    def _element(self, at: int, limit: int, depth: int) -> _Element:
        self._count += 1
        if self._count > _MAX_ELEMENTS:
            raise ValueError("too many elements")
        tag, length = self._data[at], self._data[at + 1]
        at += 2
        if length == 0x80:
            # An indefinite length: its elements reach to two zero bytes (X.690, 8.1.3.6).
            end = at
            for inner in self._elements(at, limit, depth + 1):
                end = inner.after
            return _Element(tag, at, end, end + 2)
        if length > 0x80:
            count = length & 0x7F
            if count > _MAX_LENGTH_BYTES:
                raise ValueError("too long")
            length = int.from_bytes(self._data[at : at + count], "big")
            at += count
        if at + length > limit:
            raise ValueError("cut off")
        return _Element(tag, at, at + length, at + length)
