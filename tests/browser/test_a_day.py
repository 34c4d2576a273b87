"""A day at the desk without scripts: every kind of page is worked with by plain forms."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Tenant

_HERE = {"light and wide": ("light", 1280), "dark and narrow": ("dark", 390)}


def _press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def _follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


@pytest.fixture(params=_HERE)
def page(request: pytest.FixtureRequest, opened: Callable[..., Window], tenant: Tenant) -> Page:
    """Where the administrator has logged in by the form."""
    theme, width = _HERE[request.param]
    window = opened(java_script_enabled=False, color_scheme=theme)
    window.page.set_viewport_size({"width": width, "height": 800})
    window.page.goto("/")
    window.log_in_again(tenant.admin_email, PASSWORD)
    return window.page


def test_a_ticket_is_found_answered_and_moved_on(page: Page, tenant: Tenant) -> None:
    tenant.key().ticket(subject="Where is my teapot?")
    page.goto("/tickets")
    _follow(page, "Where is my teapot?")
    page.get_by_label("Your answer").fill("Under its cosy.")
    page.get_by_label("Then").select_option("pending")
    _press(page, "Send")
    page.locator("article", has_text="Under its cosy.").wait_for()
    page.get_by_label("Status", exact=True).select_option("on_hold")
    _press(page, "Save")
    page.get_by_text("On hold").first.wait_for()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Tickets").click()
    assert page.get_by_role("link", name="Where is my teapot?").count() == 0
    _follow(page, "On hold 1")
    _follow(page, "Where is my teapot?")
    _follow(page, "customer@example.test")
    _follow(page, "Edit")
    page.get_by_label("Name", exact=True).fill("Vera Bakker")
    _press(page, "Save")
    page.get_by_role("heading", name="Vera Bakker").wait_for()


def test_a_key_lives_and_ends(page: Page) -> None:
    page.goto("/settings/api-keys/new")
    page.get_by_label("Name").fill("Shop")
    _press(page, "Create the key")
    assert len(page.locator("#secret").inner_text()) == 64
    page.goto("/settings/api-keys")
    _follow(page, "Shop")
    _follow(page, "Rotate the secret")
    _press(page, "Rotate the secret")
    assert len(page.locator("#secret").inner_text()) == 64
    page.goto("/settings/api-keys")
    _follow(page, "Shop")
    _follow(page, "Revoke")
    _press(page, "Revoke the key")
    page.get_by_text("Revoked").first.wait_for()


@pytest.mark.parametrize("page", ["light and wide"], indirect=True)
def test_a_colleague_comes_and_goes(
    page: Page, opened: Callable[..., Window], tenant: Tenant
) -> None:
    email = f"bo.of.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo")
    bo = opened(java_script_enabled=False)
    bo.log_in(email, PASSWORD)
    page.goto("/settings/people")
    _follow(page, "Bo")
    _follow(page, "Deactivate")
    _press(page, "Deactivate")
    page.get_by_text("Deactivated").first.wait_for()
    bo.page.goto("/tickets")
    bo.page.get_by_role("heading", name="Log in").wait_for()
    page.goto("/settings/audit?action=user.deactivated")
    page.locator(".list", has_text="Person deactivated").wait_for()
    _press(page, "Deutsch")
    page.get_by_role("button", name="Abmelden").click()
    page.get_by_role("heading", name="Anmelden").wait_for()
