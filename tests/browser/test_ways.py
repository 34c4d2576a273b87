"""The ways through a page: skip links, rows as links, and where the focus is after an answer."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from sealdesk.tickets.pages import view_model
from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.receiver import Receiver
from tests.support.service import Tenant

_FOCUSED = "document.activeElement"


def _tabs_until(page: Page, condition: str) -> int:
    """How often Tab is pressed until the focused element meets a condition."""
    for count in range(1, 20):
        page.keyboard.press("Tab")
        if page.evaluate(f"(({condition})({_FOCUSED}))"):
            return count
    raise AssertionError("It is more than 19 tabs away.")


@pytest.mark.prove
def test_the_list_the_bulk_bar_and_the_composer_are_few_tabs_away(
    window: Window, tenant: Tenant
) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    page.goto(INBOX)
    to_link = _tabs_until(page, "(each) => each.hash === '#rows'")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#rows'")
    to_row = _tabs_until(page, "(each) => each.matches('[data-ticket] .url')")
    page.goto(INBOX)
    to_bulk = _tabs_until(page, "(each) => each.hash === '#bulk'")
    page.keyboard.press("Enter")
    expect(page.locator("#bulk")).to_be_focused()
    page.goto(f"{INBOX}/{ticket['id']}")
    to_reply = _tabs_until(page, "(each) => each.hash === '#reply'")
    page.keyboard.press("Enter")
    expect(page.locator("#reply")).to_be_focused()
    assert (to_link + to_row, to_bulk, to_reply) == (4, 3, 2)


@pytest.mark.prove
def test_every_row_of_a_list_is_a_link(window: Window, tenant: Tenant, receiver: Receiver) -> None:
    page, key = window.page, tenant.key()
    me = tenant.admin().get("/api/v1/auth/me").json()["data"]["id"]
    ticket = key.ticket(assignee_id=me)
    webhook = window.add_endpoint(receiver.url)
    tenant.admin().post(f"/api/v1/webhooks/{webhook.rpartition('/')[2]}/test")
    lists = {
        INBOX: "/tickets/", "/customers": "/customers/", "/settings/api-keys": "/api-keys/",
        "/settings/webhooks": "/webhooks/", webhook: "/deliveries/", "/settings/people": "/people/",
        f"/customers/{ticket['customer']['id']}": "/tickets/", "/notifications": "/tickets/",
    }  # fmt: skip
    for path, goal in lists.items():
        page.goto(path)
        row = page.locator(".list > li, .list > tbody > tr").first
        box = row.bounding_box()
        assert box is not None
        with page.expect_navigation():
            row.click(position={"x": box["width"] * 0.6, "y": 3})
        assert goal in page.url, path


@pytest.mark.prove
def test_after_an_answer_the_focus_is_on_what_was_said_or_where_it_was(
    window: Window, tenant: Tenant, receiver: Receiver
) -> None:
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    webhook = window.add_endpoint(receiver.url)
    page.goto(webhook)
    window.press("Pause")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.goto("/account")
    window.press("Change the name")
    expect(page.get_by_text("Your name is changed.")).to_be_focused()
    page.goto(f"{INBOX}/views/new?priority=high")
    page.get_by_label("Name").fill("Hot")
    window.press("Save the view")
    page.goto(f"{INBOX}/views")
    window.press("Rename")
    expect(page.get_by_role("button", name="Rename")).to_be_focused()
    page.goto("/settings/api-keys/new")
    page.get_by_label("Name").fill("Shop")
    page.get_by_label("Allowed addresses").fill("everywhere")
    window.press("Create the key")
    expect(page.get_by_label("Allowed addresses")).to_be_focused()
    page.goto("/settings/rules/new")
    page.get_by_label("Name").fill("VIP first")
    window.press("Save")
    expect(page.get_by_text("Choose at least one thing that the rule does.")).to_be_focused()
    page.get_by_label("Field", exact=True).first.select_option("priority")
    page.get_by_label("Values").first.fill("enormous")
    page.get_by_label("Raise the priority by one").check()
    window.press("Save")
    expect(page.get_by_label("Values").first).to_be_focused()
    page.goto(f"{INBOX}/{ticket['id']}")
    page.get_by_label("Your reply").fill("On its way")
    window.send_reply()
    expect(page.locator("article", has_text="On its way")).to_be_focused()
    page.goto("/account")
    window.press("Deutsch")
    expect(page.get_by_role("button", name="Deutsch")).to_be_focused()


@pytest.mark.parametrize("place", ["a ticket", "a new ticket", "the list"])
@pytest.mark.prove
def test_among_more_people_than_a_field_lists_one_is_searched_for(
    window: Window, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    eve = tenant.user("agent", name="Évelyne Roux")
    tenant.user("agent", name="Newest")
    page, ticket = window.page, tenant.key().ticket(subject="Order")
    monkeypatch.setattr(view_model, "ASSIGNEES", 1)
    at = {"a ticket": f"{INBOX}/{ticket['id']}", "a new ticket": f"{INBOX}/new", "the list": INBOX}
    page.goto(at[place])
    if place == "the list":
        page.keyboard.press("j")
    field = page.locator("main form:not(.filters)").get_by_label("Assigned to", exact=True)
    field.focus()
    field.select_option(label="Search for somebody …")
    page.keyboard.type("évelyne")
    page.locator("#palette").get_by_role("option", name="Évelyne Roux").click()
    if place == "a new ticket":
        expect(field).to_have_value(eve)
        # It is still chosen when the form comes back with an error.
        page.get_by_label("E-mail address of the customer").fill("ann@localhost")
        page.get_by_label("Subject").fill("Order")
        page.get_by_label("Description").fill("Where is it?")
        window.press("Open the ticket")
        expect(field).to_have_value(eve)
        return
    page.get_by_text("Undo").first.wait_for()
    stored = tenant.key().get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]
    assert stored["assignee_id"] == eve


_LOOK = """() => {
  const style = (each, part) => getComputedStyle(each, part);
  const main = document.querySelector("main");
  const tabs = document.querySelector(".tabs");
  return {
    width: style(main).maxWidth,
    bold: [...main.querySelectorAll(".tickets .url")].map((each) => Number(style(each).fontWeight)),
    gaps: [...main.querySelectorAll("div > .message")].map((each) => {
      const before = each.previousElementSibling ?? each.parentElement.previousElementSibling;
      return each.getBoundingClientRect().top - before.getBoundingClientRect().bottom;
    }),
    hint: tabs && tabs.scrollWidth > tabs.clientWidth ? style(tabs).maskImage : "",
    states: [...new Set([...document.querySelectorAll(".tickets .state")].map(
      (each) => `${style(each).color} ${style(each).backgroundColor}`))].length,
    marks: [...main.querySelectorAll(".priority")].map(
      (each) => [each.textContent.trim(), style(each, "::before").backgroundImage !== "none"]),
  };
}"""


@pytest.mark.prove
def test_pages_have_one_width_and_bold_and_colours_have_a_meaning(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    window = opened()
    window.enter(tenant.admin_email, "correct horse battery staple")
    page, key = window.page, tenant.key()
    first = key.ticket(subject="Read", priority="low")
    for status in ("pending", "on_hold", "resolved", "closed"):
        ticket = key.ticket(subject=f"Unread {status}", priority="high")
        key.patch(f"/api/v1/external/tickets/{ticket['id']}", {"status": status})
    for body in ("One", "Two"):
        key.post(f"/api/v1/external/tickets/{first['id']}/replies", {"body": body})
    page.goto(f"{INBOX}/{first['id']}")
    look = page.evaluate(_LOOK)
    assert len(look["gaps"]) == 2 and all(gap >= 12 for gap in look["gaps"])
    page.goto(f"{INBOX}?status=all")
    wide = page.evaluate(_LOOK)
    assert sorted({*wide["bold"]}) == [400, 600]
    assert wide["bold"].count(400) == 1
    assert wide["states"] == 5
    assert sorted({*map(tuple, wide["marks"])}) == [("High", True), ("Low", True)]
    paths = ("/customers", "/account", "/settings/audit", "/settings/webhooks/new", f"{INBOX}/new")
    widths = {page.goto(path) and page.evaluate(_LOOK)["width"] for path in paths}
    assert (widths, look["width"], wide["width"]) == ({"1088px"}, "none", "none")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{INBOX}?status=all")
    assert "gradient" in page.evaluate(_LOOK)["hint"]


@pytest.mark.parametrize(
    ("path", "choice", "needed_by", "label"),
    [
        ("/settings/rules/new", "trigger", "unchanged", "Hours without a change"),
        ("/reports?period=week", "period", "own", "Until"),
    ],
)
@pytest.mark.prove
def test_a_field_that_one_choice_needs_is_shown_with_it(
    window: Window, path: str, choice: str, needed_by: str, label: str
) -> None:
    page = window.page
    page.goto(path)
    field = page.get_by_label(label)
    expect(field).to_be_hidden()
    page.locator(f"select[name={choice}]").select_option(needed_by)
    expect(field).to_be_visible()


@pytest.mark.prove
def test_days_and_hours_of_a_report_are_written_as_dates_elsewhere(window: Window) -> None:
    for query in ("period=month", "period=day&step=hour", "period=week&step=hour"):
        window.page.goto(f"/reports?{query}")
        assert re.findall(r"\d+-\d\d", window.page.locator("main").text_content() or "") == []
    window.page.goto("/reports?day=2027-03-28&period=day&step=hour")
    numbers = window.page.locator("tbody th")
    expect(numbers.first).to_have_text("28 Mar 2027, 00:00")
    heights = "[...document.querySelectorAll('th')].map((each) => each.offsetHeight)"
    assert max(window.page.evaluate(heights)) < 80, "no word is broken into its letters"
