"""Macros are picked in the palette or typed as a shortcut, and go along with the reply."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Tenant
from tests.tickets.macros import made

TICKETS = "/api/v1/external/tickets"


@pytest.mark.layout
def test_macros_are_previewed_put_in_and_sent(window: Window, tenant: Tenant) -> None:
    page, key, admin = window.page, tenant.key(), tenant.admin()
    ticket = key.ticket(
        subject="Two bowls", customer={"email": "m@example.test", "name": "Maria Lindgren"}
    )
    body = "Hello {{customer.first_name}}, #{{ticket.number}}\nis under way."
    refund = made(
        admin, name="Refund", body=body, priority="urgent", tags=["refund"], status="pending"
    )
    made(admin, name="Greeting", shortcut="bye", body="Best wishes")
    page.goto(f"{INBOX}/{ticket['id']}")
    reply = page.get_by_label("Your reply")
    window.touch(reply)  # narrow windows show what is below it then
    window.touch(page.get_by_role("button", name="Macros", exact=True))
    page.keyboard.type("ref")
    preview = page.locator("#palette [data-preview]")
    preview.get_by_text("Hello Maria").wait_for()
    expect(preview).to_contain_text("Priority: Urgent")
    held: list[Route] = []
    page.route("**/macro/*", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request("**/macro/*"):
        page.keyboard.press("Enter")
    page.keyboard.type(" See you")  # while it comes
    held[0].continue_()
    page.unroute("**/macro/*")
    written = f"Hello Maria, #{ticket['number']}\nis under way. See you"
    expect(reply).to_have_value(written)
    # Nothing is saved; what was chosen can be taken back.
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket
    expect(page.get_by_label("Priority", exact=True)).to_have_value("urgent")
    tags = page.get_by_role("group", name="Tags")
    expect(tags.get_by_text("Goes along with your reply.")).to_be_visible()
    state, chip = (
        tags.locator("[data-state]").bounding_box(),
        tags.locator(".tag").last.bounding_box(),
    )
    assert state and chip and state["y"] >= chip["y"] + chip["height"], "it covers the tags"
    expect(page.get_by_role("checkbox", name="refund")).to_be_checked()
    expect(page.locator("#said")).to_contain_text("Priority: Urgent")
    tags.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("checkbox", name="refund")).not_to_be_checked()
    # A shortcut behind other text, and one that does not exist.
    reply.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" ;nothing ;BYE ")
    expect(reply).to_have_value(f"{written} ;nothing Best wishes")
    page.keyboard.press("Control+z")
    expect(reply).to_have_value(f"{written} ;nothing ;BYE")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.locator("article", has_text=";nothing ;BYE").wait_for()
    sent = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    assert (sent["priority"], sent["tags"], sent["status"]) == ("urgent", [], "pending")
    assert _draft(page) is None
    page.keyboard.press(";")
    page.keyboard.type("refund")
    admin.delete(f"/api/v1/macros/{refund['id']}")
    page.keyboard.press("Enter")
    page.get_by_text("This macro no longer exists.").wait_for()


@pytest.mark.mouse
def test_a_macro_that_comes_late_is_not_for_the_next_ticket(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    made(tenant.admin(), name="Refund", shortcut="ref", body="Refunded.", priority="urgent")
    for subject in ("Second", "First"):
        key.ticket(subject=subject)
    page.goto(INBOX)
    window.follow("First")
    held: list[Route] = []
    page.route("**/macro/*", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request("**/macro/*"):
        page.keyboard.press("r")
        page.keyboard.type(";ref ")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.get_by_role("heading", name="Second").wait_for()
    with page.expect_event("requestfinished", lambda each: "/macro/" in each.url):
        held[0].continue_()
    expect(page.get_by_label("Priority", exact=True)).to_have_value("medium")


def _draft(page: Page) -> str | None:
    found: str | None = page.evaluate(
        "Object.keys(localStorage).find((key) => key.startsWith('draft ')) ?? null"
    )
    return found


@pytest.mark.prove
def test_the_files_of_a_macro_go_along_with_the_reply(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket(subject="Two bowls")
    page.goto("/settings/macros/new")
    page.get_by_label("Name").fill("Care")
    page.get_by_label("Shortcut", exact=True).fill("care")
    page.get_by_label("Text").fill("See the card.")
    card = {"name": "card.txt", "mimeType": "text/plain", "buffer": b"by hand"}
    page.locator("main input[type=file]").set_input_files(card)  # type: ignore[arg-type]
    page.get_by_role("link", name="card.txt").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The macro “Care” is added.").wait_for()
    page.goto(f"{INBOX}/{ticket['id']}")
    page.get_by_label("Your reply").focus()
    page.keyboard.type(";care ")
    files = page.get_by_role("list", name="Files to send")
    expect(files).to_contain_text("card.txt")
    expect(page.locator("#said")).to_contain_text("Files to send: card.txt")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    (reply,) = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    assert (reply["body"], reply["attachments"][0]["name"]) == ("See the card.", "card.txt")
