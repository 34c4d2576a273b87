"""Settings → Webhooks, in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant
from tests.webhooks.factories import log_delivery, refused

HOME = "/settings/webhooks"


@pytest.mark.prove
def test_a_secret_is_shown_and_copied_once(window: Window, receiver: Receiver) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto(f"{HOME}/new")
    page.get_by_label("URL").fill(receiver.url)
    expect(page.get_by_label("ticket.created")).to_be_hidden()
    page.get_by_label("Everything").uncheck()
    page.get_by_label("reply.created").uncheck()
    window.press("Add the endpoint")
    secret = page.locator("#secret").inner_text()
    assert window.copy("secret") == secret
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    page.reload()
    page.get_by_role("heading", name="Deliveries", exact=True).wait_for()
    assert secret not in page.content()
    expect(page.get_by_role("code").filter(has_text="ticket.created")).to_be_visible()
    expect(page.get_by_role("code").filter(has_text="reply.created")).to_have_count(0)
    page.goto(HOME)
    expect(page.locator(".list > li")).to_have_count(1)


def test_a_delivery_is_shown_with_its_response(
    window: Window, tenant: Tenant, receiver: Receiver
) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    receiver.answers(200, b"thank you")
    tenant.key()
    receiver.wait(1)
    row = page.get_by_role("link", name="api_key.created")
    for _ in range(600):
        page.goto(at)
        if row.count() and page.get_by_text("answered 200").count():
            break
        page.wait_for_timeout(100)
    window.go_by(row)
    window.sees("thank you")
    window.touch(page.get_by_text("Payload"))
    window.sees('"type":"api_key.created"')
    shown = page.locator("time").first
    assert shown.get_attribute("title").endswith(" UTC")  # type: ignore[union-attr]
    assert "UTC" not in shown.inner_text()


@pytest.mark.prove
def test_a_rotation_is_confirmed(window: Window, receiver: Receiver) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    window.follow("Rotate")
    window.sees("two signatures")
    window.follow("Cancel")
    window.follow("Rotate")
    window.press("Rotate the secret")
    window.sees("it is shown this once")
    page.goto(at)
    window.sees("carries both signatures")


@pytest.mark.prove
def test_a_time_range_uses_the_time_zone_of_the_browser(
    window: Window, tenant: Tenant, receiver: Receiver, desk: Service
) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    page.goto(f"{at}/replay")
    page.get_by_text("In Europe/Berlin, at most 30 days ago.").wait_for()
    typed = page.get_by_label("From").input_value()
    window.press("Replay")
    window.sees("The last replays")
    (row,) = desk.rows("SELECT since FROM replays WHERE tenant_id = :id LIMIT 2", id=tenant.id)
    local = page.evaluate("text => new Date(text).getTime() * 1000", typed)
    assert row[0] == local


@pytest.mark.prove
def test_webhooks_are_managed_without_scripts(
    opened: Callable[..., Window], tenant: Tenant, receiver: Receiver
) -> None:
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    page, at = window.page, window.add_endpoint(receiver.url)
    window.press("Send a test")
    window.sees_heading("Attempt 1")
    page.goto(f"{at}/replay")
    window.press("Replay")
    window.sees("The last replays")
    page.goto(f"{at}/delete")
    window.press("Delete the endpoint")
    window.sees("No endpoints yet")


def test_failed_deliveries_are_redelivered_from_the_page_of_their_endpoint(
    window: Window, tenant: Tenant, receiver: Receiver
) -> None:
    at = window.add_endpoint(receiver.url)
    log_delivery(tenant, at.rpartition("/")[2], refused(1))
    window.follow("Redeliver failed")
    window.sees_heading("Redeliver failed deliveries")
    window.page.get_by_label("Period").select_option("The last hour (1)")
    window.press("Redeliver")
    window.sees_heading("Deliveries")
    receiver.wait(1)
    window.page.goto(f"{at}/redeliver-failed")
    window.page.get_by_role("option", name="The last hour (0)").wait_for(state="attached")
