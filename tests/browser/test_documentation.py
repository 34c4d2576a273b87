"""The documentation in a browser: nothing leaves it, it is accessible, and is searched by keys."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from sealdesk.web.documentation import read_archive
from tests.browser.chromium import Window
from tests.browser.page_checks import Looker

_PATHS = [path for path, file in read_archive().items() if "html" in file.content_type]
# One of each kind of page: pictures, code, tables, generated ones.
_SOME = ("/docs", "/docs/start", "/docs/api/signing", "/docs/reference/replies", "/docs/dashboard")


@pytest.fixture
def page(opened: Callable[..., Window]) -> Page:
    return opened().page


@pytest.mark.prove
def test_pages_are_accessible_quiet_and_ask_nobody_else(opened: Callable[..., Window]) -> None:
    looker = Looker(opened())
    found = [fault for path in _SOME for fault in looker.go(path)]
    assert not found, "\n".join(found)


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_every_page_is(opened: Callable[..., Window]) -> None:
    looker = Looker(opened(), "all")
    found = [fault for path in _PATHS for fault in looker.go(path)]
    assert not found, "\n".join(found)


@pytest.mark.prove
def test_the_search_is_used_by_keys_alone(page: Page) -> None:
    page.goto("/docs")
    page.keyboard.press("/")
    page.keyboard.type("retry webhook")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    field = page.get_by_role("combobox")
    field.fill("idempotency_key_reused")
    expect(page.get_by_role("option").first).to_contain_text("idempotency_key_reused")
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/errors#idempotency_key_reused")
    expect(page.locator("#idempotency_key_reused")).to_be_in_viewport()


def test_what_is_not_found_is_said(page: Page) -> None:
    page.goto("/docs/start")
    page.get_by_role("combobox").fill("xyzzy")
    expect(page.locator(".search").get_by_role("status")).to_have_text("Nothing found")
