"""The frame of the desk at each width: the list has the window, and every way stays reachable."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.searching import find_tickets
from tests.support.service import Tenant, wait_until

_WIDTHS = (360, 390, 600, 767, 768, 1023, 1024, 1025, 1100, 1279, 1280, 1440, 1920)
# Controls that lie on another one, by their middle; what scrolls away or is off is left out.
_COVERED = """() => [...document.querySelectorAll("a, button, input, select, summary")].filter(
(each) => {
  const { left, top, width, height } = each.getBoundingClientRect();
  if (!width || !height || !each.checkVisibility({ opacityProperty: true })) return false;
  if (each.closest(".by-key, .skip, .tabs") || top + height > innerHeight) return false;
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there && !each.contains(there) && !there.contains(each)
    && !there.closest(".tickets li, .shell");
}).map((each) => each.outerHTML.slice(0, 120))"""


@pytest.fixture
def inbox(window: Window, tenant: Tenant) -> Page:
    """The inbox with thirty tickets."""
    key = tenant.key()
    for number in range(30):
        key.ticket(subject=f"Order {number} has not arrived", tags=["shipping"])
    window.page.goto(INBOX)
    return window.page


def test_nothing_overlaps_or_leaves_the_window_at_any_width(window: Window, inbox: Page) -> None:
    for width in _WIDTHS:
        inbox.set_viewport_size({"width": width, "height": 900})
        assert inbox.evaluate(_COVERED) == [], width
        window.look()
        views, menu = inbox.locator(".views"), inbox.locator(".opens-menu")
        assert views.is_visible() != menu.is_visible(), width


@pytest.mark.parametrize(
    ("width", "height", "highest", "rows"), [(1440, 900, 50, 20), (390, 844, 90, 8)]
)
def test_the_list_begins_high_in_the_window(
    inbox: Page, tenant: Tenant, width: int, height: int, highest: int, rows: int
) -> None:
    inbox.set_viewport_size({"width": width, "height": height})
    boxes = [row.bounding_box() for row in inbox.locator("[data-ticket]").all()]
    tops = [box["y"] for box in boxes if box]
    assert tops[0] <= highest
    assert len([box for box in boxes if box and box["y"] + box["height"] <= height]) >= rows
    wait_until(lambda: bool(find_tickets(tenant, "shipping")))
    inbox.goto(f"{INBOX}?q=shipping")
    expect(inbox.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=1)
    box = inbox.locator("[data-ticket]").first.bounding_box()
    assert box and box["y"] <= highest + 60  # one line says what was searched, on phones two


@pytest.mark.mouse
@pytest.mark.prove
def test_in_a_low_window_only_the_views_scroll(inbox: Page) -> None:
    inbox.set_viewport_size({"width": 1280, "height": 420})
    for stays in (inbox.get_by_role("link", name="Settings"), inbox.get_by_text("Shortcuts")):
        expect(stays.first).to_be_in_viewport(ratio=1)
    inbox.get_by_role("link", name="Customers", exact=True).click()
    expect(inbox.get_by_role("heading", name="Customers")).to_be_visible()


def test_a_narrow_window_has_the_ways_in_a_menu(inbox: Page) -> None:
    inbox.set_viewport_size({"width": 390, "height": 844})
    customers = inbox.get_by_role("link", name="Customers", exact=True)
    expect(customers).to_be_hidden()
    inbox.get_by_role("button", name="Menu", exact=True).click()
    expect(customers).to_be_visible()
    inbox.keyboard.press("Escape")
    expect(customers).to_be_hidden()


def test_a_key_does_not_reach_the_list_behind_the_menu(
    inbox: Page, window: Window, tenant: Tenant
) -> None:
    inbox.set_viewport_size({"width": 800, "height": 844})
    inbox.locator("[name=ticket]").first.check()
    window.open_menu()
    inbox.keyboard.press("e")
    inbox.keyboard.press("Escape")
    expect(inbox.locator(".menu")).to_be_hidden()
    inbox.locator("[data-ticket] a").first.focus()
    inbox.keyboard.press("p")  # the key works again
    expect(inbox.locator(".bulk .pop input")).to_be_focused()
    statuses = tenant.key().get("/api/v1/external/tickets?per_page=100").json()["data"]
    assert {each["status"] for each in statuses} == {"open"}


def test_settings_have_their_own_ways_beside_the_page(window: Window, inbox: Page) -> None:
    keys = inbox.get_by_role("link", name="API keys", exact=True)
    expect(keys).to_be_hidden()
    window.open_menu()
    window.follow("Settings")
    window.open_menu()
    window.go_by(keys)
    inbox.wait_for_url("**/settings/api-keys")
    window.open_menu()
    expect(keys).to_have_attribute("aria-current", "page")
    expect(inbox.get_by_role("link", name="Webhooks", exact=True)).to_be_visible()


def test_the_controls_of_the_bar_are_there_once_a_ticket_is_selected(inbox: Page) -> None:
    acts = inbox.locator(".bulk .acts")
    expect(acts).to_have_css("opacity", "0")
    before = inbox.locator("[data-ticket]").first.bounding_box()
    inbox.locator("[name=ticket]").first.check()
    expect(acts).to_have_css("opacity", "1")
    assert inbox.locator("[data-ticket]").first.bounding_box() == before
