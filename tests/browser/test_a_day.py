"""Every kind of page works without scripts, by plain forms."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Tenant


@pytest.fixture
def window(opened: Callable[..., Window], tenant: Tenant) -> Window:
    """A window without scripts in which the administrator is logged in."""
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    return window


@pytest.mark.layout
def test_a_ticket_is_found_answered_and_resolved(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    key.ticket(subject="Where is my saucer?")
    key.ticket(subject="Where is my teapot?")
    page.goto("/tickets")
    window.follow("Where is my teapot?")
    page.get_by_label("Your reply").fill("Under its cosy.")
    page.locator(".sends summary").click()
    page.get_by_text("Send, wait for").click()
    window.send_reply()
    page.locator("article", has_text="Under its cosy.").wait_for()
    page.get_by_label("Status", exact=True).select_option("on_hold")
    window.press("Save")
    window.sees("On hold")
    page.goto("/tickets")
    expect(page.get_by_role("link", name="Where is my teapot?")).to_have_count(0)
    page.locator("[name=ticket]").check()
    page.locator(".bulk").get_by_label("Status").select_option("on_hold")
    window.press("Change selected …")
    window.press("Change 1 ticket")
    window.follow("Back to the tickets")
    window.follow("On hold 2")
    window.follow("Where is my teapot?")
    window.follow("customer@example.test")
    window.follow("Edit")
    page.get_by_label("Name", exact=True).fill("Vera Bakker")
    window.press("Save")
    window.sees_heading("Vera Bakker")


@pytest.mark.prove
def test_a_key_is_created_and_revoked(window: Window, tenant: Tenant) -> None:
    page = window.page
    window.context.clear_cookies()
    page.goto("/settings/api-keys/new")
    window.log_in_again(tenant.admin_email, PASSWORD)
    page.get_by_label("Name").fill("Shop")
    window.press("Create the key")
    assert len(page.locator("#secret").inner_text()) == 64
    window.follow("I have saved both")
    window.follow("Rotate the secret")
    window.press("Rotate the secret")
    assert len(page.locator("#secret").inner_text()) == 64
    window.follow("I have saved it")
    window.follow("Revoke")
    window.press("Revoke the key")
    window.sees("Revoked")


@pytest.mark.prove
def test_a_colleague_is_invited_and_deactivated(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    email = f"bo.of.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo")
    bo, page = opened(java_script_enabled=False), window.page
    bo.log_in(email, PASSWORD)
    page.goto("/settings/people")
    window.follow("Bo")
    window.follow("Deactivate")
    window.press("Deactivate")
    window.sees("Deactivated")
    bo.page.goto("/tickets")
    bo.sees_heading("Log in")
    page.goto("/settings/audit?action=user.deactivated")
    page.locator(".list", has_text="User deactivated").wait_for()
    page.goto("/account")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    before = page.evaluate(paper)
    window.press("Light" if window.is_phone else "Dark")  # each is the other one of its system
    assert page.evaluate(paper) != before
    window.press("As the system")
    assert page.evaluate(paper) == before
    window.press("Deutsch")
    window.open_menu()
    window.press("Abmelden")
    window.sees_heading("Anmelden")
