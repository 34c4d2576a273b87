"""Answering a ticket in a real browser: by keyboard, with a draft, beside a colleague."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Service, Tenant

TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket(description='Cracked. https://example.test/a.')['id']}"


def _replies(desk: Service, at: str) -> list[str]:
    sql = "SELECT body FROM replies WHERE ticket_id = :id ORDER BY id LIMIT 10"
    return [row[0] for row in desk.rows(sql, id=at.rpartition("/")[2])]


def _saved(page: Page, field: str) -> None:
    """Wait until a field says that it is saved."""
    page.locator(f"[data-field={field}]").get_by_text("Saved", exact=True).wait_for()


def test_a_ticket_opens_at_its_newest_message_with_customer_and_composer_in_view(
    window: Window, tenant: Tenant, at: str
) -> None:
    page, key = window.page, tenant.key()
    for n in range(12):
        key.post(f"/api/v1/external{at}/replies", {"body": f"Reply {n}"})
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(at)
    page.wait_for_function("scrollY > 0")
    for seen in (
        page.locator("article", has_text="Reply 11"),
        page.locator(".customer h2"),
        page.locator("#composer button.main"),
    ):
        expect(seen).to_be_in_viewport(ratio=1)
    # The message ends above the composer.
    bottom = page.locator("article", has_text="Reply 11").evaluate(
        "each => each.getBoundingClientRect().bottom"
    )
    top = page.locator("#composer").evaluate("each => each.getBoundingClientRect().top")
    assert bottom <= top
    # The ways to send are in a menu, which a click elsewhere closes.
    also = page.locator(".way", has_text="Send and resolve")
    expect(also).to_be_hidden()
    page.get_by_label("Other ways to send").click()
    expect(also).to_be_visible()
    page.get_by_label("Your reply").click()
    expect(also).to_be_hidden()


def test_on_a_phone_one_line_of_the_composer_is_docked_until_one_writes(
    window: Window, tenant: Tenant, at: str
) -> None:
    page, key = window.page, tenant.key()
    for n in range(12):
        key.post(f"/api/v1/external{at}/replies", {"body": f"Reply {n}"})
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(at)
    text, send = page.get_by_label("Your reply"), page.locator("#composer button.main")
    for seen in (page.locator("article", has_text="Reply 11"), text):
        expect(seen).to_be_in_viewport(ratio=1)
    expect(send).to_be_hidden()
    text.click()
    expect(send).to_be_in_viewport(ratio=1)
    text.fill("On its way.")
    page.locator("h1").click()  # with a text it stays whole
    expect(send).to_be_in_viewport(ratio=1)


def test_a_ticket_is_answered_by_keyboard_and_the_draft_survives(
    window: Window, tenant: Tenant, desk: Service, at: str
) -> None:
    page = window.page
    page.goto(at)
    page.keyboard.press("?")
    page.get_by_role("heading", name="Shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Shortcuts").wait_for(state="hidden")
    page.keyboard.press("r")
    page.keyboard.type("We are looking for it")
    page.reload()
    field = page.get_by_label("Your reply")
    expect(field).to_have_value("We are looking for it")
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type(" now, for real")
    page.get_by_text("Note to colleagues").first.click()
    page.locator("[name=status][value=pending]").dispatch_event("click")
    window.context.clear_cookies()
    window.send_reply()
    window.log_in_again(tenant.admin_email, PASSWORD)
    window.follow("Back without sending")
    expect(field).to_have_value("We are looking for it now, for real")
    expect(page.get_by_label("Note to colleagues")).to_be_checked()
    expect(page.get_by_text("Draft, not sent")).to_be_visible()
    expect(page.locator("#composer button.main")).to_have_text(
        "Add note · Pending", use_inner_text=True
    )
    window.touch(page.locator(".kind").first)
    with page.expect_navigation():  # the old page may show the reply, too
        field.press("Control+Enter")
    page.locator("article", has_text="for real").wait_for()
    expect(field).to_have_value("")
    assert page.url.partition("?")[0].partition("#")[0].endswith(at)
    page.goto(at)
    expect(field).to_have_value("")
    assert _replies(desk, at) == ["We are looking for it now, for real"]


@pytest.mark.mouse  # a phone shows one line of the composer
def test_the_send_button_says_what_it_does_and_remembers_it(
    window: Window, tenant: Tenant, at: str
) -> None:
    page, key = window.page, tenant.key()
    button, menu = page.locator("#composer button.main"), page.locator(".sends summary")
    page.goto(at)
    expect(button).to_have_text("Send", use_inner_text=True)
    page.get_by_label("Your reply").fill("Which colour?")
    menu.click()
    page.get_by_label("Remember my last choice").check()
    page.locator(".way", has_text="Send, wait for").click()
    page.locator("article", has_text="Which colour?").wait_for()
    assert key.get(f"/api/v1/external{at}").json()["data"]["status"] == "pending"
    another = key.ticket(subject="Another")["id"]
    page.goto(f"/tickets/{another}")
    expect(button).to_have_text(re.compile("Send, wait for"), use_inner_text=True)
    for kind, says in ((1, "Add note"), (0, re.compile("Send, wait for"))):  # not for notes
        window.touch(page.locator(".kind").nth(kind))
        expect(button).to_have_text(says, use_inner_text=True)
    tenant.user("agent", email := f"eve.of.{tenant.id}@example.test", "Eve")
    for person, says in ((email, "Send"), (tenant.admin_email, re.compile("Send, wait for"))):
        window.enter(person, PASSWORD)
        page.goto(f"/tickets/{another}")
        expect(button).to_have_text(says, use_inner_text=True)
    menu.click()
    page.get_by_label("Remember my last choice").uncheck()
    page.get_by_label("Your reply").fill("Blue?")
    window.send_reply()
    page.locator("article", has_text="Blue?").wait_for()
    assert key.get(f"/api/v1/external/tickets/{another}").json()["data"]["status"] == "pending"
    page.goto(at)
    expect(button).to_have_text("Send", use_inner_text=True)


def test_a_colleague_sees_that_a_reply_is_being_written(
    opened: Callable[..., Window], window: Window, tenant: Tenant, at: str
) -> None:
    tenant.user("agent", email := f"eve.of.{tenant.id}@example.test", "Eve")
    eve = opened()
    eve.log_in(email, PASSWORD)
    window.page.goto(at)
    eve.page.goto(at)
    with eve.page.expect_response(f"**{at}/answering?*"):
        eve.page.get_by_label("Your reply").fill("Hello")
    window.page.get_by_label("Your reply").fill("H")
    window.page.get_by_text("Eve\u2069 is replying to").wait_for()
    window.page.reload()
    expect(window.page.get_by_text("is replying to")).to_be_visible()


@pytest.mark.prove
def test_a_ticket_is_triaged_and_its_history_names_the_author(
    window: Window, tenant: Tenant, at: str
) -> None:
    page, key = window.page, tenant.key(name="Shop")
    key.ticket(subject="Where is my saucer?")
    tenant.user("agent", name="Eve")
    for priority in ("high", "low") * 5:
        key.patch(f"{TICKETS}/{at.rpartition('/')[2]}", {"priority": priority})
    page.goto(at)
    # Text is text, but for addresses.
    link = page.get_by_role("link", name="https://example.test/a", exact=True)
    assert link.get_attribute("href") == "https://example.test/a"
    page.get_by_role("link", name="Where is my saucer?").wait_for()
    page.get_by_label("Priority", exact=True).select_option("urgent")
    _saved(page, "priority")
    page.get_by_label("Assigned to", exact=True).select_option("Eve")
    _saved(page, "assignee_id")
    page.get_by_label("Add tags, separated by commas").fill("gift, teapot")
    page.keyboard.press("Enter")
    _saved(page, "tags")
    page.reload()
    window.touch(page.get_by_label("teapot"))
    _saved(page, "tags")
    page.reload()
    expect(page.get_by_label("gift")).to_be_checked()
    expect(page.get_by_label("teapot")).to_have_count(0)
    window.follow("All changes")
    changes = page.locator(".changes li").all_inner_texts()
    assert len(changes) == 14
    assert "Tags: gift, teapot → gift" in changes[0]
    assert "Assigned to: nobody → Eve" in changes[2]
    assert "Shop (API key)" in changes[4] and "Priority: High → Low" in changes[4]


@pytest.mark.prove
def test_without_scripts_concurrent_changes_are_shown_and_not_overwritten(
    opened: Callable[..., Window], tenant: Tenant, at: str
) -> None:
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    page, key, ticket = window.page, tenant.key(name="Shop"), f"{TICKETS}/{at.rpartition('/')[2]}"
    page.goto(at)
    page.get_by_label("Priority", exact=True).select_option("urgent")
    assert key.patch(ticket, {"status": "pending"}).status_code == 200
    window.press("Save")
    window.sees("This ticket has changed since you opened it, so nothing was saved.")
    page.locator(".notice", has_text="Status: Open → Pending").wait_for()
    assert page.get_by_label("Priority", exact=True).input_value() == "urgent"
    window.press("Save")
    assert page.locator(".ticket-head :is(.state, .priority)").all_inner_texts() == [
        "Pending",
        "Urgent",
    ]


def test_a_reply_is_not_sent_past_a_newer_one(window: Window, tenant: Tenant, at: str) -> None:
    page, key, ticket = (
        window.page,
        tenant.key(name="Warehouse"),
        f"{TICKETS}/{at.rpartition('/')[2]}",
    )
    page.route("**/live?*", lambda route: route.fulfill(status=429))
    page.goto(at)
    page.get_by_label("Your reply").fill("On its way.")
    key.post(f"{ticket}/replies", {"body": "And a saucer, please"})
    window.send_reply()
    window.sees("Warehouse answered meanwhile. Your reply was not sent.")
    assert page.get_by_label("Your reply").input_value() == "On its way."
    page.get_by_role("link", name="Look first").click()
    expect(page.get_by_text("And a saucer, please")).to_be_in_viewport()
    window.press("Send anyway")
    page.locator("article", has_text="On its way.").wait_for()


def test_a_printed_ticket_has_no_internal_notes(window: Window, tenant: Tenant, at: str) -> None:
    replies = f"/api/v1/external{at}/replies"
    tenant.key().post(replies, {"body": "Returned to sender"})
    tenant.key().post(replies, {"body": "They always complain", "is_internal": True})
    window.page.goto(at)
    window.page.emulate_media(media="print")
    expect(window.page.get_by_text("Returned to sender")).to_be_visible()
    expect(window.page.get_by_text("They always complain")).to_be_hidden()
