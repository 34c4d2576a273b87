"""The palette: actions of the page, views, people and the last tickets."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"{INBOX}/{tenant.key().ticket(subject='Where is my saucer?')['id']}"


def test_an_action_of_the_page_is_found_and_run(window: Window, at: str) -> None:
    page = window.page
    page.goto(at)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to or do").fill("back to")
    chosen = page.locator("#palette").get_by_role("option", selected=True)
    expect(chosen).to_contain_text("Back to the list")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{INBOX}")


def test_pages_and_the_last_tickets_are_a_few_letters_away(window: Window, at: str) -> None:
    page = window.page
    page.goto(at)
    page.goto("/customers")
    page.keyboard.press("Control+k")
    page.keyboard.type("saucer")
    page.get_by_role("group", name="Tickets").get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{at}")
    if window.is_phone:  # whose button is for screen readers
        page.keyboard.press("Control+k")
    else:
        page.get_by_role("button", name="Go to …").click()
    page.keyboard.type("customers")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/customers")


def test_keys_after_escape_are_typed_where_the_first_one_leads(window: Window, at: str) -> None:
    page = window.page
    page.goto(at)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to or do").fill("saucer")
    for key in ("Escape", "r", *"missing"):  # without a moment for the browser
        page.keyboard.press(key)
    expect(page.get_by_label("Your reply")).to_have_value("missing")


def test_a_person_is_searched_for(window: Window, tenant: Tenant, at: str) -> None:
    eve = tenant.user("agent", name="Évelyne Roux")
    window.page.goto(INBOX)
    window.page.keyboard.press("Control+k")
    window.page.keyboard.type("ÉVEL")
    window.page.locator("#palette").get_by_role("option", name="Évelyne Roux").click()
    window.page.wait_for_url(f"**{INBOX}?status=all&assignee={eve}")


def test_a_customer_is_found_by_a_part_of_the_address(
    window: Window, tenant: Tenant, at: str
) -> None:
    key = tenant.key()
    vera = key.ticket(customer={"email": "vera@post.test", "name": "V. Bakker"})["customer"]["id"]
    page = window.page
    page.goto(INBOX)
    page.keyboard.press("Control+k")
    page.keyboard.type("vera@p")
    found = page.locator("#palette").get_by_role("option", name="V. Bakker, vera@post.test")
    found.wait_for()
    # Enter still searches, as before the customer came.
    expect(page.locator("#palette [aria-selected=true]")).to_have_text("vera@p")
    page.keyboard.type("ost.test")  # is exactly hers
    expect(page.locator("#palette [aria-selected=true]")).to_contain_text("V. Bakker")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/customers/{vera}")


def test_the_last_tickets_end_with_the_session(window: Window, tenant: Tenant, at: str) -> None:
    page = window.page
    page.goto(at)
    assert "saucer" in page.evaluate("localStorage.visited")
    window.open_menu()
    window.press("Log out")
    page.wait_for_function("localStorage.visited === undefined")


def test_a_colleague_in_the_same_browser_does_not_see_them(
    window: Window, tenant: Tenant, at: str
) -> None:
    tenant.user("agent", email := f"eve.of.{tenant.id}@example.test", "Eve")
    window.page.goto(at)
    window.context.clear_cookies()
    window.enter(email, PASSWORD)
    window.page.goto("/customers")
    window.page.keyboard.press("Control+k")
    window.page.keyboard.type("saucer")
    expect(window.page.locator("#palette").get_by_role("option")).to_have_count(1)  # the search


@pytest.mark.layout
@pytest.mark.prove
def test_the_palette_is_accessible(opened: Callable[..., Window], tenant: Tenant, at: str) -> None:
    window = opened(reduced_motion="reduce")
    window.enter(tenant.admin_email, PASSWORD)
    looker = Looker(window, "both")
    window.page.goto(at)
    window.page.goto(INBOX)
    window.page.keyboard.press("Control+k")
    assert looker.look("the palette") == []
