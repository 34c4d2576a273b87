"""The inbox in a real browser: by keyboard, without a reload, and without scripts."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Tenant

INBOX = "/tickets"
_LOOK_AGAIN = "document.dispatchEvent(new Event('visibilitychange'))"


def test_tickets_are_walked_chosen_and_opened_by_keyboard(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    tickets = [key.ticket(subject=f"Order {n}") for n in range(3)]
    page.goto(INBOX)
    page.keyboard.press("k")
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == "Order 2"
    for press, subject in (("j", "Order 1"), ("j", "Order 0"), ("j", "Order 0"), ("k", "Order 1")):
        page.keyboard.press(press)
        assert page.evaluate(focused) == subject
    page.keyboard.press("x")
    assert page.locator(".pick:checked").get_attribute("value") == tickets[1]["id"]
    page.get_by_label("Tag").focus()
    page.keyboard.type("jx?")
    assert page.get_by_label("Tag").input_value() == "jx?"
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("j/?")
    assert page.get_by_role("searchbox").input_value() == "j/?"
    page.locator("h1").click()
    page.keyboard.press("?")
    page.get_by_role("heading", name="Shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Shortcuts").wait_for(state="hidden")
    page.goto(f"{INBOX}?status=all")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{INBOX}/{tickets[2]['id']}")
    # Styles, script and sign are kept: the page itself was all that was asked for.
    asked = "performance.getEntriesByType('resource').filter((each) => each.transferSize)"
    assert page.evaluate(f"{asked}.map((each) => each.name)") == []
    page.locator("main").get_by_role("link", name="Tickets").click()
    page.wait_for_url(f"**{INBOX}?status=all")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.wait_for_url(f"**{INBOX}/{tickets[2]['id']}#reply")
    page.keyboard.type("Hello")
    assert page.get_by_label("Your answer").input_value() == "Hello"


def test_new_tickets_are_told_without_a_reload(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    page.goto(INBOX)
    page.get_by_text("Waiting for the first ticket.").wait_for()
    key.ticket(subject="The very first")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="Your first ticket has arrived. Show it.").click()
    page.get_by_role("link", name="The very first").wait_for()
    key.ticket(subject="The second")
    page.mouse.move(1, 1)
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="The second").wait_for()
    page.get_by_role("link", name="Open 2").wait_for()
    assert page.locator(".fresh").count() == 1
    assert page.get_by_role("link", name="new ticket").count() == 0
    # While somebody works in the list, nothing moves.
    page.keyboard.press("j")
    key.ticket(subject="The third")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="1 new ticket. Show it.").wait_for()
    assert page.get_by_role("link", name="The third").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "The second"
    page.get_by_role("link", name="1 new ticket. Show it.").click()
    page.get_by_role("link", name="The third").wait_for()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_many_tickets_are_changed_at_once(
    opened: Callable[..., Window], tenant: Tenant, has_scripts: bool
) -> None:
    key = tenant.key()
    for n in range(3):
        key.ticket(subject=f"Order {n}")
    window = opened(java_script_enabled=has_scripts)
    window.log_in(tenant.admin_email, PASSWORD)
    page = window.page
    if has_scripts:
        page.get_by_label("Choose all").check()
    else:
        for box in page.locator(".pick").all():
            box.check()
    page.locator(".bulk").get_by_label("Status").select_option("pending")
    page.get_by_role("button", name="Change the chosen").click()
    page.get_by_role("heading", name="Change 3 tickets?").wait_for()
    page.get_by_role("button", name="Change 3 tickets").click()
    page.get_by_role("heading", name="3 tickets were changed").wait_for()
    page.get_by_role("link", name="Back to the tickets").click()
    page.get_by_text("No tickets are in this status.").wait_for()
    page.get_by_role("link", name="Pending 3").click()
    page.get_by_role("link", name="Order 2").wait_for()
