"""Every width from a small phone to a wide screen, and so zoom up to 200 %."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

# Beside each border of a media query too; 1440 px at 200 % is 720 px.
_WIDTHS = (360, 390, 480, 640, 720, 767, 768, 895, 896, 1023, 1024, 1099, 1100, 1280, 1440, 1920)
# What a page must show at each width: one of these elements each.
_ALWAYS = {
    "the search": ".search > input",
    "a new ticket": ".shell > .button",
    "the ways": ".opens-menu, .rooms > a",
    "its heading": "main h1",
}
_SEEN = """(selector) => [...document.querySelectorAll(selector)].some((each) => {
  const { width, height } = each.getBoundingClientRect();
  return each.checkVisibility() && width > 8 && height > 8;
})"""
# Controls whose middle is of another element, or whose words have a letter on each line.
# What scrolls by itself or under a bar is left out.
_COVERED = """() => {
  const wrong = [], wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`is ${wide} wide`);
  for (const each of document.querySelectorAll(
    ".shell > :is(a, button, form input), main :is(a, button, input, select, summary)"
  )) {
    const { left, top, width, height } = each.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (each.textContent.trim().length > 2 && width < 48 && height > 70) {
      wrong.push(`narrow: ${each.outerHTML.slice(0, 100)}`);
    }
    if (!each.checkVisibility() || width < 8 || height < 8 || y > innerHeight || y < 0) continue;
    if (each.closest(".tabs, .acts, .scroll, [popover], .kind, .tickets")) continue;
    const hit = document.elementFromPoint(x, y);
    const isOwn = hit && (each.contains(hit) || hit.contains(each)
      || hit.closest("label")?.control === each);
    if (hit && !isOwn && !hit.closest(".composer, .ticket-bar, .said, .bulk, .shell")) {
      wrong.push(`${each.outerHTML.slice(0, 100)} below ${hit.outerHTML.slice(0, 80)}`);
    }
  }
  const ends = [...document.querySelectorAll(".ticket-bar :is(a, button, .place)")]
    .filter((each) => each.checkVisibility()).map((each) => [each, each.getBoundingClientRect()]);
  for (const [index, [each, { left, height }]] of ends.entries()) {
    if (height > 40 || index && left < ends[index - 1][1].right - 1) {
      wrong.push(`in the line of the ticket: ${each.outerHTML.slice(0, 100)}`);
    }
  }
  for (const row of document.querySelectorAll(".tickets > li")) {
    const [name, at] = ["li > bdi", ".wait, .side > time"].map(
      (each) => row.querySelector(each).getBoundingClientRect());
    const isBeside = name.right <= at.left || name.left >= at.right;
    if (!isBeside && name.bottom > at.top && name.top < at.bottom) {
      wrong.push(`a name below ${row.querySelector(".wait, time").textContent}`);
    }
  }
  return wrong;
}"""


@pytest.mark.prove
def test_nothing_overlaps_or_vanishes_at_any_width(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    window, key = opened(locale="de"), tenant.key()  # its words are a third longer
    assert tenant.admin().post("/api/v1/api-keys", {"name": "W" * 100}).status_code == 201
    team = tenant.admin().post("/api/v1/teams", {"name": "Teamwork" * 7}).json()["data"]
    promised = {"name": "All", "first_response_minutes": 5000, "counts": "calendar"}
    assert tenant.admin().post("/api/v1/sla-policies", promised).status_code == 201
    ann = {"email": "ann@example.test", "name": "Annabel " * 12}
    of_team = {"team_id": team["id"], "customer": ann, "tags": ["vip", "kiln"]}
    for number in range(8):
        ticket = key.ticket(subject=f"A long subject of ticket {number} " * 3, **of_team)
    window.enter(tenant.admin_email, PASSWORD)
    page, wrong = window.page, []
    one = f"{INBOX}/{ticket['id']}"
    for path in ("/team-now", "/settings/api-keys", INBOX, one, "beside the list"):
        if path == one:  # with the ways to its neighbours in the list
            window.go_by(page.locator(f"[href='{path}']").first)
        elif path == "beside the list":
            page.evaluate("document.cookie = 'panes=two; path=/'")
            page.goto(INBOX)
            page.locator(f"[href='{one}']").first.click()
            page.locator(".beside .place:not(:empty)").wait_for()
        else:
            page.goto(path)
        for width in _WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            window.look()
            found = [
                f"no {what}" for what, each in _ALWAYS.items() if not page.evaluate(_SEEN, each)
            ]
            wrong += [f"{path} at {width}: {each}" for each in found + page.evaluate(_COVERED)]
    assert wrong == []
