"""The inbox in a real browser: by keyboard, without a reload, and without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.searching import wait_until_tickets
from tests.support.service import PASSWORD, Tenant

TICKETS = "/api/v1/external/tickets"
_TICKET_EVENT = """document.dispatchEvent(
  new CustomEvent("desk:ticket", { detail: { type: "ticket.created", ticketId: "" } }))"""
_LOOK_AGAIN = "document.dispatchEvent(new Event('visibilitychange'))"


def unfold(window: Window) -> None:
    """Open the filters."""
    window.touch(window.page.locator(".filter > summary"))


def test_tickets_are_selected_and_opened_by_keyboard(window: Window, tenant: Tenant) -> None:
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
    assert page.locator("[name=ticket]:checked").get_attribute("value") == tickets[1]["id"]
    page.keyboard.press("x")
    unfold(window)
    tag = page.locator(".filters").get_by_label("Tag", exact=True)
    tag.focus()
    page.keyboard.type("jx?")
    expect(tag).to_have_value("jx?")
    tag.fill("")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("j/?")
    expect(page.get_by_role("searchbox")).to_have_value("j/?")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("new")
    expect(page.get_by_role("searchbox")).to_have_value("new")
    page.locator("h1").click()
    page.keyboard.press("?")
    page.get_by_role("heading", name="Shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Shortcuts").wait_for(state="hidden")
    page.goto(f"{INBOX}?status=all")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{INBOX}/{tickets[2]['id']}")
    page.reload()
    # Style, script and icon are cached, so only the page itself was requested. Who else looks is
    # fetched later, when the stream says so.
    asked = (
        "performance.getEntriesByType('resource').filter((each) => each.transferSize"
        " && each.initiatorType !== 'fetch')"
    )
    assert page.evaluate(f"{asked}.map((each) => each.name)") == []
    page.locator("main").get_by_role("link", name="Tickets").click()
    page.wait_for_url(f"**{INBOX}?status=all")
    # The focus is where it was.
    page.wait_for_function(f"{focused} === 'Order 2'")
    page.keyboard.press("r")
    page.wait_for_url(f"**{INBOX}/{tickets[2]['id']}")
    page.keyboard.type("Hello")
    expect(page.get_by_label("Your reply")).to_have_value("Hello")


@pytest.mark.mouse
def test_a_list_to_which_one_comes_back_is_scrolled_as_it_was(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    for n in range(3):
        key.ticket(subject=f"Order {n}")
    page.set_viewport_size({"width": 1280, "height": 120})
    page.goto(INBOX)
    last = page.get_by_role("link", name="Order 0")
    last.scroll_into_view_if_needed()
    top = page.evaluate("scrollY")
    assert top > 0
    last.click()
    page.get_by_role("heading", name="Order 0").wait_for()
    page.keyboard.press("u")
    page.wait_for_url(f"**{INBOX}")
    page.wait_for_function("(top) => scrollY === top", arg=top)


@pytest.mark.layout
@pytest.mark.prove
def test_new_tickets_are_announced_without_a_reload(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    page.goto(INBOX)
    page.get_by_text("Waiting for the first ticket.").wait_for()
    key.ticket(subject="The very first")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="Your first ticket has arrived. Show it.").click()
    page.get_by_role("heading", name="The very first").wait_for()
    page.goto(INBOX)
    page.mouse.move(1, 1)  # A list below the pointer is not replaced.
    key.ticket(subject="The second")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="The second").wait_for()
    page.get_by_role("link", name="Open 2").wait_for()
    expect(page.locator(".fresh")).to_have_count(1)
    expect(page.get_by_role("link", name="new or changed")).to_have_count(0)
    # While the list has the focus, it does not change.
    page.keyboard.press("j")
    key.ticket(subject="The third")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="1 ticket is new or changed. Show it.").wait_for()
    expect(page.get_by_role("link", name="The third")).to_have_count(0)
    assert page.evaluate("document.activeElement.textContent") == "The second"
    page.get_by_role("link", name="1 ticket is new or changed. Show it.").click()
    page.get_by_role("heading", name="The third").wait_for()


@pytest.mark.prove
def test_without_scripts_many_tickets_are_changed_after_a_preview(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    page, key = window.page, tenant.key()
    tickets = [key.ticket(subject=f"Order {n}") for n in range(5)]
    key.patch(f"{TICKETS}/{tickets[4]['id']}", {"status": "closed"})
    page.goto(f"{INBOX}?status=all")
    box = page.locator("[name=ticket]").first.bounding_box()
    assert box is not None and box["height"] >= (24 if window.is_phone else 16)
    for pick in page.locator("[name=ticket]").all():
        pick.check()
    page.locator(".bulk").get_by_label("Status").select_option("pending")
    window.press("Change selected …")
    window.sees_heading("Change 4 tickets?")
    window.sees("It is closed. Open it first.")
    # Meanwhile somebody replies to one of them.
    key.post(f"{TICKETS}/{tickets[3]['id']}/replies", {"body": "And another thing"})
    window.press("Change 4 tickets")
    window.sees_heading("3 tickets were changed")
    window.sees_heading("1 was not changed")
    page.locator("li", has_text="Order 3").get_by_text("It has changed since").wait_for()
    window.follow("Back to the tickets")
    window.follow("Pending 3")
    page.locator("#list").get_by_role("link", name="Order 2").wait_for()
    window.follow("Open 1")
    page.locator("#list").get_by_role("link", name="Order 3").wait_for()


@pytest.mark.layout
def test_tickets_are_found_by_filters_order_and_words(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    eve = tenant.user("agent", name="Eve")
    vera = {"email": "vera@example.test", "name": "Vera Bakker"}
    key.ticket(subject="A saucer", assignee_id=eve, tags=["gift"], customer=vera)
    cracked = key.ticket(
        subject="A cracked teapot", assignee_id=eve, priority="urgent", tags=["gift"], customer=vera
    )
    key.ticket(subject="A spoon", priority="urgent")
    shown = page.locator("#list .url")
    page.goto(INBOX)
    unfold(window)
    filters = page.locator(".filters")
    # Each filter applies when it is chosen, and has the focus on the next page.
    filters.get_by_label("Priority", exact=True).select_option("urgent")
    page.wait_for_url("**priority=urgent")
    page.wait_for_function("document.activeElement.name === 'priority'")
    filters.get_by_label("Assigned to", exact=True).select_option("Eve")
    page.wait_for_url("**assignee=*")
    filters.get_by_label("Customer", exact=True).fill("vera@example.test")
    page.keyboard.press("Enter")
    page.wait_for_url("**customer=*")
    filters.get_by_label("Tag", exact=True).fill("gift")
    page.keyboard.press("Enter")
    page.wait_for_url("**tag=gift")
    expect(shown).to_have_text(["A cracked teapot"])
    expect(filters.get_by_label("Tag", exact=True)).to_have_value("gift")
    # In a wide window the open filters lie over those that are set.
    page.locator(".filters summary").click()
    page.get_by_role("link", name="Remove the filter: Tag").click()
    page.wait_for_url(lambda url: "tag" not in url)
    unfold(window)
    filters.get_by_label("Customer", exact=True).fill("nobody@example.test")
    page.keyboard.press("Enter")
    window.sees("No customers found")
    page.locator(".filters summary").click()
    window.follow("Clear")
    filters.get_by_label("Order", exact=True).select_option("Most urgent first")
    page.wait_for_url("**sort=priority")
    expect(shown).to_have_text(["A spoon", "A cracked teapot", "A saucer"])
    wait_until_tickets(tenant, "bakker cracked", cracked["id"])
    _search(window, "bakker cracked")
    window.sees("1 ticket with “bakker cracked”.")
    expect(shown).to_have_text(["A cracked teapot"])
    _search(window, "kettle")
    window.sees("No ticket contains these words")


@pytest.mark.prove
def test_older_tickets_are_a_page_away_and_one_comes_back(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    for n in range(52):
        key.ticket(subject=f"Order {n}")
    shown = page.locator("#list .url")
    page.goto(INBOX)
    expect(shown).to_have_count(50)
    window.follow("Older →")
    expect(shown).to_have_text(["Order 1", "Order 0"])
    window.follow("Order 1")
    # Back to the page before, and from there to the newest.
    window.go_by(page.locator("main .breadcrumb").get_by_role("link", name="Tickets"))
    expect(shown).to_have_text(["Order 1", "Order 0"])
    window.follow("← Newer")
    expect(shown.first).to_have_text("Order 51")


def _search(window: Window, words: str) -> None:
    field = window.page.get_by_role("searchbox")
    field.fill(words)
    with window.page.expect_navigation(wait_until="domcontentloaded"):
        field.press("Enter")


def test_a_view_is_saved_and_its_count_follows_the_tickets(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    key.ticket(subject="A saucer", priority="high")
    page.goto(f"{INBOX}?priority=high")
    window.follow("Save as view …")
    page.get_by_label("Name").fill("Hot <b>things</b>")
    window.press("Save the view")
    window.sees_heading("Hot <b>things</b>")
    window.open_menu()
    link = page.locator(".views").get_by_role("link", name="Hot <b>things</b>")
    expect(link).to_have_attribute("aria-current", "page")
    expect(link.locator(".count")).to_have_text("1")
    key.ticket(subject="A spoon", priority="high")
    page.evaluate(_TICKET_EVENT)
    page.locator(".views .count", has_text="2").first.wait_for()
    link.locator(".count", has_text="2").wait_for()
    window.go_by(page.locator(".views").get_by_role("link", name="Edit the views"))
    window.press("Delete: Hot <b>things</b>")
    window.sees("You have saved no view yet.")


def test_hits_of_a_search_are_marked(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket(subject="A cracked teapot", description="It is <i>cracked</i> & cold.")
    wait_until_tickets(tenant, "cracked", ticket["id"])
    page.goto(f"{INBOX}?q=craked")
    window.sees("Nothing with “craked”. These tickets contain “cracked”.")
    assert page.locator("#list mark").all_inner_texts() == ["cracked", "cracked"]
    assert page.locator("#list .last").inner_text() == "It is <i>cracked</i> & cold."
