"""Merge patches: which fields were sent, and what counts as a difference."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from sealdesk.resources import merge_patch
from tests.support.for_each import for_each


class Change(msgspec.Struct, frozen=True):
    name: str | UnsetType | None = UNSET
    data: dict[str, Any] | UnsetType | None = UNSET


def test_given_fields_are_those_that_were_sent() -> None:
    assert merge_patch.given_fields(Change(name=None)) == {"name": None}


# RFC 7396, appendix A: the examples whose target and patch are objects.
@for_each(
    ("before", "patch", "after"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": 1}, None, {}),
    ],
)
def test_objects_are_merged_as_the_rfc_says(
    before: dict[str, Any], patch: dict[str, Any] | None, after: dict[str, Any]
) -> None:
    assert merge_patch.merge(before, patch) == after


@pytest.mark.parametrize("other", [{"n": 1.0}, {"n": True}])
def test_values_that_python_takes_for_equal_differ_as_json(other: dict[str, Any]) -> None:
    before, after = Change(name="a", data={"n": 1}), Change(name="a", data=other)
    assert merge_patch.differences(before, after, ("name", "data")) == {"data": ({"n": 1}, other)}


def test_the_order_of_members_is_no_difference() -> None:
    assert merge_patch.is_same({"a": 1, "b": 2}, {"b": 2, "a": 1})
