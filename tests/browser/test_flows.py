"""What a person does, in a real browser."""

import re
from collections.abc import Callable

from tests.browser.chromium import Window
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant

HOME = "/settings/webhooks"


def test_logging_in_and_out(opened: Callable[..., Window], tenant: Tenant) -> None:
    window = opened()
    page = window.page
    page.goto(HOME)
    page.get_by_label("E-mail address").fill(tenant.admin_email)
    page.get_by_label("Password").fill("a wrong guess")
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("The e-mail address or the password is wrong.").wait_for()
    assert page.get_by_label("E-mail address").input_value() == tenant.admin_email
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{HOME}")
    (cookie,) = window.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Log in").wait_for()
    assert window.context.cookies() == []
    page.go_back()
    page.get_by_role("heading", name="Log in").wait_for()


def test_a_secret_is_copied_and_then_gone(window: Window, receiver: Receiver) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto(f"{HOME}/new")
    page.get_by_label("URL").fill(receiver.url)
    assert not page.get_by_label("ticket.created").is_visible()
    page.get_by_label("Everything").uncheck()
    page.get_by_label("reply.created").uncheck()
    page.get_by_role("button", name="Add the endpoint").click()
    secret = page.locator("#secret").inner_text()
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    page.reload()
    page.get_by_role("heading", name="Deliveries").wait_for()
    assert secret not in page.content()
    assert page.get_by_text("ticket.created").is_visible()
    assert page.get_by_text("reply.created").count() == 0
    page.goto(HOME)
    assert page.locator(".list > li").count() == 1


def test_a_delivery_is_seen_with_its_answer(
    window: Window, tenant: Tenant, receiver: Receiver
) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    receiver.answers(200, b"thank you")
    tenant.key()
    receiver.wait(1, 30)
    row = page.get_by_role("link", name="api_key.created")
    for _ in range(100):
        page.goto(at)
        if row.count() and page.get_by_text("answered 200").count():
            break
        page.wait_for_timeout(100)
    row.click()
    page.get_by_text("thank you").wait_for()
    page.get_by_text("What is sent").click()
    assert page.get_by_text('"type":"api_key.created"').is_visible()
    shown = page.locator("time").first
    assert shown.get_attribute("title").endswith(" UTC")  # type: ignore[union-attr]
    assert "UTC" not in shown.inner_text()


def test_a_rotation_is_confirmed(window: Window, receiver: Receiver) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    page.get_by_role("link", name="Rotate it").click()
    page.get_by_text("two signatures").wait_for()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Rotate it").click()
    page.get_by_role("button", name="Rotate the secret").click()
    page.get_by_text("it is shown this once").wait_for()
    page.goto(at)
    page.get_by_text("carries both signatures").wait_for()


def test_a_range_is_typed_in_ones_own_zone(
    window: Window, tenant: Tenant, receiver: Receiver, desk: Service
) -> None:
    page, at = window.page, window.add_endpoint(receiver.url)
    page.goto(f"{at}/replay")
    page.get_by_text("In Europe/Berlin, at most 30 days ago.").wait_for()
    typed = page.get_by_label("From").input_value()
    page.get_by_role("button", name="Replay").click()
    page.get_by_text("The last replays").wait_for()
    (row,) = desk.rows("SELECT since FROM replays WHERE tenant_id = :id LIMIT 2", id=tenant.id)
    local = page.evaluate("text => new Date(text).getTime() * 1000", typed)
    assert row[0] == local


def test_everything_is_done_without_scripts(
    opened: Callable[..., Window], tenant: Tenant, receiver: Receiver
) -> None:
    window = opened(java_script_enabled=False)
    window.log_in(tenant.admin_email, PASSWORD)
    page, at = window.page, window.add_endpoint(receiver.url)
    page.get_by_role("button", name="Send a test").click()
    page.get_by_role("heading", name="Attempt 1").wait_for()
    page.goto(f"{at}/replay")
    page.get_by_role("button", name="Replay").click()
    page.get_by_text("The last replays").wait_for()
    page.goto(f"{at}/delete")
    page.get_by_role("button", name="Delete the endpoint").click()
    page.get_by_text("No endpoints yet").wait_for()


def test_the_first_load_is_light_and_stays_here(
    opened: Callable[..., Window], desk: Service
) -> None:
    window = opened()
    asked: list[str] = []
    window.page.on("request", note := lambda request: asked.append(request.url))
    window.page.goto("/")
    window.page.remove_listener("request", note)
    assert len(set(asked)) <= 8
    assert all(address.startswith(desk.url) for address in asked)


def test_a_reset_link_fills_in_its_token(opened: Callable[..., Window]) -> None:
    window = opened()
    window.page.goto("/reset#the-token")
    assert window.page.get_by_label("Reset token").input_value() == "the-token"
    assert window.page.url.endswith("/reset")
    window.page.goto("/reset#a-newer-one")
    window.page.goto("/reset#content")  # As skipping to it does.
    assert window.page.get_by_label("Reset token").input_value() == "a-newer-one"
