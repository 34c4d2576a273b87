"""A public reply that leaves in ten seconds is undone by key, or leaves while one goes on."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.client import Key
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

TICKETS = "/api/v1/external/tickets"
FAILED = "SELECT id FROM held_replies WHERE tenant_id = :tenant AND failed_at IS NOT NULL LIMIT 1"


@pytest.fixture
def held(window: Window, tenant: Tenant) -> Iterator[Page]:
    """A page of a desk that holds replies, and whose clock tests move: machines may be slow."""
    tenant.service.clock.stop()
    window.page.goto("/settings/replies")
    window.page.get_by_label("Public replies can be undone").check()
    window.page.get_by_role("button", name="Save").click()
    window.page.get_by_text("Saved.").wait_for()
    yield window.page
    tenant.service.clock.go_on()


def bodies(key: Key, ticket: dict[str, Any]) -> list[str]:
    listed = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    return [each["body"] for each in listed]


def test_a_reply_is_undone_by_key_and_then_leaves(held: Page, tenant: Tenant) -> None:
    page, key = held, tenant.key()
    first, second = (key.ticket(subject=f"Order {number}") for number in (1, 2))
    page.goto(INBOX)
    page.keyboard.press("j")
    with page.expect_navigation():  # keys before it would be lost
        page.keyboard.press("Enter")
    page.keyboard.press("r")
    page.keyboard.type("It is on its way")
    with page.expect_navigation():
        page.keyboard.press("Control+Shift+Enter")
    page.get_by_role("heading", name="Order 1").wait_for()
    expect(page.locator("#held")).to_contain_text(f"Your reply to #{second['number']} leaves in")
    assert (
        page.evaluate("Object.keys(localStorage).filter((k) => k.startsWith('draft')).length") == 0
    )
    with page.expect_navigation():
        page.keyboard.press("z")
    page.get_by_role("heading", name="Order 2").wait_for()
    expect(page.get_by_label("Your reply")).to_have_value("It is on its way")
    expect(page.locator("#held")).to_have_count(0)
    # Nothing was typed by the key, and the next one works at once.
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type("!")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Your reply")).to_have_value("")
    expect(page.locator("#held")).to_be_focused()
    assert bodies(key, second) == []
    tenant.service.clock.advance(10)
    page.locator("article", has_text="It is on its way!").wait_for()  # in place
    expect(page.locator("#held")).to_have_count(0)
    assert (bodies(key, first), bodies(key, second)) == ([], ["It is on its way!"])


@pytest.mark.prove
def test_without_scripts_a_reply_is_undone_too(
    held: Page, opened: Callable[..., Window], tenant: Tenant
) -> None:
    ticket = tenant.key().ticket(subject="Order")
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    window.page.goto(f"{INBOX}/{ticket['id']}")
    window.page.get_by_label("Your reply").fill("Too early")
    window.send_reply()
    window.page.get_by_text("leaves in 10 s").wait_for()
    window.press("Undo")
    expect(window.page.get_by_label("Your reply")).to_have_value("Too early")


@pytest.mark.prove
def test_what_leaves_and_what_could_not_is_accessible(
    opened: Callable[..., Window], tenant: Tenant, held: Page
) -> None:
    key = tenant.key()
    ticket = key.ticket(subject="Order")
    window = opened(reduced_motion="reduce")
    window.enter(tenant.admin_email, PASSWORD)
    looker, page = Looker(window, "both"), window.page
    page.goto(f"{INBOX}/{ticket['id']}")
    page.get_by_label("Your reply").fill("Text")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("#held").wait_for()
    found = looker.look("a reply that leaves")
    page.goto(INBOX)  # the page of a ticket that is closed loads itself again
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "closed"})
    tenant.service.clock.advance(11)
    while not tenant.service.rows(FAILED, tenant=tenant.id):
        page.wait_for_timeout(50)
    page.goto(f"{INBOX}/{ticket['id']}")
    page.get_by_text("The ticket was closed meanwhile.").wait_for()
    found += looker.look("a reply that could not leave")
    assert "\n".join(found) == ""
