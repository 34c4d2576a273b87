"""Single-key shortcuts can be turned off, because speech input triggers them (WCAG 2.1.4)."""

from playwright.sync_api import Page, expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Tenant


def test_single_key_shortcuts_stay_off_once_turned_off(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    ticket, _ = key.ticket(subject="Order"), key.ticket(subject="First")
    page.goto(INBOX)
    page.keyboard.press("?")
    page.get_by_label("Enable single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert _focused_by(page, "j") != "Order"
    page.goto(f"{INBOX}/{ticket['id']}")
    _focused_by(page, "r")
    page.keyboard.type("Hello")
    expect(page.get_by_label("Your reply")).to_have_value("")
    page.goto(INBOX)
    page.locator("#keys").evaluate("dialog => dialog.showModal()")
    page.get_by_label("Enable single-key shortcuts").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert _focused_by(page, "j") == "Order"


def test_help_and_search_are_keys_of_every_page(window: Window, tenant: Tenant) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    pages = (INBOX, f"{INBOX}/{ticket['id']}", "/customers", "/settings/people", "/account")
    for path in pages:
        page.goto(path)
        page.keyboard.press("?")
        listed = page.get_by_role("dialog", name="Shortcuts").get_by_role("term")
        expect(listed.get_by_text("/", exact=True)).to_be_visible()
        page.wait_for_function("document.activeElement.textContent === 'Close'")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("or?")
        expect(page.get_by_role("searchbox", name="Search tickets")).to_have_value("or?")


def test_the_help_lists_the_controls_of_the_page(window: Window, tenant: Tenant) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    page.goto(f"{INBOX}/{ticket['id']}")
    page.keyboard.press("?")
    listed = page.locator("#keys dl").inner_text().split("\n")
    assert listed[listed.index("r") + 1] == "Write a reply"
    assert listed[listed.index("u") + 1] == "Back to the list"
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_url(f"**{INBOX}")
    page.keyboard.press("?")
    expect(page.locator("#keys dd", has_text="Shift and a click")).to_be_visible()


def _focused_by(page: Page, key: str) -> str:
    """The focused element after a key was pressed."""
    page.keyboard.press(key)
    return str(page.evaluate("document.activeElement.textContent"))
