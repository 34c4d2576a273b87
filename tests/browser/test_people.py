"""People, one's account and the languages, in a real browser."""

from collections.abc import Callable

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Tenant
from tests.webhooks.test_pages import HOSTILE

HOME = "/settings/people"
NEW = "another long passphrase"


def test_an_invitation_is_copied_and_accepted_in_another_browser(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, email = window.page, f"bo.of.{tenant.id}@example.test"
    page.goto(HOME)
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Name").fill("Bo")
    page.get_by_role("button", name="Make the link").click()
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.locator("#secret").inner_text()
    page.reload()
    page.get_by_text("They have set no password yet").wait_for()
    invited = opened()
    invited.page.goto(link)
    invited.page.get_by_label("New password").fill(NEW)
    invited.page.get_by_role("button", name="Set the password").click()
    invited.page.get_by_role("link", name="Log in").click()
    invited.log_in_again(email, NEW)
    invited.page.get_by_role("link", name="Bo", exact=True).click()
    invited.page.get_by_text(email).wait_for()


def test_a_german_browser_reads_german_and_can_choose(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    page = opened(locale="de-AT").page
    page.goto("/")
    page.get_by_role("heading", name="Anmelden").wait_for()
    page.get_by_label("E-Mail-Adresse").fill(tenant.admin_email)
    page.get_by_label("Passwort").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden").click()
    page.get_by_role("button", name="Abmelden").wait_for()
    page.goto("/settings/audit")
    page.get_by_text("Filtern").click()
    page.get_by_text("In Europe/Berlin").first.wait_for()
    page.get_by_role("button", name="English").click()
    page.get_by_text("What was done at this desk").wait_for()
    assert page.url.endswith("/settings/audit")


def test_a_filter_by_time_is_typed_in_ones_own_zone(window: Window) -> None:
    page = window.page
    page.goto("/settings/audit")
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("From").fill("2026-01-01T01:00")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Person added").last.wait_for()
    assert "since=2026-01-01T00%3A00%3A00.000Z" in page.url
    assert page.get_by_label("From").input_value() == "2026-01-01T01:00"


def test_what_was_sent_into_an_ended_log_in_is_sent_after_the_next(
    window: Window, tenant: Tenant
) -> None:
    page, email = window.page, f"bo.of.{tenant.id}@example.test"
    page.goto(f"{HOME}/invite")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Administrator").check()
    window.context.clear_cookies()
    page.get_by_role("button", name="Make the link").click()
    window.log_in_again(tenant.admin_email, PASSWORD)
    page.get_by_text(email).wait_for()
    page.get_by_text("tenant_admin").wait_for()
    page.get_by_role("button", name="Send it again").click()
    page.locator("#secret").wait_for()


def test_german_and_long_names_fit_a_phone(opened: Callable[..., Window], tenant: Tenant) -> None:
    window = opened(locale="de-DE")
    page = window.page
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/")
    page.get_by_label("E-Mail-Adresse").fill(tenant.admin_email)
    page.get_by_label("Passwort").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden").click()
    page.get_by_role("button", name="Abmelden").wait_for()
    user_id = tenant.user("agent", f"{'l' * 60}.{tenant.id}@example.test", "".join(HOSTILE)[:100])
    at = f"{HOME}/{user_id}"
    others = (f"{HOME}/invite", at, f"{at}/deactivate", "/account", "/settings/audit?action=x")
    for path in ("/", HOME, *others, "/settings/api-keys/new", "/settings/webhooks/new", "/reset"):
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == "de"
        assert not window.overflows(), path
