"""The JSON parser of bodies agrees with the standard library, within spec decision 10."""

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.errors import BadRequest
from sealdesk.web import json_parsing
from sealdesk.web.json_parsing import MAX_DEPTH, MAX_VALUES, parse
from tests.support.for_each import for_each

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


@for_each(
    ("text", "pointer"),
    [
        (r'{"a": 1, "b": {"c/d": "x\u0000"}}', "/b/c~1d"),
        (r'{"a": [1, ["\ud800"]], "b": "\u0000"}', "/a/1/0"),
        (r'{"a": {"\u0000": 1}}', "/a"),
        (r'{"a": {"b\ud800": ["\u0000"]}}', "/a"),
        ('{"a": [0, 18446744073709551616], "b": NaN}', "/a/1"),
        ('{"a": 1, "b": -Infinity}', "/b"),
        ('{"a": 1e999}', "/a"),
    ],
)
def test_a_refusal_leads_to_the_value(text: str, pointer: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(text.encode())
    assert refused.value.members == {"pointer": pointer}
    assert f", at {pointer!r}." in str(refused.value)


def test_a_refusal_of_a_long_name_is_short() -> None:
    values = ["\0", *[0] * 9_000]
    with pytest.raises(BadRequest) as refused:
        parse(json.dumps({"n" * 900_000: values}).encode())
    assert len(str(refused.value)) < 500


def fits(value: Any, depth: int) -> bool:
    """Whether spec decision 10 allows the value, without use of the parser."""
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


@pytest.mark.parametrize(
    "text",
    ["[" + "1," * (MAX_VALUES - 2) + "1]", "[" + '{"a":1},' * (MAX_VALUES // 2 - 1) + "1]"],
)
def test_as_many_values_as_allowed_are_read(text: str) -> None:
    assert repr(parse(text.encode())) == repr(json.loads(text))
    with pytest.raises(BadRequest, match="more than 10,000 values"):
        parse(text.replace("1]", "1,1]").encode())


@for_each("content", [",", "[", '",', "\\", '\\"', "\\,", '",\\"[', '\\\\"{'], ids=repr)
def test_texts_may_hold_what_separates_values(content: str) -> None:
    value = {content * 9_999: [content * 9_999, ""]}
    assert parse(json.dumps(value).encode()) == value


@given(value=JSON)
@settings(max_examples=50)
def test_no_value_is_left_uncounted(value: Any) -> None:
    with mock.patch.object(json_parsing, "MAX_VALUES", count(value) - 1):
        assert json_parsing._has_too_many_values(json.dumps(value).encode())


def count(value: Any) -> int:
    """How many values there are in a value, and itself."""
    if isinstance(value, dict | list):
        return 1 + sum(map(count, value.values() if isinstance(value, dict) else value))
    return 1


def test_a_repeated_name_among_many_is_found_in_one_pass() -> None:
    names = [f'"{n}":0' for n in range(MAX_VALUES - 2)]
    body = ",".join([*names, '"5000":0'])
    # Quadratic work would take minutes: the time limit of tests ends it.
    with pytest.raises(BadRequest, match="'5000' stands twice"):
        parse(f"{{{body}}}".encode())
