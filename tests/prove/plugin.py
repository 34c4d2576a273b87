"""Leaves out the tests that this code has passed; `python -m tests.prove` loads it."""

import os
import zlib

import pytest

from tests.prove.passed import Passed

EVERY = "PROVE_EVERY"  # of so many tests one is run
_took_s: dict[str, float] = {}
_refused: set[str] = set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    passed, every = Passed().tests(), int(os.environ.get(EVERY, "1"))
    left_out = [
        item for item in items if item.nodeid in passed or zlib.crc32(item.nodeid.encode()) % every
    ]
    config.hook.pytest_deselected(items=left_out)
    without = {*map(id, left_out)}
    items[:] = [item for item in items if id(item) not in without]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:  # the process that started it hears of all
        return
    test = report.nodeid
    _took_s[test] = _took_s.get(test, 0.0) + report.duration
    if report.failed:
        _refused.add(test)
    if report.when == "teardown" and test not in _refused:
        Passed().add(test, _took_s[test])
