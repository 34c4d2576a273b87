"""Leaves out the tests that this code has passed; `python -m tests.prove` loads it."""

import os
import zlib

import pytest

from tests.prove.passed import Passed

EVERY = "PROVE_EVERY"  # of so many tests one is run


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Proving(Passed()))


class _Proving:
    def __init__(self, passed: Passed) -> None:
        self._passed = passed
        self._took_s: dict[str, float] = {}
        self._not_passed: set[str] = set()

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        passed, every = self._passed.tests(), int(os.environ.get(EVERY, "1"))
        kept, left_out = list[pytest.Item](), list[pytest.Item]()
        for item in items:
            is_chosen = zlib.crc32(item.nodeid.encode()) % every == 0
            (kept if is_chosen and item.nodeid not in passed else left_out).append(item)
        config.hook.pytest_deselected(items=left_out)
        items[:] = _longest_first(kept)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "PYTEST_XDIST_WORKER" in os.environ:  # the process that started it hears of all
            return
        test = report.nodeid
        self._took_s[test] = self._took_s.get(test, 0.0) + report.duration
        if not report.passed:  # a test that was skipped has shown nothing
            self._not_passed.add(test)
        if report.when == "teardown" and test not in self._not_passed:
            self._passed.add(test, self._took_s[test])


def _longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """Those that may take longest first in each part that a process gets, so that none is last."""
    ordered = sorted(items, key=_timeout_s, reverse=True)
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return [item for first in range(processes) for item in ordered[first::processes]]


def _timeout_s(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else 0.0
