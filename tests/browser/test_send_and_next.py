"""Tickets of a view are answered one after another by keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

TICKETS = "/api/v1/external/tickets"
_DRAFTS = "Object.keys(localStorage).filter((key) => key.startsWith('draft '))"


def _drafts(page: Page) -> list[str]:
    found: list[str] = page.evaluate(_DRAFTS)
    return found


def test_three_tickets_are_resolved_by_keyboard_alone(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    orders = [key.ticket(subject=f"Order {n}")["id"] for n in (1, 2, 3)]
    page.goto(INBOX)
    page.keyboard.press("j")
    with page.expect_navigation():  # keys before it would be lost
        page.keyboard.press("Enter")
    for number in (3, 2, 1):
        page.get_by_role("heading", name=f"Order {number}").wait_for()
        page.keyboard.press("r")
        page.keyboard.type(f"Order {number} is on its way")
        with page.expect_navigation():
            page.keyboard.press("Control+Shift+Enter")
        page.locator("#said", has_text="Sent.").wait_for()
        page.wait_for_function(f"!{_DRAFTS}.length")
    page.wait_for_url(f"**{INBOX}")
    found = [key.get(f"{TICKETS}/{one}").json()["data"] for one in orders]
    assert [each["status"] for each in found] == ["resolved"] * 3
    assert [each["reply_count"] for each in found] == [1] * 3


@pytest.mark.prove
def test_send_and_next_leaves_the_ticket_open(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    orders = [key.ticket(subject=f"Order {n}")["id"] for n in (1, 2)]
    page.goto(INBOX)
    page.keyboard.press("j")
    with page.expect_navigation():  # keys before it would be lost
        page.keyboard.press("Enter")
    page.get_by_label("Your reply").fill("One moment")
    with page.expect_navigation():
        page.keyboard.press("Control+Alt+Enter")
    page.get_by_role("heading", name="Order 1").wait_for()
    assert key.get(f"{TICKETS}/{orders[1]}").json()["data"]["status"] == "open"
    # Keys lead on from here.
    page.keyboard.press("k")
    page.get_by_role("heading", name="Order 2").wait_for()


def test_a_sentence_begun_while_a_sent_reply_loads_is_no_commands_afterwards(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    # No other test uses a window of this zone: its clock cannot be set back.
    window = opened(timezone_id="Europe/Oslo")
    window.enter(tenant.admin_email, PASSWORD)
    page, key = window.page, tenant.key()
    address = f"{TICKETS}/{(order := key.ticket(subject='Order'))['id']}"
    page.clock.set_fixed_time(1_800_000_000)
    page.goto(f"{INBOX}/{order['id']}")
    page.get_by_label("Your reply").fill("On its way")

    def load(route: Route) -> None:
        page.keyboard.press("r")
        route.continue_()

    page.route("**/reply", load)
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Unfollow").focus()
    page.keyboard.type("e n")  # of "even": the letters before came between the pages
    page.clock.set_fixed_time(1_800_000_002)
    page.keyboard.press("n")
    expect(page.get_by_label("Note to colleagues")).to_be_checked()
    expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    assert key.get(address).json()["data"]["status"] == "open"


def test_only_the_window_that_sent_a_reply_deletes_its_draft(
    window: Window, tenant: Tenant
) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    page.goto(f"{INBOX}/{ticket['id']}")
    page.get_by_label("Your reply").fill("Not sent yet")
    page.goto(f"{INBOX}#sent-{ticket['id']}")
    page.locator("#said", has_text="Sent.").wait_for(state="attached")
    assert len(_drafts(page)) == 1
    page.goto(f"{INBOX}/{ticket['id']}")
    expect(page.get_by_label("Your reply")).to_have_value("Not sent yet")
