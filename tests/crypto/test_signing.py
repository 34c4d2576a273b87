"""The signature: its vectors, that no message fits two requests, and naming mistakes."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto import signing
from sealdesk.crypto.diagnosis import diagnose
from sealdesk.crypto.signing import Signed, Verifier, is_valid, message, sign
from tests.support.for_each import for_each
from tests.vectors import API_KEY, API_SECRET, BY_SHAPE, VALID, WRONG, Vector

GET = Signed(b"1767225600", b"GET", b"/api/v1/external/tickets", b"")
POST = Signed(b"1767225600", b"POST", b"/api/v1/external/tickets", b'{"b": 1, "a": "\xc3\x9c"}')
VERIFIER = Verifier(API_SECRET)

accepted = st.builds(
    Signed,
    timestamp=st.from_regex(signing.TIMESTAMP, fullmatch=True),
    method=st.sampled_from([b"GET", b"HEAD", b"POST", b"PATCH", b"DELETE"]),
    target=st.binary(max_size=40).map(lambda rest: b"/" + rest),
    body=st.binary(max_size=40),
)


def named(vector: Vector) -> str:
    return vector.name


def found(parts: Signed, wrong: bytes, *, key: bytes = b"", host: bytes = b"") -> str | None:
    """What is found when `wrong` was signed instead of the message of these parts."""
    signature = hmac.new(key or API_SECRET.encode(), wrong, hashlib.sha256).hexdigest().encode()
    return diagnose(parts, signature, secret=API_SECRET, api_key=API_KEY, host=host)


@for_each("vector", VALID, ids=named)
def test_message_of_a_vector(vector: Vector) -> None:
    assert message(vector.parts()).decode() == vector.message


@for_each("vector", VALID, ids=named)
def test_signature_of_a_vector(vector: Vector) -> None:
    assert sign(API_SECRET, vector.parts()) == vector.signature
    assert is_valid(API_SECRET, vector.parts(), vector.signature.encode())
    assert VERIFIER.is_valid(vector.parts(), vector.signature.encode())


@for_each("vector", WRONG, ids=named)
def test_wrong_vector_is_refused(vector: Vector) -> None:
    assert not is_valid(API_SECRET, vector.parts(), vector.signature.encode())
    assert not VERIFIER.is_valid(vector.parts(), vector.signature.encode())


@for_each("vector", [one for one in WRONG if one.name not in BY_SHAPE], ids=named)
def test_mistake_of_a_wrong_vector_is_named(vector: Vector) -> None:
    signature, host = vector.signature.encode(), vector.host.encode()
    name = diagnose(vector.parts(), signature, secret=API_SECRET, api_key=API_KEY, host=host)
    assert name == vector.name


def test_body_over_64_kib_is_not_diagnosed() -> None:
    small, large = POST._replace(body=b" " * 65536), POST._replace(body=b" " * 65537)
    assert found(small, message(small._replace(body=b""))) == "body_omitted"
    assert found(large, message(large._replace(body=b""))) is None


def test_signature_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(other)
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    is_valid(API_SECRET, GET, b"0" * 64)
    VERIFIER.is_valid(GET, b"1" * 64)
    assert compared == [b"0" * 64, b"1" * 64]


@given(accepted)
def test_message_tells_all_parts_of_the_request_apart(parts: Signed) -> None:
    """The parts can be read back from the message, so no two requests share one."""
    found = re.fullmatch(rb"(\d{10})([A-Z]+)(/.*)([0-9a-f]{64})", message(parts), re.DOTALL)
    assert found is not None
    assert found.groups() == (*parts[:3], hashlib.sha256(parts.body).hexdigest().encode())


@given(accepted, accepted)
def test_signature_of_one_request_fits_no_other(one: Signed, other: Signed) -> None:
    signature = sign(API_SECRET, one).encode()
    assert is_valid(API_SECRET, other, signature) == (one == other)


@given(accepted, accepted, st.text("0123456789abcdef", max_size=64))
def test_a_verifier_accepts_what_is_signed_and_nothing_else(
    one: Signed, other: Signed, secret: str
) -> None:
    verifier, signature = Verifier(secret), sign(secret, one).encode()
    assert verifier.is_valid(one, signature)
    assert verifier.is_valid(other, signature) == (one == other)


def test_a_verifier_takes_no_secret_that_hmac_would_hash_first() -> None:
    with pytest.raises(ValueError, match="64 characters"):
        Verifier("0" * 65)


@given(accepted, st.binary(min_size=1, max_size=8))
def test_nothing_can_be_moved_between_target_and_body(parts: Signed, moved: bytes) -> None:
    signature = sign(API_SECRET, parts._replace(target=parts.target + moved)).encode()
    assert not is_valid(API_SECRET, parts._replace(body=moved + parts.body), signature)
