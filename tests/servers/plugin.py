"""pytest's side of the servers: they are there before the tests, and what was not run is told."""

import atexit
import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tests.servers.binaries import NotHere, missing
from tests.servers.install import command_for, install
from tests.servers.run import NOT_RUN, is_offered, not_run, servers_of_the_run

_stack = pytest.StashKey[ExitStack]()
_refusal = pytest.StashKey[str]()
_TELL_S = 5.0  # between lines where none can be rewritten
_WIDTH = 79
_NO = ("", "0", "no", "false")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its workers: they inherit the environment."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly or is_offered():
        return
    lacking = missing()
    if lacking:
        config.stash[_refusal] = _install(config, list(lacking)) or ""
    stack = config.stash[_stack] = ExitStack()
    stack.enter_context(servers_of_the_run())
    # Should pytest itself fail before it comes to the end below.
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
    """In CI what was not run counts as failed."""
    if _is_ci() and _reasons(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was not run, and what would make it run."""
    reasons = _reasons(config)
    if not reasons:
        return
    reporter = terminalreporter
    reporter.section(NOT_RUN, sep="=", red=True, bold=True)
    for reason, count in reasons.most_common():
        reporter.line(f"{count:5} {'test' if count == 1 else 'tests'}: {reason}")
    lacking = missing()
    if lacking:
        reporter.line(f"They run after: {command_for(lacking)}")
        refusal = config.stash.get(_refusal, "")
        if refusal:
            reporter.line(f"This run did not do that itself: {refusal}")
    if _is_ci():
        reporter.line("CI is set: what was not run is a failure", red=True)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """After the workers have ended, or Ctrl-C has ended the run."""
    if _stack in config.stash:
        config.stash[_stack].close()


def _install(config: pytest.Config, servers: list[str]) -> str | None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    assert isinstance(reporter, pytest.TerminalReporter)
    last = -_TELL_S

    def tell(step: str) -> None:
        nonlocal last
        if reporter.isatty:
            reporter.rewrite(f"servers: {step}"[:_WIDTH], erase=True)
        elif time.monotonic() >= last + _TELL_S:
            last = time.monotonic()
            reporter.line(f"servers: {step}")

    reporter.line(f"servers: this machine lacks {', '.join(servers)}")
    refusal = install(servers, tell)
    reporter.ensure_newline()
    reporter.line(f"servers: not installed: {refusal}" if refusal else "servers: installed them")
    return refusal


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
