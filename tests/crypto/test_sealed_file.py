"""Sealed files: opened whole or not at all, and the same bytes become the same file."""

import hashlib
import io

import pytest

from sealdesk.crypto import sealed_file
from sealdesk.crypto.encrypted_file import CHUNK_BYTES, TAG_BYTES
from sealdesk.crypto.sealing import FILE_LABEL_BYTES, KeyRing, UnsealError

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
RING = KeyRing([NEW])
HEADER_BYTES = len(sealed_file.MAGIC) + FILE_LABEL_BYTES
SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES


def seal(plain: bytes, about: str = "tenant 1", key_ring: KeyRing = RING) -> bytes:
    digest = hashlib.sha256(plain).digest()
    return b"".join(sealed_file.seal(key_ring, plain, digest, about))


def open_sealed(sealed: bytes, about: str = "tenant 1", key_ring: KeyRing = RING) -> bytes:
    return b"".join(sealed_file.open_parts(key_ring, io.BytesIO(sealed), about))


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1])
def test_a_sealed_file_opens(size: int) -> None:
    plain = b"s" * size
    sealed = seal(plain)
    assert open_sealed(sealed) == plain
    assert b"ssss" not in sealed and sealed_file.is_sealed(sealed)


def test_a_file_that_was_sealed_in_2026_opens() -> None:
    label = bytes.fromhex("1c31e14551bfb2a946a8c99a64adec6e1d450390")
    sealed = bytes.fromhex("3016411dc67b68fad51ae15fe349ced109")
    assert open_sealed(sealed_file.MAGIC + label + sealed) == b"a"
    assert seal(b"a") == sealed_file.MAGIC + label + sealed


def test_the_same_bytes_become_the_same_file_under_one_key_and_tenant() -> None:
    assert seal(b"a") == seal(b"a")
    others = [seal(b"b"), seal(b"a", "tenant 2"), seal(b"a", key_ring=KeyRing([OLD]))]
    salts = {sealed[HEADER_BYTES - 16 : HEADER_BYTES] for sealed in [seal(b"a"), *others]}
    assert len(salts) == 4


def test_a_sealed_file_opens_for_no_other_tenant_and_under_no_other_key() -> None:
    for about, key_ring in [("tenant 2", RING), ("tenant 1", KeyRing([OLD]))]:
        with pytest.raises(UnsealError):
            open_sealed(seal(b"a"), about, key_ring)
    assert open_sealed(seal(b"a", key_ring=KeyRing([OLD])), key_ring=KeyRing([NEW, OLD])) == b"a"


def test_no_sealed_file_with_one_bit_changed_opens() -> None:
    sealed = seal(b"secret")
    for bit in range(len(sealed_file.MAGIC) * 8, len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(UnsealError):
            open_sealed(bytes(changed))


def test_chunks_cannot_be_exchanged_or_cut_off() -> None:
    sealed = seal(b"s" * (2 * CHUNK_BYTES))
    header, chunks = sealed[:HEADER_BYTES], sealed[HEADER_BYTES:]
    first, second = chunks[:SEALED_CHUNK_BYTES], chunks[SEALED_CHUNK_BYTES:]
    for body in (second + first, first + first, first, second, b"", chunks + second):
        with pytest.raises(UnsealError):
            open_sealed(header + body)
