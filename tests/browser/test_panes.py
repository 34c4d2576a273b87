"""The ticket beside the list on a wide window, and the way from one ticket to the next."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Service, Tenant


@pytest.fixture
def orders(tenant: Tenant) -> list[str]:
    """The ids of three tickets, the newest first."""
    key = tenant.key()
    return [key.ticket(subject=f"Order {n}")["id"] for n in range(3)][::-1]


@pytest.fixture
def wide(window: Window) -> Window:
    window.page.set_viewport_size({"width": 1280, "height": 720})
    return window


def test_keys_lead_through_the_view_and_back(window: Window, orders: list[str]) -> None:
    page = window.page
    page.goto(INBOX)
    page.get_by_role("link", name="Order 2").click()
    page.get_by_role("heading", name="Order 2").wait_for()
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 1").wait_for()
    page.get_by_role("link", name="Next ticket").click()
    page.get_by_role("heading", name="Order 0").wait_for()
    page.keyboard.press("k")
    page.get_by_role("heading", name="Order 1").wait_for()
    page.keyboard.press("u")
    page.wait_for_url(f"**{INBOX}")


def test_a_ticket_opens_beside_the_list_and_the_choice_is_kept(
    wide: Window, orders: list[str]
) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    # The parts of a row are one below the other.
    parts = (page.locator(f"#list li:first-child > {each}") for each in (".what", ".more", ".last"))
    places = [
        part.evaluate("(e) => [e.offsetLeft, e.offsetTop + e.offsetHeight]") for part in parts
    ]
    assert len({left for left, _ in places}) == 1 and places == sorted(places)
    ticket = page.get_by_role("region", name="Ticket", exact=True)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    ticket.get_by_role("heading", name="Order 2").wait_for()
    assert f"{INBOX}/{orders[0]}" in page.url
    assert page.evaluate("document.activeElement.dataset.beside") == "ticket"
    page.keyboard.press("j")
    ticket.get_by_role("heading", name="Order 1").wait_for()
    expect(page.locator("#list .current")).to_contain_text("Order 1")
    # A script of the ticket works in the pane.
    ticket.get_by_label("Priority", exact=True).select_option("urgent")
    ticket.get_by_text("Saved").first.wait_for()
    page.go_back()
    ticket.get_by_role("heading", name="Order 2").wait_for()
    page.keyboard.press("u")
    assert page.evaluate("document.activeElement.closest('[data-ticket]') !== null")
    # A ticket that is opened by its address has the list beside it.
    page.goto(f"{INBOX}/{orders[2]}")
    page.get_by_role("region", name="Tickets").get_by_role("link", name="Order 1").wait_for()
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    assert page.locator(".beside").count() == 0


def test_a_narrow_window_has_one_pane(wide: Window, orders: list[str]) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    page.set_viewport_size({"width": 1000, "height": 720})
    assert not page.locator(".beside").is_visible()
    page.get_by_role("link", name="Order 2").click()
    page.get_by_role("main").get_by_role("heading", name="Order 2").wait_for()


def test_both_panes_are_accessible(
    opened: Callable[..., Window], tenant: Tenant, desk: Service, orders: list[str]
) -> None:
    window = opened(reduced_motion="reduce")
    window.enter(tenant.admin_email, PASSWORD)
    page, looker = window.page, Looker(window, "all")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.context.add_cookies([{"name": "panes", "value": "two", "url": desk.url}])
    page.goto(INBOX)
    page.get_by_role("link", name="Order 2").click()
    page.get_by_role("heading", name="Order 2").wait_for()
    assert looker.look("both panes") == []
