"""The ticket beside the list on a wide window, and the way from one ticket to the next."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

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


def test_keys_lead_through_the_view_and_back(
    window: Window, tenant: Tenant, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    page.evaluate("window.isSame = true")
    window.follow("Order 2")
    expect(page.locator(".place")).to_have_text("1 of 3")
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.locator(".place")).to_have_text("2 of 3")
    page.get_by_role("link", name="Next ticket").click()
    page.get_by_role("heading", name="Order 0").wait_for()
    page.keyboard.press("k")
    page.get_by_role("heading", name="Order 1").wait_for()
    page.keyboard.press("u")
    page.wait_for_url(f"**{INBOX}")
    # The list is read anew in the same page, with its row, its keys and its history.
    expect(page.locator("[data-ticket].current a:focus")).to_contain_text("Order 1")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Order 1").wait_for()
    page.go_back()
    expect(page.locator("[data-ticket].current a:focus")).to_contain_text("Order 1")
    # It is where it was, also after Forward and Back.
    page.set_viewport_size({"width": 1280, "height": 150})
    page.evaluate("scrollTo(0, 20)")
    page.go_forward()
    page.get_by_role("heading", name="Order 1").wait_for()
    page.go_back()
    expect(page.locator("[data-ticket].current a:focus")).to_contain_text("Order 1")
    assert page.evaluate("scrollY") == 20
    page.set_viewport_size({"width": 1280, "height": 720})
    # Whoever goes on before the list is there sees what the address says.
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Order 1").wait_for()
    held: list[Route] = []
    page.route(f"**{INBOX}", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request(f"**{INBOX}"):
        page.evaluate("history.back()")
    page.evaluate("history.forward()")
    page.wait_for_url(f"**{INBOX}/{orders[1]}")
    with page.expect_event("requestfinished", lambda each: each.url.endswith(INBOX)):
        held.pop().continue_()
    page.keyboard.press("u")
    while not held:
        page.wait_for_timeout(10)
    expect(page.get_by_role("heading", name="Order 1")).to_be_visible()
    # Keys are held for the list, too.
    for key in ("j", "Enter"):
        page.keyboard.press(key)
    held.pop().continue_()
    page.get_by_role("heading", name="Order 0").wait_for()
    page.unroute_all()
    assert page.evaluate("window.isSame")
    page.goto(INBOX)
    # A page behind the first one counts on, also to tickets that it does not list.
    newest = page.locator("[data-ticket]").first
    page.goto(f"{INBOX}?before={newest.get_attribute('data-at')}_{orders[0]}")
    window.follow("Order 1")
    expect(page.locator(".place")).to_have_text("51 of 52")
    page.keyboard.press("k")
    page.get_by_role("heading", name="Order 2").wait_for()
    expect(page.locator(".place")).to_have_text("50 of 52")
    # So does a list of all statuses, of which there is another page.
    page.goto(f"{INBOX}?status=all")
    page.locator("#list").evaluate("e => e.innerHTML += '<p class=pager><a rel=next></a></p>'")
    window.follow("Order 1")
    expect(page.locator(".place")).to_have_text("2 of 3")
    # What was read anew stays live.
    page.goto(INBOX)
    window.follow("Order 1")
    page.keyboard.press("u")
    page.locator("[data-ticket].current a:focus").wait_for()
    page.locator("h1").first.click()
    tenant.key().ticket(subject="Order 3")
    page.locator("#list").get_by_text("Order 3").wait_for()


def test_a_ticket_opens_beside_the_list_and_the_choice_is_kept(
    wide: Window, orders: list[str]
) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    # The parts of a row are one below the other.
    parts = (page.locator(f"#list li:first-child > {each}") for each in ("bdi", ".what"))
    places = [
        part.evaluate("(e) => [e.offsetLeft, e.offsetTop + e.offsetHeight]") for part in parts
    ]
    assert len({left for left, _ in places}) == 1 and places == sorted(places)
    page.set_viewport_size({"width": 1280, "height": 200})  # a long list
    ends = page.locator(".inbox-head").bounding_box(), page.locator(".tickets").bounding_box()
    assert ends[0] and ends[1] and ends[0]["height"] == ends[1]["y"], "no row is behind the line"
    page.set_viewport_size({"width": 1280, "height": 720})
    ticket = page.get_by_role("region", name="Ticket", exact=True)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    ticket.get_by_role("heading", name="Order 2").wait_for()
    expect(page).to_have_url(re.compile(f"{INBOX}/{orders[0]}"))
    expect(ticket.locator("[data-heading]")).to_be_focused()
    page.keyboard.press("j")
    ticket.get_by_role("heading", name="Order 1").wait_for()
    expect(page.locator("#list .current")).to_contain_text("Order 1")
    # A script of the ticket works in the pane.
    ticket.get_by_label("Priority", exact=True).select_option("urgent")
    ticket.get_by_text("Saved").first.wait_for()
    page.go_back()
    ticket.get_by_role("heading", name="Order 2").wait_for()
    page.keyboard.press("u")
    page.wait_for_function("document.activeElement.closest('[data-ticket]') !== null")
    page.go_back()
    expect(page).to_have_title("Tickets · Sealdesk")
    expect(page.locator("[data-ticket].current a:focus")).to_contain_text("Order 2")
    page.go_forward()
    ticket.get_by_role("heading", name="Order 2").wait_for()
    # A fragment leads to a place of the page, which loads nothing.
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("location.hash = 'rows'")
    page.wait_for_url("**#rows")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert not [url for url in asked if url.endswith(orders[0])]
    # A reply is written beside the list; none of its letters is a command.
    page.keyboard.press("r")
    page.keyboard.type("your error")
    expect(ticket.get_by_label("Your reply")).to_have_value("your error")
    ticket.get_by_label("Your reply").fill("")
    # Nor while the list is loaded again, because a ticket of it was resolved.
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    held: list[Route] = []
    page.route(f"**{INBOX}", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request(f"**{INBOX}"):
        page.keyboard.press("e")
    page.keyboard.press("r")
    expect(ticket.get_by_label("Your reply")).to_be_focused()
    held[0].continue_()
    page.unroute(f"**{INBOX}")
    expect(page.locator("#list [data-ticket]")).to_have_count(2)
    page.keyboard.type("your error")
    expect(ticket.get_by_label("Your reply")).to_have_value("your error")
    ticket.get_by_label("Your reply").fill("")
    # A ticket that is opened by its address has the list beside it.
    page.goto(f"{INBOX}/{orders[2]}")
    page.get_by_role("region", name="Tickets").get_by_role("link", name="Order 1").wait_for()
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    expect(page.locator(".beside")).to_have_count(0)


def test_what_was_asked_for_an_earlier_ticket_is_not_shown_in_the_next(
    wide: Window, orders: list[str]
) -> None:
    page = wide.page
    page.goto(INBOX)
    wide.follow("Order 2")
    held: list[Route] = []
    page.route(f"**{INBOX}/{orders[0]}", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request(f"**{INBOX}/{orders[0]}"):  # The change is told by the live stream.
        page.get_by_label("Priority", exact=True).select_option("urgent")
    page.get_by_role("link", name="Next ticket").click()
    page.get_by_role("heading", name="Order 1").wait_for()
    for each in held:
        each.continue_()
    page.get_by_label("Priority", exact=True).select_option("high")
    page.get_by_text("Saved").first.wait_for()
    expect(page.get_by_role("heading", name="Order 0")).to_have_count(0)
    expect(page.get_by_role("heading", name="Order 2")).to_have_count(0)
    expect(page.get_by_role("heading", name="Order 1")).to_have_count(1)


def test_of_two_tickets_that_are_asked_for_at_once_the_later_one_is_shown(
    wide: Window, orders: list[str]
) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    held: list[Route] = []
    page.route(f"**{INBOX}/{orders[0]}", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request(f"**{INBOX}/{orders[0]}"):
        page.get_by_role("link", name="Order 2").click()
    page.get_by_role("link", name="Order 1").click()
    ticket = page.get_by_role("region", name="Ticket", exact=True)
    ticket.get_by_role("heading", name="Order 1").wait_for()
    with page.expect_event("requestfinished", lambda each: each.url.endswith(orders[0])):
        held[0].continue_()
    expect(ticket.get_by_role("heading", name="Order 2")).to_have_count(0)
    expect(page).to_have_url(re.compile(f"{INBOX}/{orders[1]}"))


def test_in_one_pane_the_ticket_that_was_asked_for_last_is_shown(
    window: Window, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    with page.expect_response("**/tickets/next?**"):  # what is fetched early
        window.follow("Order 1")
    held: list[Route] = []
    page.route("**/tickets/previous?**", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request("**/tickets/previous?**"):
        page.get_by_role("link", name="Previous ticket").click()
    page.get_by_role("link", name="Next ticket").click()
    page.get_by_role("heading", name="Order 0").wait_for()
    with page.expect_event("requestfinished", lambda each: orders[0] in each.url):
        held[0].continue_()
    expect(page.get_by_role("heading", name="Order 0")).to_be_visible()


def test_a_page_with_an_unsaved_choice_asks_before_the_next_ticket(
    window: Window, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    window.follow("Order 2")
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 1").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Order 2").wait_for()
    page.route("**/fields", lambda route: route.abort())
    page.get_by_label("Priority", exact=True).select_option("urgent")
    page.get_by_role("button", name="Try again").wait_for()
    address = page.url
    with page.expect_event("dialog"):  # which the window refuses
        page.keyboard.press("j")
    with page.expect_event("dialog"):
        page.evaluate("setTimeout(() => history.back())")
    expect(page).to_have_url(address)
    expect(page.get_by_label("Priority", exact=True)).to_have_value("urgent")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Saved").first.wait_for()
    page.route(f"**{INBOX}", lambda route: route.abort())
    page.evaluate("history.back()")
    expect(page.locator("#said")).to_contain_text("was not opened")
    expect(page).to_have_url(address)
    # What was ahead is so still.
    page.go_forward()
    page.get_by_role("heading", name="Order 1").wait_for()
    window.complaints.clear()  # the request that failed, and the dialog


@pytest.mark.prove
def test_a_ticket_opened_by_its_address_leads_through_the_list_beside_it(
    wide: Window, orders: list[str]
) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    page.goto(f"{INBOX}/{orders[0]}")
    beside = page.get_by_role("region", name="Tickets")
    expect(page.get_by_role("link", name="Next ticket")).to_be_visible()
    for key, name in (("j", "Order 1"), ("j", "Order 0"), ("k", "Order 1")):
        page.keyboard.press(key)
        page.get_by_role("heading", name=name).wait_for()
        expect(page.locator("#list .current")).to_contain_text(name)
    page.reload()
    expect(page.locator("#list .current")).to_contain_text("Order 1")
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 0").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Order 1").wait_for()
    page.keyboard.press("r")
    page.keyboard.type("A new one is on its way.")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.locator("article").get_by_text("A new one is on its way.").wait_for()
    expect(beside.get_by_role("link", name="Order 0")).to_be_visible()
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 1").wait_for(state="hidden")
    expect(beside.get_by_role("link", name="Order 0")).to_be_visible()


def test_the_next_ticket_is_fetched_before_it_is_asked_for_and_stays_unread_until_then(
    wide: Window, tenant: Tenant, orders: list[str]
) -> None:
    page, key = wide.page, tenant.key()
    # A closed ticket is renewed when it is shown, and has nothing unsaved after that.
    for status in ("resolved", "closed"):
        key.patch(f"/api/v1/external/tickets/{orders[1]}", {"status": status})
    page.goto(f"{INBOX}?status=all&sort=newest")
    with page.expect_response("**/tickets/next?**") as early:
        page.get_by_role("link", name="Order 2").click()
    assert early.value.request.headers["purpose"] == "prefetch"
    other = page.context.new_page()
    other.goto(f"{INBOX}?status=all")
    unread = other.locator("[data-ticket].unread")
    expect(unread).to_have_count(2)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_response(f"**{INBOX}/{orders[1]}"):  # what renews it marks it as read
        page.keyboard.press("j")
        page.get_by_role("heading", name="Order 1").wait_for()
    assert not any("/next?" in url and orders[0] in url for url in asked)
    other.reload()
    expect(unread).to_have_count(1)
    other.close()
    # It is fetched again once it changes, or is old.
    with page.expect_request("**/tickets/next?**"):
        key.patch(f"/api/v1/external/tickets/{orders[2]}", {"priority": "urgent"})
    page.evaluate("prefetched.at -= PREFETCHED_FOR_MS")
    with page.expect_request("**/tickets/next?**") as late:
        page.keyboard.press("j")
        page.get_by_role("heading", name="Order 0").wait_for()
    assert "purpose" not in late.value.headers
    page.keyboard.press("k")
    page.get_by_role("heading", name="Order 1").wait_for()


@pytest.mark.prove
def test_a_narrow_window_has_one_pane(wide: Window, orders: list[str]) -> None:
    page = wide.page
    page.goto(INBOX)
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    page.set_viewport_size({"width": 1000, "height": 720})
    expect(page.locator(".beside")).to_be_hidden()
    page.get_by_role("link", name="Order 2").click()
    page.get_by_role("main").get_by_role("heading", name="Order 2").wait_for()


@pytest.mark.prove
def test_both_panes_are_accessible(
    opened: Callable[..., Window], tenant: Tenant, desk: Service, orders: list[str]
) -> None:
    window = opened(reduced_motion="reduce")
    window.enter(tenant.admin_email, PASSWORD)
    page, looker = window.page, Looker(window, "both")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.context.add_cookies([{"name": "panes", "value": "two", "url": desk.url}])
    page.goto(INBOX)
    page.get_by_role("link", name="Order 2").click()
    page.get_by_role("heading", name="Order 2").wait_for()
    assert looker.look("both panes") == []
