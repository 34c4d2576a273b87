"""Authenticated encryption of stored secrets and of tokens that clients hold."""

import hashlib
import hmac
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

KEY_BYTES = 32
_FINGERPRINT_BYTES = 4
_NONCE_BYTES = 12
_SALT_BYTES = 16
FILE_LABEL_BYTES = _FINGERPRINT_BYTES + _SALT_BYTES


class UnsealError(Exception):
    """The ciphertext was modified, or sealed by another installation or for another purpose."""


class KeyRing:
    """The master keys: the first one seals, each of them opens, so a key can be rotated."""

    def __init__(self, master_keys: Sequence[bytes]) -> None:
        self._current = _fingerprint(master_keys[0])
        self._ciphers = {_fingerprint(key): AESGCM(_derive(key, b"secrets")) for key in master_keys}
        # AES-SIV needs no nonce: one key may seal any number of cursors, and equal pages get equal
        # cursors.
        self._token_ciphers = {
            _fingerprint(key): AESSIV(_derive(key, b"token-1") + _derive(key, b"token-2"))
            for key in master_keys
        }
        self._file_keys = {_fingerprint(key): _derive(key, b"files") for key in master_keys}

    def __repr__(self) -> str:
        return f"KeyRing({len(self._ciphers)} keys)"

    def seal(self, plain: str, about: str) -> bytes:
        """Seal a secret. about: associated data, which is not stored; opening needs the same."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[self._current].encrypt(nonce, plain.encode(), about.encode())
        return self._current + nonce + sealed

    def open(self, sealed: bytes, about: str) -> str:
        """The secret. Raises UnsealError."""
        cipher = self._ciphers.get(sealed[:_FINGERPRINT_BYTES])
        if cipher is None:
            raise UnsealError("sealed with a master key that is not in the key ring")
        start = _FINGERPRINT_BYTES + _NONCE_BYTES
        try:
            plain = cipher.decrypt(sealed[_FINGERPRINT_BYTES:start], sealed[start:], about.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealError("modified, or sealed for another purpose") from error
        return plain.decode()

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of the master keys, in hex."""
        return frozenset(fingerprint.hex() for fingerprint in self._ciphers)

    def is_current(self, sealed: bytes) -> bool:
        """Whether it is sealed with the first master key."""
        return sealed.startswith(self._current)

    def new_file_label(self, digest: bytes, about: str) -> bytes:
        """What names the key of a sealed file. digest: of its bytes, which no other file has."""
        salt = hmac.digest(self._file_keys[self._current], about.encode() + digest, "sha256")
        return self._current + salt[:_SALT_BYTES]

    def file_cipher(self, label: bytes) -> AESGCM:
        """The cipher of a sealed file. Raises UnsealError."""
        key = self._file_keys.get(label[:_FINGERPRINT_BYTES])
        if key is None:
            raise UnsealError("sealed with a master key that is not in the key ring")
        return AESGCM(_derive(key, b"file " + label))

    def seal_token(self, plain: bytes, about: bytes) -> bytes:
        """Seal a token that a client holds. The same input gives the same token."""
        return self._current + self._token_ciphers[self._current].encrypt(plain, [about])

    def open_token(self, token: bytes, about: bytes) -> bytes:
        """The contents of a token. Raises UnsealError."""
        cipher = self._token_ciphers.get(token[:_FINGERPRINT_BYTES])
        if cipher is None or len(token) <= _FINGERPRINT_BYTES + 16:
            raise UnsealError("not a token of this installation")
        try:
            return cipher.decrypt(token[_FINGERPRINT_BYTES:], [about])
        except InvalidTag as error:
            raise UnsealError("modified, or sealed for another purpose") from error


def fingerprint_of(sealed: bytes) -> str:
    """The fingerprint of the master key that sealed a secret, in hex."""
    return sealed[:_FINGERPRINT_BYTES].hex()


def _fingerprint(key: bytes) -> bytes:
    return hashlib.sha256(b"sealdesk key " + key).digest()[:_FINGERPRINT_BYTES]


def _derive(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, b"sealdesk " + purpose, "sha256")
