"""Faults of bodies: our validator agrees with msgspec about every value."""

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.routes import ROUTES
from sealdesk.web.faults import fields_of, find_faults
from tests.support.examples import examples


class _Example(msgspec.Struct):
    description: str | None = None
    size: dict[str, str] = {}


_TAKEN = sorted(
    {row.operation.takes for row in ROUTES if row.operation.takes}, key=lambda each: each.__name__
)
_WORDS_OF_JSON = {"str": "string", "bool": "boolean", "int": "integer", "float": "number"}
_WRONG_TYPE = re.compile(r"Expected `[a-z |]+`, got `(?!null)")
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300)
    | st.sampled_from(["open", "high", "agent", "a@example.test", "tickets:read"]),
    # Long lists repeat a value: to draw sixty takes a hundred times as long as to check them.
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.builds(lambda one, count: [one] * count, inner, st.integers(0, 60))
        | st.dictionaries(st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("struct", _TAKEN, ids=lambda each: each.__name__)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_faults_are_found_exactly_where_msgspec_finds_one(
    struct: type[msgspec.Struct], data: st.DataObject
) -> None:
    names = [field.name for field in fields_of(struct)]
    document = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(names, _JSON)))
    faults = list(find_faults(document, struct))
    try:
        msgspec.convert(document, struct)
    except msgspec.ValidationError as error:
        assert faults
        if _WRONG_TYPE.match(str(error)):
            assert _as_sentence(error) in {fault.detail for fault in faults}
    else:
        assert all(fault.code not in ("required", "invalid_type") for fault in faults)


def _as_sentence(error: msgspec.ValidationError) -> str:
    sentence = str(error).partition(" - at")[0].replace("`", "").replace(" | ", " or ") + "."
    for name, word in _WORDS_OF_JSON.items():
        sentence = re.sub(rf"\b{name}\b", word, sentence)
    return sentence


def test_a_wrong_type_is_named_in_the_words_of_json() -> None:
    (fault,) = find_faults({"description": 1}, _Example)
    assert fault.detail == "Expected string or null, got integer."
    (fault,) = find_faults({"size": "1"}, _Example)
    assert fault.detail == "Expected object, got string."
