"""Single keys can be turned off: who speaks to the machine would press them by words."""

from playwright.sync_api import Page

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Tenant


def test_single_keys_stay_off_for_who_turns_them_off(window: Window, tenant: Tenant) -> None:
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
    """What has the focus once a key was pressed."""
    page.keyboard.press(key)
    return str(page.evaluate("document.activeElement.textContent"))
