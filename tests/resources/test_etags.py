"""ETags: made of versions, and compared with If-Match."""

import pytest

from sealdesk.errors import PreconditionFailed
from sealdesk.resources import etags


def test_an_etag_changes_with_each_of_its_versions() -> None:
    assert etags.etag(3) == '"3"'
    assert etags.etag(3, 1) == '"3.1"'


@pytest.mark.parametrize("if_match", [None, ("*",), ('"3.1"',), ('"2.1"', '"3.1"')])
def test_a_change_of_the_current_version_is_accepted(if_match: tuple[str, ...] | None) -> None:
    etags.check_match(if_match, '"3.1"')


@pytest.mark.parametrize("if_match", [(), ('"3"',), ('W/"3.1"',)])
def test_a_change_of_another_version_is_refused(if_match: tuple[str, ...]) -> None:
    with pytest.raises(PreconditionFailed):
        etags.check_match(if_match, '"3.1"')
