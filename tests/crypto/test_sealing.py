"""Sealing and opening of secrets: keys, contexts, and forged input."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto.sealing import KeyRing, UnsealError
from tests.support.for_each import for_each

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
RING = KeyRing([NEW])


@given(st.text(), st.text())
def test_sealed_secret_opens_in_its_context(plain: str, about: str) -> None:
    assert RING.open(RING.seal(plain, about), about) == plain


def test_sealed_secret_opens_in_no_other_context() -> None:
    sealed = RING.seal("secret", "tenant 1 key 1 version 1")
    with pytest.raises(UnsealError):
        RING.open(sealed, "tenant 1 key 1 version 2")


def test_what_was_sealed_in_2026_opens() -> None:
    secret = "1c31e1459d4eb4febd86f8b2b8edc703071fbc6e356a1983912fecd3f62de249f37e2fbb8cb7"
    assert RING.open(bytes.fromhex(secret), "a") == "secret"
    token = "1c31e14555b340d6af02c18856a34310eb0c8c70e3613ebddb35"
    assert RING.open_token(bytes.fromhex(token), b"list") == b"page 2"


def test_sealing_a_secret_twice_gives_different_ciphertexts() -> None:
    assert RING.seal("secret", "a") != RING.seal("secret", "a")


def test_a_sealed_secret_does_not_show_it() -> None:
    assert b"secret" not in RING.seal("secret", "a")


def test_no_sealed_secret_with_one_bit_changed_opens() -> None:
    sealed = RING.seal("secret", "a")
    for bit in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(UnsealError):
            RING.open(bytes(changed), "a")


@for_each("length", [0, 3, 4, 15, 16, 31])
def test_truncated_sealed_secret_does_not_open(length: int) -> None:
    with pytest.raises(UnsealError):
        RING.open(RING.seal("secret", "a")[:length], "a")


def test_a_ring_opens_what_an_older_key_sealed_and_seals_with_the_first() -> None:
    sealed, key_ring = KeyRing([OLD]).seal("secret", "a"), KeyRing([NEW, OLD])
    assert key_ring.open(sealed, "a") == "secret"
    assert not key_ring.is_current(sealed)
    assert RING.open(key_ring.seal("secret", "a"), "a") == "secret"


def test_removed_key_opens_nothing() -> None:
    with pytest.raises(UnsealError):
        RING.open(KeyRing([OLD]).seal("secret", "a"), "a")


def test_a_token_is_the_same_each_time() -> None:
    assert RING.seal_token(b"page 2", b"list") == RING.seal_token(b"page 2", b"list")


@given(st.binary(max_size=80))
def test_forged_token_does_not_open(token: bytes) -> None:
    with pytest.raises(UnsealError):
        RING.open_token(token, b"list")


@given(st.binary(max_size=80))
def test_forged_token_with_the_right_fingerprint_does_not_open(rest: bytes) -> None:
    with pytest.raises(UnsealError):
        RING.open_token(RING.seal_token(b"page 2", b"list")[:4] + rest, b"list")


def test_a_token_opens_for_its_own_list_only() -> None:
    token = RING.seal_token(b"page 2", b"list")
    assert RING.open_token(token, b"list") == b"page 2"
    with pytest.raises(UnsealError):
        RING.open_token(token, b"other list")


def test_a_ring_does_not_show_its_keys() -> None:
    key = os.urandom(32)
    assert key.hex() not in repr(KeyRing([key])) and repr(key) not in repr(KeyRing([key]))
