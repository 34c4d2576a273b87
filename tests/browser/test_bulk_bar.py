"""The bar that changes the selected tickets, at the width of a small laptop."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

# How far apart the middles of what is shown are, in pixels.
_LINES = """(bar) => {
  const shown = [...bar.children].filter((each) => each.getClientRects().length);
  const middles = shown.map((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    return Math.round((top + bottom) / 2);
  });
  return Math.max(...middles) - Math.min(...middles);
}"""


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
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
    window.page.locator(".pick").first.check()
    assert bar.evaluate(_LINES) < 10
