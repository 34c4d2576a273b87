"""The JSON parser of bodies agrees with the standard library, within the limits of decisions 10."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.errors import BadRequest
from sealdesk.web.body import MAX_DEPTH, parse

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)
LOOKS_LIKE_JSON = st.text(st.sampled_from('{}[]",:0123456789.eE+-truefalsn \\u\0\ud83d')).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


@settings(max_examples=50)
@given(content=st.binary() | LOOKS_LIKE_JSON | JSON.map(lambda value: json.dumps(value).encode()))
def test_values_equal_those_of_the_standard_parser(content: bytes) -> None:
    try:
        value = parse(content)
    except BadRequest:
        return
    assert repr(value) == repr(json.loads(content.decode()))


@settings(max_examples=50)
@given(value=JSON)
def test_values_within_the_limits_are_accepted_and_others_refused(value: Any) -> None:
    content = json.dumps(value).encode()
    if fits(value, MAX_DEPTH):
        assert repr(parse(content)) == repr(value)
    else:
        with pytest.raises(BadRequest):
            parse(content)


def fits(value: Any, depth: int) -> bool:
    """Whether decisions 10 allow the value, without use of the parser."""
    if isinstance(value, str):
        return "\0" not in value and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in value)
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if value is None:
        return True
    names = list(value) if isinstance(value, dict) else []
    below = list(value.values()) if isinstance(value, dict) else value
    return depth > 0 and all(fits(item, depth - 1) for item in [*names, *below])


def test_a_repeated_name_among_many_is_found_in_one_pass() -> None:
    names = [f'"{n}":0' for n in range(60_000)]
    body = ",".join([*names, '"59999":0'])
    # Quadratic work would take minutes: the time limit of tests ends it.
    with pytest.raises(BadRequest, match="'59999' stands twice"):
        parse(f"{{{body}}}".encode())
