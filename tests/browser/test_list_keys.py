"""The list of tickets by keyboard: changes that apply at once and can be undone."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def orders(tenant: Tenant) -> list[str]:
    """The ids of three tickets, the newest first."""
    key = tenant.key()
    return [key.ticket(subject=f"Order {n}", tags=["gift"])["id"] for n in range(3)][::-1]


def _stored(desk: Service, field: str, ids: list[str]) -> list[object]:
    found = dict(map(tuple, desk.rows(f"SELECT id, {field} FROM tickets ORDER BY id LIMIT 9999")))
    return [found[one] for one in ids]


def _says(page: Page, text: str) -> None:
    expect(page.locator("#said")).to_contain_text(text)


def test_a_key_assigns_the_focused_ticket_and_another_takes_it_back(
    window: Window, desk: Service, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    page.keyboard.press("j")
    page.keyboard.press("a")
    _says(page, "1 ticket was changed")
    assert [*map(bool, _stored(desk, "assignee_id", orders))] == [True, False, False]
    page.wait_for_function("document.activeElement.textContent === 'Order 2'")
    page.keyboard.press("z")
    _says(page, "1 ticket is as before")
    assert _stored(desk, "assignee_id", orders) == [None, None, None]


@pytest.mark.layout
def test_ticked_tickets_are_changed_together(
    window: Window, desk: Service, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    for press in ("j", "x", "j", "x"):
        page.keyboard.press(press)
    page.get_by_text("2 selected").wait_for()
    page.locator(".bulk").get_by_label("Priority").select_option("urgent")
    _says(page, "2 tickets were changed")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if len(held) < 2:
            held.append(route)
        else:
            route.continue_()

    page.route("**/fields", hold)
    for tag in ("vip", "late"):  # the second one while the first one runs
        for press in ("t", *tag, "Enter"):
            page.keyboard.press(press)
        while len(held) < 2:
            page.wait_for_timeout(10)
    for each in held:
        each.continue_()
    expect(page.locator("#list li", has_text="Order 2").locator(".tags-of > *")).to_have_count(3)
    assert _stored(desk, "priority", orders) == [4, 4, 2]
    page.keyboard.press("*")
    page.get_by_text("3 selected").wait_for()
    page.keyboard.press("e")
    _says(page, "3 tickets were changed")
    assert _stored(desk, "status", orders) == ["resolved"] * 3
    page.get_by_role("button", name="Undo").click()
    _says(page, "3 tickets are as before")
    assert _stored(desk, "status", orders) == ["open"] * 3


def test_the_bulk_bar_is_one_key_away_and_escape_leads_back(
    window: Window, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    page.keyboard.press("j")
    page.keyboard.press(".")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-bulk]') !== null")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Order 2"
    page.keyboard.press("s")
    assert page.evaluate("document.activeElement.ariaLabel") == "Status"


def test_escape_ends_the_selection(window: Window, orders: list[str]) -> None:
    page = window.page
    page.goto(INBOX)
    page.keyboard.press("*")
    page.get_by_text(f"{len(orders)} selected").wait_for()
    page.keyboard.press("Escape")  # leads from the box to the list
    page.keyboard.press("Escape")
    assert page.locator("[name=ticket]:checked").count() == 0


def test_a_change_says_how_many_tickets_it_could_not_change(
    window: Window, tenant: Tenant, orders: list[str]
) -> None:
    page, admin = window.page, tenant.admin()
    team = admin.post("/api/v1/teams", {"name": "Returns"}).json()["data"]
    page.goto(f"{INBOX}?status=all")
    page.keyboard.press("*")  # The list is not replaced from now on.
    tenant.key().patch(f"{TICKETS}/{orders[0]}", {"priority": "high"})
    page.locator(".bulk").get_by_label("Priority").select_option("urgent")
    _says(page, "2 tickets were changed · 1 was not changed · Not saved: it has been changed")
    admin.delete(f"/api/v1/teams/{team['id']}")
    page.locator(".bulk").get_by_label("Team").select_option("Returns")
    _says(page, "3 were not changed · Not saved. There is no such team. Choose another one.")
    window.complaints.clear()  # that the requests were refused


def test_a_key_without_a_ticket_says_so(window: Window, orders: list[str]) -> None:
    window.page.goto(INBOX)
    window.page.keyboard.press("a")
    _says(window.page, "Select a ticket first.")
    window.page.keyboard.press("x")  # of a row
    assert window.page.locator("[name=ticket]:checked").count() == 0
