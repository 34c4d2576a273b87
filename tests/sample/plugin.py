"""Notes what each test runs and how long it takes; `tests.sample` loads it.

A file of the directory has lines of two fields, the second is the test. The first is the hash of a
statement, or in `*.anywhere` and `*.on_postgresql` the processor time of one that may be left out.
"""

import math
import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

from tests.sample import may_be_left_out, may_be_left_out_on_postgresql, test_of

DIRECTORY = "SAMPLE_DIRECTORY"  # in the environment
ANYWHERE, ON_POSTGRESQL = "anywhere", "on_postgresql"
_SERVICE = Path(__file__).parents[2] / "src"
_CONFIG = """[run]
source = {source}
data_file = {directory}/coverage
parallel = true
"""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # with processes, the first one runs no test
        config.pluginmanager.register(_Noting(Path(os.environ[DIRECTORY])))


class _Noting:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        file = directory / f"{os.getpid()}.ini"
        file.write_text(_CONFIG.format(source=_SERVICE, directory=directory))
        self._coverage = Coverage(config_file=str(file))
        self._coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(test_of(item.nodeid))
        began_s = _processor_s()
        result = yield
        self._note_time(item, _processor_s() - began_s)
        return result

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None:  # it may have shown too little: it stays
            self._note_time(item, -math.inf)

    def _note_time(self, item: pytest.Item, seconds: float) -> None:
        line = f"{seconds:.3f}\t{test_of(item.nodeid)}\n"
        if may_be_left_out(item):
            self._note(ANYWHERE, line)
        if may_be_left_out_on_postgresql(item):
            self._note(ON_POSTGRESQL, line)

    def _note(self, ending: str, line: str) -> None:
        with (self._directory / f"{os.getpid()}.{ending}").open("a") as file:
            file.write(line)

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()


def _processor_s() -> float:
    """Of this process, and of those that it has started and that have ended."""
    return sum(os.times()[:4])


def read_times(directory: Path, ending: str) -> Mapping[str, float]:
    """Test → seconds of a processor for all its cases."""
    took_s = defaultdict[str, float](float)
    for file in directory.glob(f"*.{ending}"):
        for seconds, test in (line.split("\t") for line in file.read_text().splitlines()):
            took_s[test] += float(seconds)
    return took_s


def read_statements(directory: Path) -> Mapping[str, set[str]]:
    """Test → the statements that it sends."""
    sent = defaultdict[str, set[str]](set)
    for file in directory.glob("*.statements"):
        for statement, test in (line.split("\t") for line in file.read_text().splitlines()):
            sent[test].add(statement)
    return sent


def read_lines(directory: Path) -> Mapping[str, set[str]]:
    """Test → the lines of the service that it runs, as file:line."""
    ran = defaultdict[str, set[str]](set)
    for file in directory.glob("coverage.*"):
        data = CoverageData(basename=str(file))
        data.read()
        for source in data.measured_files():
            for line, tests in data.contexts_by_lineno(source).items():
                _add(ran, f"{source}:{line}", tests)
    return ran


def _add(ran: defaultdict[str, set[str]], line: str, contexts: Iterable[str]) -> None:
    for test in {test_of(context).partition(" ")[0] for context in contexts} - {""}:
        ran[test].add(line)
