"""People, one's account and the languages, in a real browser."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.service import PASSWORD, Tenant

HOME = "/settings/people"
NEW = "another long passphrase"


def test_an_invitation_is_copied_and_accepted_in_another_browser(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, email = window.page, f"bo.of.{tenant.id}@example.test"
    page.goto(HOME)
    window.follow("Invite a user")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Name").fill("Bo")
    window.press("Create the link")
    link = window.copy("secret")
    assert link == page.locator("#secret").inner_text()
    page.reload()
    page.get_by_text("This user has not set a password yet").wait_for()
    invited = opened()
    invited.page.goto(link)
    invited.page.get_by_label("New password").fill(NEW)
    invited.press("Set the password")
    invited.page.get_by_role("heading", name=", Bo").wait_for()
    invited.follow("Open the tickets")
    invited.open_menu()
    invited.follow("Bo")
    invited.sees(email)


def test_a_german_browser_reads_german_and_can_choose(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    window = opened(locale="de-AT")
    page = window.page
    page.goto("/")
    page.get_by_role("heading", name="Anmelden").wait_for()
    page.get_by_label("E-Mail-Adresse").fill(tenant.admin_email)
    page.get_by_label("Passwort").fill(PASSWORD)
    window.press("Anmelden")
    page.locator(".account-links").wait_for(state="attached")
    page.goto("/settings/audit")
    window.touch(page.get_by_text("Filtern"))
    window.sees("In Europe/Berlin")
    page.goto("/account")
    window.press("English")
    assert page.url.endswith("/account")
    page.goto("/settings/audit")
    window.sees("Who did what at this desk")


def test_a_colleague_is_promoted_renamed_and_deactivated(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    page, bo, email = window.page, opened(), f"bo.of.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo")
    bo.enter(email, PASSWORD)
    bo.page.goto(HOME)
    bo.sees("Ask an administrator of your desk.")
    page.goto(HOME)
    window.follow("Bo")
    page.get_by_label("Name", exact=True).fill("Bo Diaz")
    window.press("Change the name")
    window.sees_heading("Bo Diaz")
    window.touch(page.get_by_label("Administrator").first)
    window.press("Change the role")
    page.locator("dl", has_text="Administrator").wait_for()
    # The new role ends the session, and the next one has more permissions.
    bo.page.goto(HOME)
    bo.log_in_again(email, PASSWORD)
    bo.page.get_by_role("link", name="Invite a user").wait_for()
    window.follow("Deactivate")
    window.follow("Cancel")
    window.follow("Deactivate")
    window.press("Deactivate")
    window.sees("This user cannot log in.")
    bo.page.reload()
    bo.sees_heading("Log in")
    window.press("Reactivate")
    window.sees("Active")


def test_a_form_sent_after_the_session_ended_is_sent_after_the_next_log_in(
    window: Window, tenant: Tenant
) -> None:
    page, email = window.page, f"bo.of.{tenant.id}@example.test"
    page.goto(f"{HOME}/invite")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Administrator").check()
    window.context.clear_cookies()
    window.press("Create the link")
    window.log_in_again(tenant.admin_email, PASSWORD)
    page.get_by_text(email).wait_for()
    page.get_by_text("tenant_admin").wait_for()
    window.press("Send it again")
    page.locator("#secret").wait_for()


@pytest.mark.layout
@pytest.mark.prove
def test_german_and_long_names_fit(opened: Callable[..., Window], tenant: Tenant) -> None:
    window = opened(locale="de-DE")
    page = window.page
    page.goto("/")
    page.get_by_label("E-Mail-Adresse").fill(tenant.admin_email)
    page.get_by_label("Passwort").fill(PASSWORD)
    window.press("Anmelden")
    page.locator(".account-links").wait_for(state="attached")
    user_id = tenant.user(
        "agent", f"{'l' * 60}.{tenant.id}@example.test", "".join(HOSTILE_TEXTS)[:100]
    )
    at = f"{HOME}/{user_id}"
    others = (f"{HOME}/invite", at, f"{at}/deactivate", "/account", "/settings/audit?action=x")
    for path in ("/", HOME, *others, "/settings/api-keys/new", "/settings/webhooks/new", "/reset"):
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == "de"
        window.look()
