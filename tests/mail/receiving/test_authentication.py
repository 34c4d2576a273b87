"""What Authentication-Results prove, however servers write them and senders forge them."""

import pytest

from sealdesk.mail.parsing.types import Address, Fault, ParsedMessage
from sealdesk.mail.receiving.authentication import has_failed, has_passed
from tests.support.for_each import for_each

IDS = frozenset({"mx.desk.test"})
ANN = Address("ann@a.test", "Ann")


@for_each(
    ("value", "passed", "failed"),
    [
        ("mx.desk.test; spf=pass; dmarc=pass header.from=a.test", True, False),
        ("mx.desk.test 1; DMARC = Pass (p=REJECT)", True, False),
        ("mx.desk.test (our; filter); dmarc/1=pass", True, False),
        ('"mx.desk.test"; dmarc=pass', True, False),
        ("mx.desk.test; dmarc=fail (p=none dis=none)", False, True),
        ("mx.desk.test; dmarc=pass; arc=pass (i=1 spf=fail dmarc=fail)", True, False),
        ("mx.desk.test; arc=pass (i=1 (a) dmarc=pass); dmarc=none", False, False),
        ("mx.desk.test; spf=pass smtp.mailfrom=dmarc=pass@evil.test; dmarc=none", False, False),
        ('mx.desk.test; spf=pass smtp.mailfrom="a; dmarc=pass"@evil.test', False, False),
        ('mx.desk.test; spf=none reason="dmarc=pass"; dmarc=temperror', False, False),
        ("mx.desk.test; spf=none smtp.mailfrom=(@evil.test; dmarc=fail", False, True),
        ("mx.desk.test; dmarc=bestguesspass", False, False),
        ("mx.evil.test; dmarc=pass", False, False),
    ],
)
def test_only_the_result_of_dmarc_itself_counts(value: str, passed: bool, failed: bool) -> None:
    message = ParsedMessage(sender=ANN, authentication_results=(value,))
    found = has_passed(message, IDS, ANN.address), has_failed(message, IDS)
    assert found == (passed, failed)


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("dmarc=pass header.from=evil.test", ANN.address),
        ("dmarc=pass header.from=a.test; dmarc=pass header.from=evil.test", ANN.address),
        ("dmarc=pass header.from=x.a.test", ANN.address),
        ("dmarc=pass", "ann@other.test"),  # From is not the author's address
        ("dmarc=pass header.from=a.test", "ann@other.test"),
    ],
)
def test_a_domain_vouches_only_for_its_own_addresses(value: str, address: str) -> None:
    message = ParsedMessage(sender=ANN, authentication_results=(f"mx.desk.test; {value}",))
    assert not has_passed(message, IDS, address)


def test_a_result_that_names_no_domain_counts_only_if_from_is_clear() -> None:
    results = ("mx.desk.test; dmarc=pass",)
    for fault in (Fault.FROM, Fault.DUPLICATE_HEADER):
        unclear = ParsedMessage(sender=ANN, authentication_results=results, faults=(fault,))
        assert not has_passed(unclear, IDS, ANN.address)


def test_both_forms_of_a_domain_are_one() -> None:
    results = ("mx.desk.test; dmarc=pass header.from=xn--bcher-kva.test",)
    message = ParsedMessage(authentication_results=results)
    assert has_passed(message, IDS, "ann@Bücher.test")
