"""Forms are decoded as browsers encode them."""

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.errors import BadRequest
from sealdesk.web.form import MAX_TEXT, parse_form

TEXT = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]))
LOOKS_LIKE_A_FORM = st.text(st.sampled_from("&=%+aF0\\xu{}N\n;")).map(str.encode)


@settings(max_examples=50)
@given(fields=st.lists(st.tuples(TEXT, TEXT)))
def test_fields_are_as_they_were_encoded(fields: list[tuple[str, str]]) -> None:
    assert parse_form(urlencode(fields).encode()).fields == fields


@settings(max_examples=50)
@given(encoded=LOOKS_LIKE_A_FORM | st.binary())
def test_other_texts_are_decoded_as_the_standard_library_does(encoded: bytes) -> None:
    try:
        expected = parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="strict")
        assert not any("\0" in part for field in expected for part in field)
    except (ValueError, AssertionError):
        with pytest.raises(BadRequest):
            parse_form(encoded)
    else:
        fields = [(name, value.replace("\r\n", "\n")) for name, value in expected]
        assert parse_form(encoded).fields == fields


@pytest.mark.parametrize("encoded", [b"a&" * 300, b"%" * 1002, b"a=%FF", b"a=\xe9", b"a=%00"])
def test_other_forms_are_refused(encoded: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_form(encoded)


def test_of_a_value_that_no_field_takes_the_rest_is_left_out() -> None:
    form = parse_form(b"body=" + b"a" * 300_000 + b"&subject=s")
    assert form.text("body") == "a" * MAX_TEXT and form.text("subject") == "s"
    assert len(form.whole_text("body")) == 300_000
