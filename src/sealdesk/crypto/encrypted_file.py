"""Encrypted files: AES-256-GCM in chunks, under a key that is derived from a passphrase.

The nonce of a chunk is its number and whether it is the last (the STREAM construction of Hoang and
others, 2015). So a chunk that was changed, moved, removed or added is noticed. The salt is new for
each file, and with it the key.
"""

import hashlib
import os
from typing import BinaryIO, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"sealdesk encrypted file 1\n"
MIN_PASSPHRASE_LENGTH = 12
_SALT_BYTES = 16
CHUNK_BYTES = 1024 * 1024
TAG_BYTES = 16
_SEALED_BYTES = CHUNK_BYTES + TAG_BYTES
# RFC 7914 with 32 MiB: 0.1 s for each guess.
_SCRYPT_N, _SCRYPT_R, _SCRYPT_MEMORY = 2**15, 8, 64 * 1024 * 1024


class DamagedFile(Exception):
    """The file was changed or cut; the text says how, for people."""


class Source(Protocol):
    """What is read in order. read: so many bytes, fewer only at the end."""

    def read(self, count: int, /) -> bytes: ...


class EncryptingWriter:
    """Encrypts what is written to it into a file."""

    def __init__(self, file: BinaryIO, passphrase: bytes) -> None:
        salt = os.urandom(_SALT_BYTES)
        self._file = file
        self._header = MAGIC + salt
        self._cipher = _derive_cipher(passphrase, salt)
        self._number = 0
        self._waiting = bytearray()
        file.write(self._header)

    def write(self, plain: bytes) -> int:
        self._waiting += plain
        # The last chunk is marked, so a whole one waits until there is more.
        while len(self._waiting) > CHUNK_BYTES:
            self._write_chunk(bytes(self._waiting[:CHUNK_BYTES]), is_last=False)
            del self._waiting[:CHUNK_BYTES]
        return len(plain)

    def finish(self) -> None:
        """Write the last chunk."""
        self._write_chunk(bytes(self._waiting), is_last=True)

    def _write_chunk(self, plain: bytes, *, is_last: bool) -> None:
        nonce = chunk_nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, plain, self._header))
        self._number += 1


class DecryptingReader:
    """Decrypts a file in order. Raises DamagedFile."""

    def __init__(self, file: BinaryIO, passphrase: bytes) -> None:
        self._file = file
        self._header = file.read(len(MAGIC) + _SALT_BYTES)
        self._cipher = _derive_cipher(passphrase, self._header[len(MAGIC) :])
        self._number = 0
        self._next = file.read(_SEALED_BYTES)
        self._plain = bytearray()
        self._is_over = False

    def read(self, count: int, /) -> bytes:
        while len(self._plain) < count and not self._is_over:
            self._plain += self._read_chunk()
        found = bytes(self._plain[:count])
        del self._plain[:count]
        return found

    def _read_chunk(self) -> bytes:
        sealed, self._next = self._next, self._file.read(_SEALED_BYTES)
        self._is_over = not self._next
        nonce = chunk_nonce(self._number, is_last=self._is_over)
        try:
            plain = self._cipher.decrypt(nonce, sealed, self._header)
        except (InvalidTag, ValueError) as error:
            where = f"in chunk {self._number + 1}" if self._number else "or the passphrase is wrong"
            raise DamagedFile(f"it was changed or cut, {where}") from error
        self._number += 1
        return plain


def is_encrypted(start: bytes) -> bool:
    """Whether a file that begins like this is encrypted."""
    return start.startswith(MAGIC)


def _derive_cipher(passphrase: bytes, salt: bytes) -> AESGCM:
    key = hashlib.scrypt(
        passphrase, salt=salt, n=_SCRYPT_N, r=_SCRYPT_R, p=1, maxmem=_SCRYPT_MEMORY, dklen=32
    )
    return AESGCM(key)


def chunk_nonce(number: int, *, is_last: bool) -> bytes:
    """The nonce of a chunk, for a key that seals one file."""
    return number.to_bytes(11, "big") + bytes([is_last])
