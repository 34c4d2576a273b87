"""Settings → API Keys in a real browser: what is copied, hidden and drawn."""

import re

from sealdesk.api_keys import usage
from tests.browser.chromium import Window
from tests.support.service import Service, Tenant

HOME = "/settings/api-keys"


def test_a_new_key_is_copied_and_then_gone(window: Window) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto(f"{HOME}/new")
    page.get_by_label("Name").fill("Shop")
    assert not page.get_by_label("tickets:read").is_visible()
    page.get_by_label("Only what is ticked").check()
    page.get_by_label("tickets:read").check()
    assert not page.get_by_label("Date").is_visible()
    page.get_by_label("Expires").select_option("date")
    page.get_by_label("Date").fill("2099-07-01T12:00")
    page.get_by_role("button", name="Create the key").click()
    secret = page.locator("#secret").inner_text()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    for name in ("key", "secret", "curl"):
        page.locator(f"[data-copy={name}]").click()
        page.get_by_role("button", name="Copied").first.wait_for()
        shown = page.locator(f"#{name}").text_content()
        assert page.evaluate("navigator.clipboard.readText()") == shown
    # On plain http, elsewhere than on this machine, browsers have no such clipboard.
    page.evaluate("window.kept = navigator.clipboard")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator("[data-copy=secret]").click()
    page.get_by_role("button", name="Copied").first.wait_for()
    assert page.evaluate("kept.readText()") == secret
    page.reload()
    page.get_by_role("heading", name="Use", exact=True).wait_for()
    assert secret not in page.content()
    at = page.locator("time[datetime^='2099-']")
    assert at.get_attribute("datetime") == "2099-07-01T10:00:00.000000Z"


def test_bars_are_seen_in_light_and_dark(window: Window, tenant: Tenant, desk: Service) -> None:
    key = tenant.key()
    for _ in range(5):
        key.get("/api/v1/external/whoami")
    desk.in_serving(usage.write_down)
    page = window.page
    colours = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.goto(f"{HOME}/{key.id}")
        bar = page.locator(".plot rect.good")
        box = bar.bounding_box()
        assert box is not None and box["height"] > 20 and box["width"] > 5
        colours.append(bar.evaluate("bar => getComputedStyle(bar).fill"))
    assert len({*colours}) == 2
    page.get_by_text("As a table").click()
    assert page.get_by_role("rowheader").first.is_visible()
