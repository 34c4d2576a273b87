"""Pages that are open while something happens, without polling."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.service import PASSWORD, Tenant, wait_until

TICKETS = "/api/v1/external/tickets"
_NO_POLLS = "window.setInterval = () => 0"
_HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def window(opened: Callable[..., Window], tenant: Tenant) -> Window:
    """A window of the administrator, whose pages have no timers that repeat."""
    window = opened(reduced_motion="reduce")  # windows of their own
    window.context.add_init_script(_NO_POLLS)
    window.enter(tenant.admin_email, PASSWORD)
    return window


def open_inbox(window: Window, query: str = "") -> None:
    window.page.goto(f"/tickets{query}")
    wait_for_stream(window)


def wait_for_stream(window: Window) -> None:
    wait_until(lambda: bool(window.page.evaluate("isLive()")))
    window.page.mouse.move(1, 1)


def reply(key: Key, ticket_id: str, body: str) -> None:
    new = {"body": body, "author": {"type": "customer"}}
    assert key.post(f"{TICKETS}/{ticket_id}/replies", new).status_code == 201


def test_a_new_ticket_is_in_the_list_at_once(window: Window, tenant: Tenant) -> None:
    key = tenant.key()
    key.ticket(subject="There before")
    open_inbox(window)
    key.ticket(subject="A new one")
    window.page.get_by_role("link", name="A new one").wait_for()
    window.page.get_by_role("link", name="Open 2").wait_for()


def test_a_change_of_a_listed_ticket_is_in_the_list_at_once(window: Window, tenant: Tenant) -> None:
    key = tenant.key()
    ticket = key.ticket(subject="Cracked bowls")
    open_inbox(window)
    key.patch(f"{TICKETS}/{ticket['id']}", {"priority": "urgent"})
    window.page.locator("[data-ticket]").get_by_text("Urgent").wait_for()


def test_a_list_in_use_is_not_replaced_but_a_line_says_what_has_changed(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket(subject="Cracked bowls")
    open_inbox(window)
    page.locator(".pick").first.check()
    reply(key, ticket["id"], "And now?")
    page.get_by_role("link", name="1 ticket is new or changed. Show it.").wait_for()
    key.ticket(subject="Another")
    page.get_by_role("link", name="2 tickets are new or changed. Show them.").wait_for()
    assert page.locator(".pick:checked").count() == 1
    assert page.locator("[data-ticket]").count() == 1


def test_the_title_counts_what_is_new_in_the_background(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket()
    open_inbox(window)
    page.evaluate(_HIDE, True)
    key.ticket()
    wait_until(lambda: page.title().startswith("(1) Tickets"))
    reply(key, ticket["id"], "And now?")
    wait_until(lambda: page.title().startswith("(2) Tickets"))
    page.evaluate(_HIDE, False)
    wait_until(lambda: page.title().startswith("Tickets"))


def test_a_page_without_a_server_says_so_and_goes_on_by_itself(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    key.ticket()
    open_inbox(window)
    window.context.set_offline(True)
    page.evaluate("connect()")
    page.get_by_text("Offline: your text is kept.").wait_for()
    key.ticket(subject="Meanwhile")
    window.context.set_offline(False)
    page.get_by_text("Offline: your text is kept.").wait_for(state="hidden")
    page.get_by_role("link", name="Meanwhile").wait_for()
    window.complaints.clear()


def test_without_a_stream_the_page_polls(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    page.route("**/live?*", lambda route: route.fulfill(status=429))
    key.ticket()
    page.goto("/tickets")
    key.ticket(subject="A new one")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("link", name="A new one").wait_for()
    assert not page.evaluate("isLive()")


def test_a_log_out_elsewhere_ends_the_stream(window: Window, tenant: Tenant) -> None:
    tenant.key().ticket()
    open_inbox(window)
    window.page.context.request.get("/healthz")
    form = window.page.locator("form.account-links")
    token = form.locator("[name=form_token]").get_attribute("value")
    own = {"form_token": token or ""}
    window.page.evaluate(
        "(form) => fetch('/log-out', {method: 'POST', body: new URLSearchParams(form)})", own
    )
    wait_until(lambda: not window.page.evaluate("isLive()"))
