"""Bytes that are sealed under the master key: AES-256-GCM in chunks, as in encrypted files.

The salt comes from the bytes and the master key, and with it the key of the file. So the same bytes
become the same file, and whoever has the file alone cannot try which bytes are in it.
"""

from collections.abc import Iterator
from typing import BinaryIO

from cryptography.exceptions import InvalidTag

from sealdesk.crypto.encrypted_file import CHUNK_BYTES, TAG_BYTES, chunk_nonce
from sealdesk.crypto.sealing import FILE_LABEL_BYTES, KeyRing, UnsealError

MAGIC = b"sealdesk sealed file 1\n"


def seal(key_ring: KeyRing, plain: bytes, digest: bytes, about: str) -> Iterator[bytes]:
    """The parts of the sealed file. digest: SHA-256 of the bytes. about: as in KeyRing.seal."""
    label = key_ring.new_file_label(digest, about)
    header = MAGIC + label
    cipher, associated = key_ring.file_cipher(label), _associated(header, about)
    yield header
    # Without bytes there is one empty chunk.
    starts = range(0, max(1, len(plain)), CHUNK_BYTES)
    for number, start in enumerate(starts):
        nonce = chunk_nonce(number, is_last=start + CHUNK_BYTES >= len(plain))
        chunk = plain[start : start + CHUNK_BYTES]
        yield cipher.encrypt(nonce, chunk, associated)


def open_parts(key_ring: KeyRing, file: BinaryIO, about: str) -> Iterator[bytes]:
    """The parts of the bytes of a sealed file. Raises UnsealError."""
    header = file.read(len(MAGIC) + FILE_LABEL_BYTES)
    cipher = key_ring.file_cipher(header[len(MAGIC) :])
    associated = _associated(header, about)
    sealed, number = file.read(CHUNK_BYTES + TAG_BYTES), 0
    while True:
        after = file.read(CHUNK_BYTES + TAG_BYTES)
        nonce = chunk_nonce(number, is_last=not after)
        try:
            plain = cipher.decrypt(nonce, sealed, associated)
        except (InvalidTag, ValueError) as error:
            raise UnsealError("modified, or sealed for another purpose") from error
        yield plain
        if not after:
            return
        sealed, number = after, number + 1


def is_sealed(start: bytes) -> bool:
    """Whether a file that begins like this is sealed."""
    return start.startswith(MAGIC)


def _associated(header: bytes, about: str) -> bytes:
    return header + about.encode()
