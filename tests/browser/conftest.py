"""A browser for the tests of a module, and windows as they are asked for."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Window, browsing
from tests.support.databases import on_sqlite
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import PASSWORD, Service, Tenant


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of a module only: while Playwright runs, nothing else in its thread can run a loop."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="session")
def desk(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that may send to loopback. What it stores is tested without a browser."""
    with on_sqlite(template)(tmp_path_factory.mktemp("desk"), **LOOPBACK) as service:
        yield service


@pytest.fixture
def tenant(desk: Service) -> Tenant:
    return desk.tenant()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Where webhooks go."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def opened(browser: Browser, desk: Service) -> Iterator[Callable[..., Window]]:
    """Opens windows: opened(java_script_enabled=False). None of them may complain."""
    windows: list[Window] = []

    def open_one(**how: object) -> Window:
        windows.append(Window(browser, desk.url, **how))
        return windows[-1]

    yield open_one
    for window in windows:
        window.context.close()
    assert [complaint for window in windows for complaint in window.complaints] == []


@pytest.fixture
def window(opened: Callable[..., Window], tenant: Tenant) -> Window:
    """A window in which the tenant's administrator is logged in."""
    window = opened()
    window.log_in(tenant.admin_email, PASSWORD)
    return window
