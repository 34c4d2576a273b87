"""What is within opaque parts of S/MIME (RFC 8551, 3; CMS: RFC 5652, and RFC 3274 if compressed).

`cryptography` decrypts and verifies CMS, but does not give the content of what it cannot verify.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from sealdesk.mail.parsing.types import Fault

_SIGNED = bytes.fromhex("2a864886f70d010702")  # 1.2.840.113549.1.7.2
_DATA = bytes.fromhex("2a864886f70d010701")  # 1.2.840.113549.1.7.1
_COMPRESSED = bytes.fromhex("2a864886f70d0109100109")  # 1.2.840.113549.1.9.16.1.9
_OBJECT_IDENTIFIER, _OCTETS, _EXPLICIT = 0x06, 0x04, 0xA0
_CONSTRUCTED = 0x20
_MAX_DEPTH = 8
_MAX_ELEMENTS = 50_000
_MAX_LENGTH_BYTES = 4
# What a part says of itself in `smime-type`, for those that cannot be read (RFC 8551, 3.2.2).
_DECLARED = {"compressed-data": Fault.COMPRESSED, "certs-only": Fault.CERTIFICATES}


def read_cms(data: bytes, declared: str, max_unpacked_bytes: int) -> bytes | Fault:
    """The message within, or what its reader is told instead, such as that it is encrypted.

    declared: its `smime-type`.
    """
    try:
        return _Reader(data).content(max_unpacked_bytes)
    except (ValueError, IndexError):
        return _DECLARED.get(declared.lower(), Fault.ENCRYPTED)
    except zlib.error:
        return Fault.COMPRESSED


def _unpacked(data: bytes, max_bytes: int) -> bytes | Fault:
    unpacking = zlib.decompressobj()
    found = unpacking.decompress(data, max_bytes + 1)
    return found if unpacking.eof and len(found) <= max_bytes else Fault.COMPRESSED


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

    def content(self, max_unpacked_bytes: int) -> bytes | Fault:
        kind, inner = self._explicit(next(self._elements(0, len(self._data), 0)))
        if kind not in (_SIGNED, _COMPRESSED):
            return Fault.ENCRYPTED
        # SignedData and CompressedData: version, algorithms, encapContentInfo, …
        _, _, wrapped, *_ = self._within(inner)
        fields = self._within(wrapped)
        if kind == _SIGNED and len(fields) == 1:
            return Fault.CERTIFICATES  # of nothing (RFC 8551, 3.8)
        kind_within, content = self._explicit(wrapped)
        if kind_within != _DATA:
            raise ValueError("no message")
        octets = b"".join(self._octets(content, 0))
        return octets if kind == _SIGNED else _unpacked(octets, max_unpacked_bytes)

    def _explicit(self, outer: _Element) -> tuple[bytes, _Element]:
        """The kind of `SEQUENCE { kind, [0] EXPLICIT … }`, and what is within it."""
        identifier, explicit, *_ = self._within(outer)
        if (identifier.tag, explicit.tag) != (_OBJECT_IDENTIFIER, _EXPLICIT):
            raise ValueError("no content of CMS")
        inner, *_ = self._within(explicit)
        return self._data[identifier.start : identifier.end], inner

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
