"""The long tests that this code has passed already, and how long each took.

A run reads `passed.txt` once, so that all its processes leave out the same tests, and appends to
`journal.txt`, which the next run adds.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.support.code import hash_of

HOME = Path(__file__).parents[2] / "prove"


class _Line(NamedTuple):
    """A test that was passed. code: a hash. took_s: seconds."""

    code: str
    took_s: float
    test: str


class Passed:
    """The tests that were passed, in files below a directory."""

    def __init__(self, home: Path = HOME) -> None:
        self._passed, self._journal = home / "passed.txt", home / "journal.txt"
        self._code = hash_of(".")

    def begin(self) -> None:
        """Add what the last run has passed. The newest line of each test stays."""
        self._passed.parent.mkdir(exist_ok=True)
        newest = {line.test: line for line in (*_read(self._passed), *_read(self._journal))}
        _write(self._passed, newest.values())
        self._journal.unlink(missing_ok=True)

    def forget(self) -> None:
        """All tests are run again; how long they take stays known."""
        _write(self._passed, [line._replace(code="") for line in _read(self._passed)])

    def tests(self) -> set[str]:
        """The ids of the tests that this code has passed."""
        return {line.test for line in _read(self._passed) if line.code == self._code}

    def seconds_of_others(self) -> Mapping[str, float]:
        """Test → how long it took last time, of those that this code has not passed."""
        lines = _read(self._passed)
        return {line.test: line.took_s for line in lines if line.code != self._code}

    def add(self, test: str, took_s: float) -> None:
        """Note that a test is passed, at once."""
        with self._journal.open("a") as file:
            file.write(f"{self._code} {took_s:.2f} {test}\n")


def _read(path: Path) -> list[_Line]:
    if not path.exists():
        return []
    parts = (line.split(" ", 2) for line in path.read_text().splitlines())
    return [_Line(code, float(took_s), test) for code, took_s, test in parts]


def _write(path: Path, lines: Iterable[_Line]) -> None:
    path.write_text("".join(f"{line.code} {line.took_s:.2f} {line.test}\n" for line in lines))
