"""After a key command the focus is where one reads: no key does what was not meant."""

import time
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.pages import INBOX
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
SENTENCE = "are you sure? me too; please, call us back at 5."
# What a key opens, and what is chosen in it.
COMMANDS = (("s", "p"), ("p", "l"), ("A", "n"), ("h", "u"), ("t", "vip"))


@pytest.fixture
def orders(key: Key) -> list[str]:
    """The ids of three tickets, the newest first."""
    return [key.ticket(subject=f"Order {n}")["id"] for n in range(3)][::-1]


def _now(key: Key, ticket_id: str) -> dict[str, Any]:
    found: dict[str, Any] = key.get(f"{TICKETS}/{ticket_id}").json()["data"]
    return {name: found[name] for name in ("status", "priority", "assignee_id", "reply_count")}


def _is_early(route: Route) -> bool:
    """Whether a ticket is fetched before it is asked for; it is not found then."""
    is_early = "purpose" in route.request.headers
    if is_early:
        route.fulfill(status=404, body="")
    return is_early


def _open(page: Page, subject: str) -> None:
    """Open a ticket of the list; its scripts run, as they have asked for the next one."""
    with page.expect_request("**/tickets/next?**"):
        page.get_by_role("link", name=subject).click()
    page.get_by_role("heading", name=subject).wait_for()


def _slow_down(page: Page, seconds: float) -> None:
    """Every next ticket that is loaded takes so long."""

    def load(route: Route) -> None:
        if _is_early(route):
            return
        time.sleep(seconds)
        route.continue_()

    page.route("**/tickets/next?**", load)


def _held(page: Page, address: str = "**/tickets/next?**") -> list[Route]:
    """Where the requests for next tickets come, each of which waits to be answered."""
    asked: list[Route] = []

    def hold(route: Route) -> None:
        if not _is_early(route):
            asked.append(route)

    page.route(address, hold)
    return asked


def _answer(page: Page, asked: list[Route]) -> None:
    while not asked:
        page.wait_for_timeout(10)
    asked[0].continue_()


@pytest.mark.prove
def test_a_sentence_after_a_choice_by_key_changes_nothing_else(
    window: Window, key: Key, orders: list[str]
) -> None:
    page = window.page
    for opens, choice in COMMANDS:
        page.goto(f"{INBOX}/{orders[0]}")
        page.keyboard.press(opens)
        page.keyboard.type(choice)
        page.keyboard.press("Enter")
        before = _now(key, orders[0])
        page.keyboard.press("r")
        page.keyboard.type(SENTENCE)
        expect(page.get_by_label("Your reply")).to_have_value(SENTENCE)
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.localName") == "h1", opens
        page.get_by_label("Your reply").fill("")
        after = _now(key, orders[0])
        assert {**before, "status": after["status"], "priority": after["priority"]} == after
        assert after["status"] in ("open", "pending") and after["priority"] in ("medium", "low")


def test_keys_pressed_while_the_next_ticket_loads_are_typed_there(
    window: Window, key: Key, orders: list[str]
) -> None:
    page = window.page
    _slow_down(page, 0.3)
    page.goto(INBOX)
    _open(page, "Order 2")
    before = [_now(key, each) for each in orders]
    page.evaluate("window.isSame = true")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type(SENTENCE)
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.get_by_label("Your reply")).to_have_value(SENTENCE)
    assert [_now(key, each) for each in orders] == before
    # It came in place, and the way back does so too.
    page.go_back()
    page.get_by_role("heading", name="Order 2").wait_for()
    expect(page.get_by_label("Your reply")).to_have_value("")
    assert page.evaluate("window.isSame")
    with page.expect_request("**/tickets/next?**"):
        page.reload()
    page.get_by_role("heading", name="Order 2").wait_for()
    page.keyboard.press("j")
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.get_by_label("Your reply")).to_have_value(SENTENCE)


@pytest.mark.parametrize(
    ("keys", "status", "text"),
    [
        pytest.param("r y o u r", "open", "your", marks=pytest.mark.prove),
        ("n @ t h Enter", "open", "@Theo Brandt "),
        ("r Escape s p Enter", "pending", ""),
        ("Enter e", "resolved", ""),
        pytest.param("r Escape ? e", "open", "", marks=pytest.mark.prove),
    ],
)
def test_keys_after_one_that_opens_a_ticket_are_for_this_ticket(
    window: Window, tenant: Tenant, key: Key, orders: list[str], keys: str, status: str, text: str
) -> None:
    page = window.page
    tenant.user("agent", name="Theo Brandt")
    page.goto(f"{INBOX}?status=all")
    asked = _held(page, f"**/tickets/{orders[1]}")
    for each in ("j", "j", *keys.split()):
        page.keyboard.press(each)
    _answer(page, asked)
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.get_by_label("Your reply")).to_have_value(text)
    assert page.locator("#is_internal").is_checked() == keys.startswith("n")
    if status != "open":
        expect(page.locator("[data-field=status] [data-state]")).to_contain_text("Saved")
    assert [_now(key, each)["status"] for each in orders] == ["open", status, "open"]
    page.unroute_all()
    page.go_back()
    expect(page.locator("#list .current").get_by_role("link", name="Order 1")).to_be_focused()
    page.go_forward()
    page.get_by_role("heading", name="Order 1").wait_for()


def test_keys_pressed_while_another_page_loads_are_not_for_the_one_that_is_left(
    window: Window, key: Key, orders: list[str]
) -> None:
    page = window.page
    page.goto(f"{INBOX}/{orders[1]}")
    page.keyboard.press("f")
    page.get_by_role("button", name="Unfollow").wait_for()
    expect(page.locator("h1")).to_be_focused()
    asked = _held(page, "**/merge")
    page.keyboard.press("m")
    while not asked:
        page.wait_for_timeout(10)
    before = _now(key, orders[1])
    page.keyboard.press("e")
    page.keyboard.press("a")
    _answer(page, asked)
    page.wait_for_url("**/merge")
    page.goto(f"{INBOX}/{orders[1]}")
    page.get_by_role("button", name="Unfollow").focus()
    page.evaluate("window.clicks = []; addEventListener('click', ({type}) => clicks.push(type))")
    for each in ("y", "Space"):  # "my", and the next word
        page.keyboard.press(each)
    assert page.evaluate("clicks") == []
    assert _now(key, orders[1]) == before


def test_a_tag_that_is_typed_while_the_next_ticket_loads_is_saved(
    window: Window, orders: list[str]
) -> None:
    page = window.page
    asked = _held(page)
    page.goto(INBOX)
    _open(page, "Order 2")
    for each in (*"jtvip", "Enter"):
        page.keyboard.press(each)
    _answer(page, asked)
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.locator("[data-field=tags] [data-state]")).to_contain_text("Saved")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "The ticket was not opened. Try again."),
        pytest.param(
            {"status": 200, "body": "of a proxy"},
            "The ticket was not opened. Try again.",
            marks=pytest.mark.prove,
        ),
        pytest.param(
            {"status": 403, "body": ""},
            "You may no longer read the ticket you asked for.",
            marks=pytest.mark.prove,
        ),
        pytest.param(
            {"status": 404, "body": ""},
            "The ticket you asked for no longer exists.",
            marks=pytest.mark.prove,
        ),
        ({"status": 303, "headers": {"location": "/login"}}, "Your log-in has expired."),
    ],
)
def test_a_ticket_stays_with_its_text_when_the_next_one_cannot_be_loaded(
    window: Window, key: Key, orders: list[str], answer: dict[str, Any] | None, says: str
) -> None:
    page = window.page
    asked = _held(page)
    page.goto(INBOX)
    _open(page, "Order 2")
    page.get_by_label("Your reply").fill("Almost done")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    while not asked:
        page.wait_for_timeout(10)
    page.keyboard.press("e")  # for the ticket that does not come
    if answer is None:
        asked[0].abort()
    elif answer["status"] == 303:
        page.context.clear_cookies()
        asked[0].continue_()
    else:
        asked[0].fulfill(**answer)
    expect(page.locator("#said")).to_contain_text(says)
    expect(page.get_by_label("Your reply")).to_have_value("Almost done")
    window.complaints.clear()  # that the request failed
    assert _now(key, orders[0])["status"] == "open"
    if "log-in" in says:
        return
    # Once the message could be read, keys are for this ticket again.
    while page.evaluate("held !== null"):
        page.wait_for_timeout(50)
    page.keyboard.press("e")
    expect(page.locator("[data-field=status] [data-state]")).to_contain_text("Saved")
    # The list does not come, either: the address is that of the ticket.
    address = page.url
    page.route(f"**{INBOX}", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.evaluate("history.back()")
    expect(page).to_have_url(address)
    expect(page.get_by_label("Your reply")).to_have_value("Almost done")
    window.complaints.clear()


def test_keys_work_at_once_after_a_change_of_many(
    window: Window, key: Key, orders: list[str]
) -> None:
    page = window.page
    page.goto(INBOX)
    for press in ("*", "p", "l", "Enter"):
        page.keyboard.press(press)
    expect(page.locator("#said")).to_contain_text("3 tickets were changed")
    page.keyboard.press("z")
    expect(page.locator("#said")).to_contain_text("3 tickets are as before")
    assert {_now(key, each)["priority"] for each in orders} == {"medium"}
    # It says so also when a ticket stands in place of the list by then.
    lists = _held(page, f"**{INBOX}")
    page.keyboard.press("a")
    while not lists:
        page.wait_for_timeout(10)
    _open(page, "Order 2")
    for each in lists:
        each.continue_()
    expect(page.locator("#said")).to_contain_text("3 tickets were changed")
