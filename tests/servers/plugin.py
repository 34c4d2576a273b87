"""The pytest plug-in that starts the servers of a run, and reports which tests it could not run."""

import atexit
import os
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tests.servers.binaries import NotHere, missing
from tests.servers.install import command_for
from tests.servers.run import NOT_RUN, is_offered, not_run, servers_of_the_run

_stack = pytest.StashKey[ExitStack]()
_NO = ("", "0", "no", "false")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its workers: they inherit the environment."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly or is_offered():
        return
    stack = config.stash[_stack] = ExitStack()
    stack.enter_context(servers_of_the_run())
    # In case pytest itself fails before pytest_unconfigure.
    atexit.register(stack.close)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """A fixture that lacks a server skips its test."""
    try:
        return (yield)
    except NotHere as absence:
        not_run(str(absence))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that lacks a server is skipped."""
    try:
        return (yield)
    except NotHere as absence:
        not_run(str(absence))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a test that was not run counts as failed."""
    if _is_ci() and _reasons(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report which tests were not run, and what would make them run."""
    reasons = _reasons(config)
    if not reasons:
        return
    reporter = terminalreporter
    reporter.section(NOT_RUN, sep="=", red=True, bold=True)
    for reason, count in reasons.most_common():
        reporter.line(f"{count:5} {'test' if count == 1 else 'tests'}: {reason}")
    lacking = missing()
    if lacking:
        reporter.line(f"They run after `make test-servers`, or: {command_for(lacking)}")
    if _is_ci():
        reporter.line("CI is set: a test that was not run is a failure", red=True)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """After the workers have ended, or Ctrl-C has ended the run."""
    if _stack in config.stash:
        config.stash[_stack].close()


def _reasons(config: pytest.Config) -> Counter[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    assert isinstance(reporter, pytest.TerminalReporter)
    found: Counter[str] = Counter()
    for report in reporter.stats.get("skipped", ()):
        # Of a skipped test: (file, line, "Skipped: REASON")
        _, _, reason = str(report.longrepr[2]).partition(f"Skipped: {NOT_RUN}: ")
        if reason:
            found[reason] += 1
    return found


def _is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in _NO
