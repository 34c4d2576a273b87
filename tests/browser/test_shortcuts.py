"""Single-key shortcuts can be turned off, because speech input triggers them (WCAG 2.1.4)."""

from playwright.sync_api import Page

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Tenant


def test_single_key_shortcuts_stay_off_once_turned_off(window: Window, tenant: Tenant) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    page.goto(INBOX)
    page.keyboard.press("?")
    page.get_by_label("Enable single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    assert _focused_by(page, "j") != "Order"
    page.goto(f"{INBOX}/{ticket['id']}")
    _focused_by(page, "r")
    page.keyboard.type("Hello")
    assert page.get_by_label("Your reply").input_value() == ""
    page.goto(INBOX)
    page.locator("#keys").evaluate("dialog => dialog.showModal()")
    page.get_by_label("Enable single-key shortcuts").check()
    page.get_by_role("button", name="Close").click()
    assert _focused_by(page, "j") == "Order"


def _focused_by(page: Page, key: str) -> str:
    """The focused element after a key was pressed."""
    page.keyboard.press(key)
    return str(page.evaluate("document.activeElement.textContent"))
