"""Which tests run on PostgreSQL in `make test`: together they send it every statement.

A test that runs on both databases says little new on PostgreSQL when others send all that it sends,
unless it lets things happen at once. `left_out.txt` lists such tests; `make prove` runs them too. A
new test is not listed. `python -m tests.postgres_sample` runs all and writes the list anew.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ALL = "ALL_ON_POSTGRESQL"  # in the environment: leave out none
_LIST = Path(__file__).with_name("left_out.txt")
_AT_ONCE = re.compile(r"start_nodes|ThreadPoolExecutor|at_once|together\(|gather\(|Barrier")


def read_left_out() -> set[str]:
    """The tests that `make test` leaves out on PostgreSQL."""
    lines = (line.partition(": ") for line in _LIST.read_text().splitlines())
    left_out = {f"{file}::{test}" for file, _, tests in lines for test in tests.split()}
    return set() if ALL in os.environ else left_out


def write_left_out(tests: Iterable[str]) -> None:
    by_file = dict[str, list[str]]()
    for file, _, test in (each.partition("::") for each in sorted(tests)):
        by_file.setdefault(file, []).append(test)
    _LIST.write_text("".join(f"{file}: {' '.join(each)}\n" for file, each in by_file.items()))


def test_of(case: str) -> str:
    """tests/file.py::test, of one of its cases."""
    return case.partition("[")[0]


def is_on_both(item: pytest.Item) -> bool:
    """Whether this is a case on PostgreSQL of a test that runs on SQLite too."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    kinds = [mark.args[1] for mark in item.iter_markers("parametrize") if mark.args[0] == "kind"]
    return item.callspec.params.get("kind") == "postgresql" and ["postgresql"] not in kinds


def lets_things_happen_at_once(source: str) -> bool:
    """Whether a test does, by its source."""
    return _AT_ONCE.search(source) is not None
