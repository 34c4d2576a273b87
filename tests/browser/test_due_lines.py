"""What is due by an SLA policy, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from sealdesk.web.pages.durations import due_text
from tests.browser.chromium import Window
from tests.support.service import Tenant

NOW_MS = 1_800_000_000_000
# What a script writes into a line that is due, with the clock at some time.
_SHOWN_DUE = """([now, due]) => {
  const real = Date.now, line = document.createElement("span");
  line.innerHTML = `<time class="due" datetime="${new Date(due).toISOString()}"></time>`;
  Date.now = () => now;
  showDue(line.firstChild);
  Date.now = real;
  return [line.textContent, line.className];
}"""
# Where the text of an element begins in its row.
_TEXT_LEFT = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().left - element.closest("li").getBoundingClientRect().left;
}"""


@pytest.mark.prove
def test_due_times_are_counted_down_on_a_ticket_and_in_the_list(
    window: Window, tenant: Tenant
) -> None:
    promised = {"first_response_minutes": 150, "resolution_minutes": 630, "counts": "calendar"}
    made = tenant.admin().post("/api/v1/sla-policies", {"name": "All", **promised})
    assert made.is_success
    ticket, page = tenant.key().ticket(), window.page
    page.goto("/tickets")
    row = page.locator("[data-ticket]")
    expect(row).to_contain_text("First response due 2 h")
    _expect_the_words_of_the_server(page)
    _expect_due_times_are_whole(page)
    _expect_fixed_columns(page)
    page.goto(f"/tickets/{ticket['id']}")
    kinds = page.locator(".kinds")
    height = kinds.evaluate("kinds => kinds.offsetHeight")
    kinds.locator("bdi").evaluate(
        "name => name.textContent = 'Wolfeschlegelsteinhausen '.repeat(9)"
    )
    assert kinds.evaluate("kinds => kinds.offsetHeight") == height, "a long name is cut"
    marks = page.locator("[data-marks]").first
    expect(marks).to_contain_text("First response due 2 h")
    expect(marks).to_contain_text("Resolution due 10 h")


def _expect_the_words_of_the_server(page: Page) -> None:
    for minutes in (-2880, -61, -1, 1, 59, 60, 2879, 2880):
        due_ms = NOW_MS + minutes * 60_000
        shown = page.evaluate(_SHOWN_DUE, [NOW_MS, due_ms])
        is_late = "late" if minutes <= 0 else "turn"
        assert shown == [due_text(due_ms * 1000, NOW_MS * 1000), is_late]


def _expect_due_times_are_whole(page: Page) -> None:
    said = page.locator(".wait time")
    said.evaluate("time => time.textContent = '59 Min. zu spät'")  # the longest, in German
    for width in (1440, 1280, 1024, 768):
        page.set_viewport_size({"width": width, "height": 900})
        assert said.evaluate("time => time.scrollWidth - time.clientWidth") <= 0, width


def _expect_fixed_columns(page: Page) -> None:
    """What a row says about its ticket does not move who has it."""
    page.set_viewport_size({"width": 1440, "height": 900})
    face, said = page.locator(".face"), page.locator(".wait time")
    places = []
    for text in ("due 1 h", "late 8800 d"):
        said.evaluate("(time, text) => time.textContent = text", text)
        places.append(face.bounding_box())
    assert places[0] == places[1]
    name = page.locator(".tickets > li > bdi")
    name.evaluate("name => name.textContent = '\u05de\u05e9\u05d4'")
    assert name.evaluate(_TEXT_LEFT) == pytest.approx(name.evaluate("e => e.offsetLeft"), abs=1)
