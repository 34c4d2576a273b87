"""Pairs of cases, such as routes and forgeries: a few in `make test`, all in `make prove`."""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, product
from typing import Any

import pytest

Combine = Callable[[Sequence[Any], Sequence[Any]], Iterator[tuple[Any, Any]]]


def in_turn(one: Sequence[Any], other: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Each of both once at least: the shorter one begins anew until the longer one ends."""
    if len(one) < len(other):
        return zip(cycle(one), other, strict=False)
    return zip(one, cycle(other), strict=False)


in_turn_or_all = pytest.mark.parametrize(
    "combine", [in_turn, pytest.param(product, marks=pytest.mark.prove)], ids=["in turn", "all"]
)
