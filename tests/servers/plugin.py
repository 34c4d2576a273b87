"""pytest's side of the servers: they are there before the tests, and what was not run is told."""

from contextlib import ExitStack

import pytest

from tests.servers.run import servers_of_the_run

_stack = pytest.StashKey[ExitStack]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its workers: they inherit the environment."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    stack = config.stash[_stack] = ExitStack()
    stack.enter_context(servers_of_the_run())


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """After the workers have ended, or Ctrl-C has ended the run."""
    if _stack in config.stash:
        config.stash[_stack].close()
