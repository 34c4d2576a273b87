"""Fixtures: a browser, and windows of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, Window, browsing
from tests.support.databases import on_sqlite
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import PASSWORD, Service, Tenant

# They change theme and width by themselves.
_LOOK_THEMSELVES = {"test_every_page", "test_once_more", "test_other_sites"}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Of this package only: while Playwright runs, no other event loop can run in its thread."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="package")
def spare_windows(browser: Browser) -> dict[tuple[object, ...], list[Window]]:
    """Windows to reuse, by their options: opening one takes half a second."""
    return {}


@pytest.fixture(scope="session")
def desk(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that may send webhooks and e-mail to loopback."""
    settings = LOOPBACK | {"SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8"}
    with on_sqlite(template)(tmp_path_factory.mktemp("desk"), **settings) as service:
        yield service


@pytest.fixture
def tenant(desk: Service) -> Tenant:
    return desk.tenant()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of webhooks."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def look(request: pytest.FixtureRequest) -> str:
    """The theme and width of the windows."""
    return str(getattr(request, "param", "light and wide"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A flow runs in one look in `make test`: where layout is tested, in the narrow one."""
    is_flow = metafunc.module.__name__.rpartition(".")[2] not in _LOOK_THEMSELVES
    if is_flow and "look" in metafunc.fixturenames:
        is_layout = metafunc.definition.get_closest_marker("layout") is not None
        usual = "dark and narrow" if is_layout else "light and wide"
        is_by_mouse = metafunc.definition.get_closest_marker("mouse") is not None
        looks = () if is_by_mouse else LOOKS
        others = [pytest.param(look, marks=pytest.mark.prove) for look in looks if look != usual]
        metafunc.parametrize("look", [usual, *others], indirect=True)


@pytest.fixture
def opened(
    browser: Browser,
    desk: Service,
    spare_windows: dict[tuple[object, ...], list[Window]],
    look: str,
) -> Iterator[Callable[..., Window]]:
    """Opens windows: opened(java_script_enabled=False). Fails when one has reported an error."""
    taken: list[tuple[tuple[object, ...], Window]] = []

    def open_one(**how: Any) -> Window:
        free = spare_windows.setdefault(kind := (look, *sorted(how.items())), [])
        window = free.pop() if free else Window(browser, desk.url, **LOOKS[look], **how)
        window.complaints.clear()  # the page that it still shows polls
        taken.append((kind, window))
        return window

    yield open_one
    for _, window in taken:
        window.look()
    complaints = [complaint for _, window in taken for complaint in window.complaints]
    for kind, window in taken:
        window.renew()
        spare_windows[kind].append(window)
    assert complaints == [], "\n".join(complaints)


@pytest.fixture
def window(opened: Callable[..., Window], tenant: Tenant) -> Window:
    """A window in which the tenant's administrator is logged in."""
    window = opened()
    window.enter(tenant.admin_email, PASSWORD)
    return window


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests run next to each other, so that Chromium starts once."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/browser/"))
