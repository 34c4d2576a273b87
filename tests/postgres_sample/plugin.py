"""Notes how long each test takes that may be left out; `tests.postgres_sample` loads it."""

import inspect
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.postgres_sample import is_on_both, lets_things_happen_at_once, test_of

DIRECTORY = "STATEMENTS_DIRECTORY"  # in the environment


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if is_on_both(item) and not lets_things_happen_at_once(inspect.getsource(item.obj)):  # type: ignore[attr-defined] # a function
        with (Path(os.environ[DIRECTORY]) / f"{os.getpid()}.durations").open("a") as file:
            file.write(f"{call.duration:.3f}\t{test_of(item.nodeid)}\n")


def read_durations(directory: Path) -> Mapping[str, float]:
    """Test → seconds of all its cases."""
    took_s = defaultdict[str, float](float)
    for seconds, test in _lines(directory, "durations"):
        took_s[test] += float(seconds)
    return took_s


def read_statements(directory: Path) -> Mapping[str, set[str]]:
    """Test → the statements that it sends."""
    sent = defaultdict[str, set[str]](set)
    for statement, test in _lines(directory, "statements"):
        sent[test].add(statement)
    return sent


def _lines(directory: Path, ending: str) -> list[list[str]]:
    """Two fields of each line."""
    files = directory.glob(f"*.{ending}")
    return [line.split("\t") for file in files for line in file.read_text().splitlines()]
