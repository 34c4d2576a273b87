"""E-mail addresses: which are valid, and when two are the same (spec decision 1). ETags."""

import string
import unicodedata

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.errors import PreconditionFailed
from sealdesk.resources import representation
from tests.support.for_each import for_each

WELL_FORMED = [
    "a@example.test",
    "A.b+c_d-e@Sub.Example.TEST",
    "x@xn--bcher-kva.example",
    "jos\u00e9@b\u00fccher.example",
    "jose\u0301@example.test",
    "o'brien@example.com",
    "1@1.de",
    f"{'a' * 64}@example.test",
    f"a@{'b' * 63}.test",
]
NOT_WELL_FORMED = [
    "",
    "a",
    "@",
    "a@",
    "@example.test",
    "a@@example.test",
    "a b@example.test",
    " a@example.test",
    "a@example.test\n",
    ".a@example.test",
    "a.@example.test",
    "a..b@example.test",
    "a@-example.test",
    "a@example-.test",
    "a@example..test",
    "a@.test",
    "a@example",
    "a@localhost",
    "a@example.invalid",
    "a@x.local",
    "a@127.0.0.1",
    "a@[127.0.0.1]",
    "Ada <a@example.test>",
    "a@example.test,b@example.test",
    f"a@{'b' * 64}.test",
    f"a@{'example.' * 32}test",
    "a\u0000@example.test",
    "a\u200b@ex\u200bample.test",
]


@for_each("address", WELL_FORMED)
def test_valid_addresses_are_accepted(address: str) -> None:
    assert representation.check_email(address) == []


@for_each("address", NOT_WELL_FORMED)
def test_invalid_addresses_are_refused_with_a_reason(address: str) -> None:
    (fault,) = representation.check_email(address)
    said = fault.detail
    assert said.startswith(
        ("This is not an e-mail address: ", "This must be at most 254 characters.")
    )


NEARLY = st.text(st.sampled_from(string.ascii_letters + string.digits + "_+-.@'"), max_size=80)
LABEL = st.text(st.sampled_from("ab1-"), min_size=1, max_size=66)
ADDRESS = st.builds(
    "{}@{}.{}".format,
    st.text(st.sampled_from("aB0_+-."), min_size=1, max_size=70),
    st.lists(LABEL, min_size=1, max_size=5).map(".".join),
    st.sampled_from(["test", "com", "local", "arpa", "localhost", "invalid", "onion", "x", "c0m"]),
)


@settings(max_examples=200)
@given(address=NEARLY | ADDRESS)
def test_the_fast_pattern_accepts_only_what_the_library_accepts(address: str) -> None:
    if not representation.check_email(address):
        validate_email(address, check_deliverability=False, test_environment=True)
    else:
        with pytest.raises(EmailNotValidError):
            validate_email(address, check_deliverability=False, test_environment=True)


@given(local=st.text())
def test_identity_is_nfc_and_lower_case(local: str) -> None:
    expected = unicodedata.normalize("NFC", f"{local}@b.example").lower()
    assert representation.email_identity(f"{local}@b.example") == expected
    decomposed = unicodedata.normalize("NFD", local)
    assert representation.email_identity(f"{decomposed}@B.example") == expected


def test_both_forms_of_a_domain_are_one_identity() -> None:
    forms = ("a@bücher.example", "a@BÜCHER.example", "a@bu\u0308cher.example")
    identities = {representation.email_identity(each) for each in forms}
    assert identities == {"a@xn--bcher-kva.example"}


@given(domain=st.text())
def test_what_is_no_domain_has_an_identity_too(domain: str) -> None:
    assert representation.email_identity(f"a@{domain}")


@given(address=st.text(string.ascii_letters + "@.éÉ"))
def test_addresses_are_compared_without_case(address: str) -> None:
    assert representation.email_identity(address.upper()) == representation.email_identity(
        address.lower()
    )


def test_an_etag_changes_with_each_of_its_versions() -> None:
    assert representation.etag(3) == '"3"'
    assert representation.etag(3, 1) == '"3.1"'


@for_each("if_match", [None, ("*",), ('"3.1"',), ('"2.1"', '"3.1"')])
def test_a_change_of_the_current_version_is_accepted(if_match: tuple[str, ...] | None) -> None:
    representation.check_match(if_match, '"3.1"')


@for_each("if_match", [(), ('"3"',), ('W/"3.1"',)])
def test_a_change_of_another_version_is_refused(if_match: tuple[str, ...]) -> None:
    with pytest.raises(PreconditionFailed):
        representation.check_match(if_match, '"3.1"')
