"""The fields of a ticket in a browser: each is saved when chosen, and can be undone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.service import PASSWORD, Tenant

TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


@pytest.fixture
def ticket(key: Key) -> str:
    """The path of a ticket in the API."""
    return f"{TICKETS}/{key.ticket(tags=['gift'])['id']}"


def _at(ticket: str) -> str:
    return ticket.removeprefix("/api/v1/external")


def _now(key: Key, ticket: str) -> dict[str, Any]:
    return dict(key.get(ticket).json()["data"])


def _field(page: Page, name: str) -> Locator:
    return page.locator(f"[data-field={name}]")


def _says(page: Page, name: str, text: str) -> None:
    _field(page, name).get_by_text(text, exact=True).wait_for()


def _wait_for(page: Page, requests: list[Any], count: int) -> None:
    for _ in range(1200):
        if len(requests) >= count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{len(requests)} of {count} requests after a minute")


def _ignore_others(page: Page) -> None:
    """Pages that nobody sees are not renewed: otherwise there would be no conflict."""
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")


def test_a_field_is_saved_when_chosen_and_can_be_undone(
    window: Window, key: Key, ticket: str
) -> None:
    page = window.page
    page.goto(_at(ticket))
    expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
    page.get_by_label("Status", exact=True).select_option("pending")
    _says(page, "status", "Saved")
    assert _now(key, ticket)["status"] == "pending"
    expect(page.locator(".ticket-head .state")).to_have_text("Pending")
    window.touch(_field(page, "status").get_by_role("button", name="Undo"))
    _says(page, "status", "Undone")
    assert _now(key, ticket)["status"] == "open"
    expect(page.get_by_label("Status", exact=True)).to_have_value("open")
    expect(page.locator(".ticket-head .state")).to_have_text("Open")
    expect(page.locator("h1")).to_be_focused()


def test_a_page_that_was_read_before_an_undo_does_not_take_it_back(
    window: Window, key: Key, ticket: str
) -> None:
    page = window.page
    page.goto(_at(ticket))
    held: list[tuple[Route, APIResponse]] = []
    page.route(page.url, lambda route: held.append((route, route.fetch())))
    page.get_by_label("Status", exact=True).select_option("pending")
    _says(page, "status", "Saved")
    _wait_for(page, held, 1)
    window.touch(_field(page, "status").get_by_role("button", name="Undo"))
    _says(page, "status", "Undone")
    route, old = held[0]
    route.fulfill(response=old)
    _wait_for(page, held, 2)
    expect(page.get_by_label("Status", exact=True)).to_have_value("open")
    expect(page.locator(".ticket-head .state")).to_have_text("Open")


def test_two_keys_resolve_a_ticket_and_assign_it_to_the_reader(
    window: Window, key: Key, ticket: str
) -> None:
    page = window.page
    failed: list[str] = []
    page.on("response", lambda each: failed.append(each.url) if each.status == 404 else None)
    page.goto(_at(ticket))
    expect(page.locator(".ticket-bar").get_by_role("button", name="Resolve")).to_be_visible()
    page.keyboard.press("e")
    _says(page, "status", "Saved")
    page.keyboard.press("a")
    _says(page, "assignee_id", "Saved")
    after = _now(key, ticket)
    assert (after["status"], after["assignee_id"] is None) == ("resolved", False)
    for name in ("Resolve", "Assign to me"):  # They would have no effect.
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    page.keyboard.press("z")  # the last change only
    _says(page, "assignee_id", "Undone")
    after = _now(key, ticket)
    assert (after["status"], after["assignee_id"]) == ("resolved", None)
    expect(page.get_by_role("button", name="Assign to me")).to_be_visible()
    assert failed == []


def test_a_subject_is_edited_by_its_key(window: Window, key: Key, ticket: str) -> None:
    page = window.page
    page.goto(_at(ticket))
    page.keyboard.press("S")
    page.get_by_label("Subject", exact=True).fill("<b>Cold</b> kiln")
    page.keyboard.press("Enter")
    _says(page, "subject", "Saved")
    assert _now(key, ticket)["subject"] == "<b>Cold</b> kiln"
    expect(page.locator("h1 bdi")).to_have_text("<b>Cold</b> kiln")
    window.touch(_field(page, "subject").get_by_role("button", name="Undo"))
    page.locator("h1 bdi", has_text="A subject").wait_for()
    assert _now(key, ticket)["subject"] == "A subject"


def test_tags_are_saved_and_undone_like_any_field(window: Window, key: Key, ticket: str) -> None:
    page = window.page
    page.goto(_at(ticket))
    page.get_by_label("Add tags, separated by commas").fill("vip, vip, kiln")
    page.keyboard.press("Enter")
    _says(page, "tags", "Saved")
    assert _now(key, ticket)["tags"] == ["gift", "vip", "kiln"]
    expect(page.get_by_label("kiln")).to_be_checked()
    window.touch(_field(page, "tags").get_by_role("button", name="Undo"))
    _says(page, "tags", "Undone")
    assert _now(key, ticket)["tags"] == ["gift"]
    expect(page.get_by_label("kiln")).not_to_be_checked()


def test_a_closed_ticket_that_a_colleague_changes_has_nothing_unsaved(
    window: Window, key: Key, ticket: str
) -> None:
    for status in ("resolved", "closed"):
        key.patch(ticket, {"status": status})
    page = window.page
    page.goto(_at(ticket))
    key.patch(ticket, {"add_tags": ["late"]})
    expect(page.locator("[data-fields] [data-field=tags]")).to_contain_text("late")
    leaving = "() => { const leaving = new Event('beforeunload', { cancelable: true });"
    leaving += " dispatchEvent(leaving); return leaving.defaultPrevented; }"
    page.wait_for_function(f"!({leaving})()")


def test_an_undo_is_offered_for_ten_seconds(
    opened: Callable[..., Window], tenant: Tenant, ticket: str
) -> None:
    # No other test uses a window of this zone: its clock cannot be set back.
    window = opened(timezone_id="Europe/Dublin")
    window.enter(tenant.admin_email, PASSWORD)
    page = window.page
    page.clock.install()
    page.goto(_at(ticket))
    page.get_by_label("Priority", exact=True).select_option("urgent")
    undo = _field(page, "priority").get_by_role("button", name="Undo")
    undo.wait_for()
    undo.focus()
    page.clock.run_for(10_500)
    undo.wait_for(state="detached")
    expect(page.locator("h1")).to_be_focused()


def test_a_conflict_concerns_one_field_and_has_two_ways_out(
    window: Window, key: Key, ticket: str
) -> None:
    page = window.page
    page.goto(_at(ticket))
    _ignore_others(page)
    key.patch(ticket, {"status": "on_hold"})
    page.get_by_label("Priority", exact=True).select_option("low")
    _says(page, "priority", "Saved")
    page.get_by_label("Status", exact=True).select_option("resolved")
    _field(page, "status").get_by_text("Shop").wait_for()
    assert _now(key, ticket)["status"] == "on_hold"
    window.touch(page.get_by_role("button", name="Keep theirs"))
    expect(page.get_by_label("Status", exact=True)).to_have_value("on_hold")
    key.patch(ticket, {"status": "pending"})
    page.get_by_label("Status", exact=True).select_option("resolved")
    window.touch(page.get_by_role("button", name="Save mine"))
    _says(page, "status", "Saved")
    assert (_now(key, ticket)["status"], _now(key, ticket)["priority"]) == ("resolved", "low")


def test_a_choice_that_could_not_be_saved_is_shown_and_goes_along_with_a_reply(
    window: Window, key: Key, ticket: str
) -> None:
    page = window.page
    page.goto(_at(ticket))
    page.route("**/fields", lambda route: route.abort())
    page.get_by_label("Priority", exact=True).select_option("urgent")
    page.get_by_label("gift").uncheck()
    _field(page, "tags").get_by_role("button", name="Try again").wait_for()
    # What a colleague changes comes in place, but not over this choice.
    key.patch(ticket, {"add_tags": ["late"], "status": "pending"})
    expect(page.get_by_label("Status", exact=True)).to_have_value("pending")
    expect(page.get_by_label("gift")).not_to_be_checked()
    key.patch(ticket, {"remove_tags": ["late"]})
    again = _field(page, "priority").get_by_role("button", name="Try again")
    again.wait_for()
    window.complaints.clear()  # that the request failed
    page.unroute("**/fields")
    again.click()
    _says(page, "priority", "Saved")
    page.get_by_label("Your reply").fill("On its way")
    window.send_reply()
    page.locator("article", has_text="On its way").wait_for()
    assert (_now(key, ticket)["priority"], _now(key, ticket)["tags"]) == ("urgent", [])
    expect(page.get_by_label("gift")).to_have_count(0)


def test_an_own_change_is_not_announced_as_news(window: Window, ticket: str) -> None:
    page = window.page
    page.goto(_at(ticket))
    page.get_by_label("Priority", exact=True).select_option("urgent")
    _says(page, "priority", "Saved")
    news = page.request.get(page.evaluate("document.querySelector('[data-news]').dataset.news"))
    assert "has changed" not in news.text()


def test_the_composer_is_a_reply_or_a_note(window: Window, key: Key, ticket: str) -> None:
    page = window.page
    page.goto(_at(ticket))
    send = page.locator("#composer button.main")
    page.get_by_label("Your reply").focus()
    expect(send).to_have_text("Send", use_inner_text=True)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("He called twice")
    expect(send).to_have_text("Add note", use_inner_text=True)
    page.get_by_text("Only for colleagues").wait_for()
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.locator("article.note", has_text="He called twice").wait_for()
    assert _now(key, ticket)["reply_count"] == 0
