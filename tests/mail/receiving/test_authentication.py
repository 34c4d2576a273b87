"""What Authentication-Results prove, however servers write them and senders forge them."""

import pytest

from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.receiving.authentication import has_failed, has_passed

IDS = frozenset({"mx.desk.test"})


@pytest.mark.parametrize(
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
    message = ParsedMessage(authentication_results=(value,))
    assert (has_passed(message, IDS), has_failed(message, IDS)) == (passed, failed)
