"""The bar that changes the selected tickets, at the width of a small laptop."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant, wait_until

# How far apart the middles of what is shown are, in pixels.
_LINES = """(bar) => {
  const shown = [...bar.children].filter((each) => each.getClientRects().length);
  const middles = shown.map((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    return Math.round((top + bottom) / 2);
  });
  return Math.max(...middles) - Math.min(...middles);
}"""

TICKETS = "/api/v1/external/tickets"


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
@pytest.mark.prove
def test_the_bulk_bar_is_one_line_in_each_language(
    opened: Callable[..., Window], tenant: Tenant, language: str
) -> None:
    tenant.admin().post("/api/v1/teams", {"name": "Returns"})
    tenant.key().ticket()
    window = opened(locale=language)
    window.enter(tenant.admin_email, PASSWORD)
    window.page.set_viewport_size({"width": 1280, "height": 720})
    window.page.goto(INBOX)
    bar = window.page.locator(".bulk")
    assert bar.evaluate(_LINES) < 10
    window.page.locator("[name=ticket]").first.check()
    assert bar.evaluate(_LINES) < 10


@pytest.mark.prove
def test_a_change_concerns_all_tickets_of_a_view(window: Window, tenant: Tenant) -> None:
    key = tenant.key()
    for number in range(52):
        priority = "high" if number < 2 else "medium"  # those of the second page
        key.ticket(subject=f"Bowl {number}", tags=["kiln"], priority=priority)
    untouched = key.ticket(subject="Vase")["id"]
    page = window.page
    page.goto(f"{INBOX}?status=open&tag=kiln")
    page.locator("[data-all]").check()
    page.get_by_text("50 selected").wait_for()
    whole = page.get_by_role("button", name="All of this view")
    whole.evaluate("(button) => { button.click(); button.click(); }")
    page.get_by_text("52 selected").wait_for()
    expect(page.locator("[name=ticket]")).to_have_count(52)  # each once
    for priority in ("low", "urgent"):  # the second one while the first one runs
        page.locator("[data-bulk] [data-field=priority]").select_option(priority)
    page.get_by_text("52 tickets were changed").wait_for()
    wait_until(lambda: len(key.get(f"{TICKETS}?priority=urgent&per_page=100").json()["data"]) == 52)
    page.goto(f"{INBOX}?status=open&tag=kiln")
    page.locator("[data-all]").check()
    window.touch(whole)
    page.get_by_text("52 selected").wait_for()
    expect(page.locator("#list a:focus")).to_have_count(1)
    window.touch(page.get_by_role("button", name="Resolve", exact=True))
    page.get_by_text("52 tickets were changed").wait_for()
    opened = key.get(f"{TICKETS}?status=open").json()["data"]
    assert [each["id"] for each in opened] == [untouched]
    window.touch(page.get_by_role("button", name="Undo"))
    page.get_by_text("52 tickets are as before").wait_for()
    assert len(key.get(f"{TICKETS}?status=open&per_page=100").json()["data"]) == 53


def test_shift_selects_neighbours_and_a_tag_is_taken_off_them(
    window: Window, tenant: Tenant
) -> None:
    key = tenant.key()
    tickets = [key.ticket(subject=f"Bowl {n}", tags=["Kiln", "vip"])["id"] for n in range(5)]
    page = window.page
    page.goto(INBOX)
    picks = page.locator("[name=ticket]")
    picks.nth(0).click()
    picks.nth(2).click(modifiers=["Shift"])
    page.get_by_text("3 selected").wait_for()
    picks.nth(0).click()
    picks.nth(1).click()
    page.keyboard.press("J")
    page.get_by_text("2 selected").wait_for()
    page.keyboard.press("J")
    page.get_by_text("3 selected").wait_for()
    page.keyboard.press("t")
    page.keyboard.type("kil")
    page.get_by_role("option", name="Remove “Kiln”").click()
    page.get_by_text("3 tickets were changed").wait_for()
    shown = {each["id"]: each["tags"] for each in key.get(TICKETS).json()["data"]}
    kept = ["Kiln", "vip"]
    assert [shown[each] for each in tickets] == [kept, ["vip"], ["vip"], ["vip"], kept]
    page.keyboard.press("z")
    page.get_by_text("3 tickets are as before").wait_for()
    assert all(each["tags"] == ["Kiln", "vip"] for each in key.get(TICKETS).json()["data"])


def test_selected_tickets_are_merged_into_the_oldest(window: Window, tenant: Tenant) -> None:
    key, page = tenant.key(), window.page
    ann, other_ann = ({"email": f"{n}@bulk.test", "name": "Ann"} for n in ("one", "two"))
    tickets = [key.ticket(subject=f"Bowl {n}", customer=ann)["id"] for n in range(3)]
    strange = key.ticket(customer=other_ann)["id"]
    page.goto(INBOX)
    page.locator("[data-all]").check()
    with page.expect_event("dialog"):  # which the window refuses
        page.keyboard.press("m")
    assert window.complaints.pop().endswith("of different customers. Merge them?")
    page.locator(f"[name=ticket][value='{strange}']").uncheck()
    page.keyboard.press("m")
    page.get_by_text("2 tickets were changed").wait_for()
    into = [each["merged_into_id"] for each in key.get(f"{TICKETS}?sort=asc").json()["data"]]
    assert into == [None, tickets[0], tickets[0], None]
    page.keyboard.press("z")
    page.get_by_text("2 tickets are as before").wait_for()
    into = [each["merged_into_id"] for each in key.get(f"{TICKETS}?sort=asc").json()["data"]]
    assert into == [None] * 4


def test_a_macro_answers_the_selected_tickets(window: Window, tenant: Tenant) -> None:
    tenant.admin().post("/api/v1/macros", {"name": "Sold out", "shortcut": "sold", "body": "Gone."})
    key, page = tenant.key(), window.page
    tickets = [key.ticket(subject=f"Bowl {n}")["id"] for n in range(2)]
    page.goto(INBOX)
    page.locator("[data-all]").check()
    page.keyboard.press(";")
    page.get_by_role("heading", name="Use a macro on 2 tickets").wait_for()
    page.get_by_label("Macro").select_option("Sold out ;sold")
    window.touch(page.get_by_role("button", name="Show what it does"))
    page.get_by_text("Gone.").wait_for()
    window.touch(page.get_by_role("button", name="Send 2 replies"))
    page.get_by_text("“Sold out” was used on 2 tickets").wait_for()
    for each in tickets:
        listed = key.get(f"{TICKETS}/{each}/replies").json()["data"]
        assert [reply["body"] for reply in listed] == ["Gone."]
