"""Which tests `make test` runs: those that together run every line and send every statement.

A test of a room says little new when others run all lines that it runs, unless it starts processes
(whose lines are not noted), lets things happen at once, or finds a mutant of the catalogue. Such
tests that take long are in `left_out.txt`.
On PostgreSQL, those in `left_out_on_postgresql.txt` send nothing that others do not send. `make
prove` runs all. A new test is not listed. `python -m tests.sample` runs all and writes the lists
anew.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.catalogue import MUTANTS

ALL = "ALL_TESTS"  # in the environment: leave out none

_LISTS = Path(__file__).parent
_TESTS = _LISTS.parent
_EVERYWHERE = _LISTS / "left_out.txt"
_ON_POSTGRESQL = _LISTS / "left_out_on_postgresql.txt"
_AT_ONCE = re.compile(r"start_nodes|ThreadPoolExecutor|at_once|together\(|gather\(|Barrier")
_STARTS_PROCESSES = re.compile(r"subprocess|multiprocessing|tests\.cli")
_SOURCES = _TESTS.parent / "src"


def is_left_out(item: pytest.Item) -> bool:
    """Whether `make test` leaves out this case."""
    if ALL in os.environ:
        return False
    test = test_of(item.nodeid)
    return test in _read(_EVERYWHERE) or (is_on_both(item) and test in _read(_ON_POSTGRESQL))


def read_all() -> set[str]:
    """All tests that are listed."""
    return _read(_EVERYWHERE) | _read(_ON_POSTGRESQL)


@cache
def _read(file: Path) -> set[str]:
    lines = (line.partition(": ") for line in file.read_text().splitlines())
    return {f"{name}::{test}" for name, _, tests in lines for test in tests.split()}


def write(everywhere: Iterable[str], on_postgresql: Iterable[str]) -> None:
    """Write both lists anew."""
    _write(_EVERYWHERE, everywhere)
    _write(_ON_POSTGRESQL, on_postgresql)


def _write(file: Path, tests: Iterable[str]) -> None:
    by_file = dict[str, list[str]]()
    for name, _, test in (each.partition("::") for each in sorted(tests)):
        by_file.setdefault(name, []).append(test)
    file.write_text("".join(f"{name}: {' '.join(each)}\n" for name, each in by_file.items()))


def test_of(case: str) -> str:
    """tests/file.py::test, of one of its cases."""
    return case.partition("[")[0]


def is_on_both(item: pytest.Item) -> bool:
    """Whether this is a case on PostgreSQL of a test that runs on SQLite too."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    kinds = [mark.args[1] for mark in item.iter_markers("parametrize") if mark.args[0] == "kind"]
    return item.callspec.params.get("kind") == "postgresql" and ["postgresql"] not in kinds


def may_be_left_out(item: pytest.Item) -> bool:
    """Whether others can say what this test says, if they run its lines and send its statements."""
    if not isinstance(item, pytest.Function) or not _is_of_a_room(item.path):
        return False
    finds_a_mutant = test_of(item.nodeid) in _finding_mutants()
    return not (finds_a_mutant or _lets_things_happen_at_once(item.obj))


@cache
def _is_of_a_room(file: Path) -> bool:
    """Whether its tests ask the service itself, not a browser, a package or a command."""
    room = file.relative_to(_TESTS).parts[0]
    is_room = (_SOURCES / room).is_dir() or (_SOURCES / "sealdesk" / room).is_dir()
    return is_room and not _STARTS_PROCESSES.search(file.read_text())


def may_be_left_out_on_postgresql(item: pytest.Item) -> bool:
    """Whether others can say of PostgreSQL what this case says, if they send its statements."""
    return is_on_both(item) and not _lets_things_happen_at_once(item.obj)  # type: ignore[attr-defined] # a function


@cache
def _finding_mutants() -> set[str]:
    return {test_of(test) for mutant in MUTANTS for test in mutant.tests}


@cache
def _lets_things_happen_at_once(test: Callable[..., object]) -> bool:
    return lets_things_happen_at_once(inspect.getsource(test))


def lets_things_happen_at_once(source: str) -> bool:
    """Whether a test does, by its source."""
    return _AT_ONCE.search(source) is not None
