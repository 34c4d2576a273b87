"""What is due by an SLA policy, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Window
from tests.support.service import Tenant

# Where the text of an element begins in its row.
_TEXT_LEFT = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().left - element.closest("li").getBoundingClientRect().left;
}"""


def test_due_times_are_counted_down_on_a_ticket_and_in_the_list(
    window: Window, tenant: Tenant
) -> None:
    promised = {"first_response_minutes": 150, "resolution_minutes": 630, "counts": "calendar"}
    made = tenant.admin().post("/api/v1/sla-policies", {"name": "All", **promised})
    assert made.is_success
    ticket, page = tenant.key().ticket(), window.page
    page.goto("/tickets")
    row = page.locator("[data-ticket]")
    expect(row).to_contain_text("First response due in 2")
    _expect_fixed_columns(page)
    page.goto(f"/tickets/{ticket['id']}")
    kinds = page.locator(".kinds")
    height = kinds.evaluate("kinds => kinds.offsetHeight")
    kinds.locator("bdi").evaluate(
        "name => name.textContent = 'Wolfeschlegelsteinhausen '.repeat(9)"
    )
    assert kinds.evaluate("kinds => kinds.offsetHeight") == height, "a long name is cut"
    marks = page.locator("[data-marks]").first
    expect(marks).to_contain_text("First response due in 2")
    expect(marks).to_contain_text("Resolution due in 10")


def _expect_fixed_columns(page: Page) -> None:
    """What a row says about its ticket does not move who has it."""
    page.set_viewport_size({"width": 1440, "height": 900})
    face, said = page.locator(".face"), page.locator(".wait time")
    places = []
    for text in ("now", "10 months ago"):
        said.evaluate("(time, text) => time.textContent = text", text)
        places.append(face.bounding_box())
    assert places[0] == places[1]
    name = page.locator(".tickets .more > bdi")
    name.evaluate("name => name.textContent = '\u05de\u05e9\u05d4'")
    assert name.evaluate(_TEXT_LEFT) == pytest.approx(name.evaluate("e => e.offsetLeft"), abs=1)
