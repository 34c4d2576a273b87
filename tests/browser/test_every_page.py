"""Every page of the table of routes in a real browser, with hostile texts in every field."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.browser.hostile import hostile_desk
from tests.interop import packages
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Tenant

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]
# What a text would leave in a page if it were taken for HTML.
_FOREIGN = """() => [...document.querySelectorAll("*")].filter((each) =>
  [...each.attributes].some(({ name }) => name.startsWith("on") || name === "srcdoc")
  || (each.href && !/^https?:/.test(each.href))
  || (each.localName === "script" && !each.src.includes("/assets/desk.js?"))
  || (each.localName === "img" && !each.src.includes("/assets/icon.svg?"))
  || each.localName === "iframe" || each.onclick || each.onload
).map((each) => each.outerHTML.slice(0, 200))"""
# Only colours differ between the themes.
_AXE = "only => axe.run(only ? { runOnly: [only] } : {})"
_THEMES = (("light", ""), ("dark", "color-contrast"))


def test_no_page_takes_a_text_for_html_or_hinders_anybody(
    opened: Callable[..., Window], tenant: Tenant, receiver: Receiver
) -> None:
    first, *others = hostile_desk(tenant, receiver)
    # Without the policy of the pages, which would hold back what they let through.
    window = opened(bypass_csp=True)
    found = _look(window, "/") + _barriers(window, "/")
    window.log_in(tenant.admin_email, PASSWORD)
    for path in first:
        found += _look(window, path) + _barriers(window, path)
    for path in (path for paths in others for path in paths):
        found += _look(window, path)
    assert found == []


def _look(window: Window, path: str) -> list[str]:
    """What is wrong with a page: foreign elements, complaints, sideways scrolling."""
    page = window.page
    answer = page.goto(path)
    assert answer is not None and answer.status < 500, path
    found = page.evaluate(_FOREIGN) + window.complaints
    window.complaints.clear()
    if "62615533" in page.content():
        found.append("a text is worked out as a template")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        if window.overflows():
            found.append(f"is scrolled sideways at {width}")
    return [f"{path[:200]}: {each}" for each in found]


def _barriers(window: Window, path: str) -> list[str]:
    """What axe finds that hinders people, serious or critical, in both themes."""
    page = window.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate(f"{(packages() / 'node_modules' / 'axe-core' / 'axe.min.js').read_text()}; 0")
    found = []
    for theme, only in _THEMES:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        for each in page.evaluate(_AXE, only)["violations"]:
            if each["impact"] in ("serious", "critical"):
                node = each["nodes"][0]["html"][:120]
                found.append(f"{path[:200]}: {theme}: {each['id']}: {node}")
    return found
