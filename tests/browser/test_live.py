"""Pages that are open while something happens, without polling."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.pages import logged_in
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


@pytest.mark.prove
def test_the_list_beside_a_ticket_is_replaced_and_keeps_its_mark(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    key.ticket(subject="There before")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/tickets")
    with page.expect_navigation():
        page.get_by_role("button", name="Side by side").click()
    page.get_by_role("link", name="There before").click()
    page.get_by_role("heading", name="There before").wait_for()
    wait_for_stream(window)
    key.ticket(subject="A new one")
    page.get_by_role("link", name="A new one").wait_for()
    expect(page.locator("[data-ticket].current")).to_contain_text("There before")
    # The pointer has left the list; it does so again after a change of one's own.
    expect(page.locator("[data-heading]")).to_be_focused()
    page.locator("[data-ticket].current").hover()
    page.keyboard.press("e")
    page.get_by_text("Saved").first.wait_for()
    page.locator("[data-heading]").hover()
    expect(page.locator("#list")).not_to_contain_text("There before")


def test_a_list_in_use_is_not_replaced_but_a_line_says_what_has_changed(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket(subject="Cracked bowls")
    open_inbox(window)
    page.locator("[name=ticket]").first.check()
    reply(key, ticket["id"], "And now?")
    page.get_by_role("link", name="1 ticket is new or changed. Show it.").wait_for()
    key.ticket(subject="Another")
    page.get_by_role("link", name="2 tickets are new or changed. Show them.").wait_for()
    expect(page.locator("[name=ticket]:checked")).to_have_count(1)
    expect(page.locator("[data-ticket]")).to_have_count(1)


def test_a_list_that_is_used_while_a_new_one_comes_is_not_replaced(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    key.ticket(subject="There before")
    open_inbox(window)
    held: list[Route] = []
    page.route("**/tickets", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request("**/tickets"):
        key.ticket(subject="Another")
    page.locator("[name=ticket]").first.check()
    held[0].continue_()
    page.get_by_role("link", name="1 ticket is new or changed. Show it.").wait_for()
    expect(page.locator("[name=ticket]:checked")).to_have_count(1)


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


@pytest.mark.prove
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


def test_what_is_read_again_is_read_once_at_a_time(window: Window, tenant: Tenant) -> None:
    """Otherwise an older response could come after a newer one, and stay."""
    open_inbox(window)
    most = window.page.evaluate("""async () => {
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      let [running, most, done] = [0, 0, 0];
      const again = paced(async () => {
        most = Math.max(most, running += 1);
        await pause(600);
        [running, done] = [running - 1, done + 1];
      });
      for (again(), again(); done < 2;) await pause(20);
      return most;
    }""")
    assert most == 1


def open_ticket(window: Window, ticket_id: str) -> None:
    window.page.goto(f"/tickets/{ticket_id}")
    wait_for_stream(window)


def test_a_reply_of_the_customer_is_on_the_page_at_once_and_a_draft_stays(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket()
    reply(key, ticket["id"], "Hello?")
    open_ticket(window, ticket["id"])
    page.locator("#reply").fill("We are looking into it.")
    page.get_by_role("link", name="Split …").focus()
    reply(key, ticket["id"], "Is anybody there?")
    page.get_by_text("Is anybody there?").wait_for()
    expect(page.get_by_role("link", name="Split …").first).to_be_focused()
    expect(page.locator("#reply")).to_have_value("We are looking into it.")
    # The reply was seen, so it does not stop the answer.
    wait_until(lambda: page.locator("[name=seen]").get_attribute("value") != "")
    page.locator("#composer button.main").click()
    page.locator("[data-renewed=conversation]").get_by_text("We are looking into it.").wait_for()
    # An answer of a colleague does, though it is on the page, too.
    wait_for_stream(window)
    page.locator("#reply").fill("It is on its way.")
    visitor, at = logged_in(tenant), f"/tickets/{ticket['id']}"
    visitor.submit(visitor.get(at).form(f"{at}/reply"), body="It left today.")
    page.get_by_text("It left today.").wait_for()
    page.locator("#composer button.main").click()
    said = page.locator("#composer").get_by_text("answered meanwhile. Your reply was not sent.")
    expect(said).to_be_in_viewport()
    expect(page.locator("#reply")).to_have_value("It is on its way.")


def test_a_changed_field_is_on_the_page_at_once(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket()
    open_ticket(window, ticket["id"])
    key.patch(f"{TICKETS}/{ticket['id']}", {"priority": "urgent", "status": "pending"})
    wait_until(lambda: page.locator("#priority").input_value() == "urgent")
    wait_until(lambda: page.locator("#status").input_value() == "pending")
    page.locator("[data-renewed=marks]").get_by_text("Pending").wait_for()
    page.locator("[data-renewed=conversation]").get_by_text("Urgent").wait_for()


def test_who_looks_and_who_writes_is_shown_and_moves_nothing(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    eve = opened(reduced_motion="reduce")
    eve.enter(agent(tenant, "Eve"), PASSWORD)
    ticket = tenant.key().ticket()
    open_ticket(window, ticket["id"])
    before = window.page.locator("#reply").bounding_box()
    open_ticket(eve, ticket["id"])
    window.page.get_by_text("Eve\u2069 is looking at this ticket.").wait_for()
    eve.page.locator("#reply").fill("I answer")
    window.page.get_by_text("Eve\u2069 is replying to this ticket.").wait_for()
    assert window.page.locator("#reply").bounding_box() == before
    eve.page.locator("#reply").fill("")
    window.page.get_by_text("Eve\u2069 is looking at this ticket.").wait_for()
    eve.page.goto("/tickets")
    window.page.get_by_text("is looking at this ticket.").wait_for(state="hidden")


def agent(tenant: Tenant, name: str) -> str:
    """The address of a new agent."""
    email = f"{name.lower()}.of.{tenant.id}@example.test"
    tenant.user("agent", email, name)
    return email


def test_a_reply_without_a_server_is_sent_by_itself_and_once(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key()
    ticket = key.ticket()
    open_ticket(window, ticket["id"])
    page.locator("#reply").fill("Sent in a tunnel.")
    window.context.set_offline(True)
    page.evaluate("connect()")
    page.locator("#composer button.main").click()
    page.get_by_text("Offline: your text is kept.").wait_for()
    expect(page.locator("#reply")).to_have_value("Sent in a tunnel.")
    window.context.set_offline(False)
    page.locator("[data-renewed=conversation]").get_by_text("Sent in a tunnel.").wait_for()
    listed = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    assert [each["body"] for each in listed] == ["Sent in a tunnel."]
    window.complaints.clear()


def _has_value(field: Locator, value: str) -> bool:
    return field.input_value() == value


def _replies_in(window: Window, texts: set[str]) -> set[str]:
    """Which of these texts the conversation shows."""
    shown = window.page.locator("[data-renewed=conversation]").inner_text()
    return {text for text in texts if text in shown}


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.prove)])
def test_pages_equal_the_database_after_many_changes_at_once(
    window: Window, opened: Callable[..., Window], tenant: Tenant, count: int
) -> None:
    key = tenant.key()
    eve = opened(reduced_motion="reduce")
    eve.enter(agent(tenant, "Eve"), PASSWORD)
    ticket = key.ticket(subject="Cracked bowls")
    for each in (window, eve):
        open_ticket(each, ticket["id"])
    inbox = opened(reduced_motion="reduce")
    inbox.enter(tenant.admin_email, PASSWORD)
    open_inbox(inbox, "?status=all")

    def change(number: int) -> None:
        priority = ("low", "high", "urgent", "medium")[number % 4]
        key.patch(f"{TICKETS}/{ticket['id']}", {"priority": priority})
        if number % 5 == 0:
            reply(key, ticket["id"], f"Reply number {number}.")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(count)))
    key.patch(f"{TICKETS}/{ticket['id']}", {"priority": "low", "tags": ["last"]})
    reply(key, ticket["id"], "The last reply.")
    numbers = {f"Reply number {number}." for number in range(0, count, 5)}
    for each in (window, eve):
        each.page.get_by_text("The last reply.").wait_for()
        priority = each.page.locator("#priority")
        wait_until(partial(_has_value, priority, "low"))
        # Of many entries the newest are shown, as on a page that is loaded now.
        seen = _replies_in(each, numbers)
        each.page.reload()
        assert seen == _replies_in(each, numbers) and len(seen) >= min(len(numbers), 8)
        each.page.locator("[data-renewed=conversation]").get_by_text("last").first.wait_for()
    row = inbox.page.locator("[data-ticket]")
    row.get_by_text("last", exact=True).wait_for(state="attached")  # phones show no tags
    row.get_by_text("Low").wait_for()
