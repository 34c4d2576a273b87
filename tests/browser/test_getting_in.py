"""Logging in and out, errors and outages, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from sealdesk.errors import ServiceUnavailable
from sealdesk.identity import actions
from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Service, Tenant

HOME = "/settings/webhooks"
NEW = "another long passphrase"


def test_logging_in_and_out(opened: Callable[..., Window], tenant: Tenant) -> None:
    window = opened()
    page = window.page
    page.goto(HOME)
    page.get_by_label("E-mail address").fill(tenant.admin_email)
    page.get_by_label("Password").fill("a wrong guess")
    window.press("Log in")
    window.sees("The e-mail address or the password is wrong.")
    assert page.get_by_label("E-mail address").input_value() == tenant.admin_email
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{HOME}")
    (cookie,) = window.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    assert page.evaluate("document.cookie") == ""
    window.open_menu()
    window.go_by(page.locator(".account-links a"))
    page.locator("dl", has_text=tenant.admin_email).get_by_text("Administrator").wait_for()
    page.get_by_label("Name", exact=True).fill("Ada Lindqvist")
    window.press("Change the name")
    window.open_menu()
    page.locator(".account-links", has_text="Ada Lindqvist").wait_for()
    window.press("Log out")
    window.sees_heading("Log in")
    assert window.context.cookies() == []
    page.go_back()
    window.sees_heading("Log in")


@pytest.mark.prove
def test_a_new_password_ends_the_log_in_of_another_browser(
    window: Window, opened: Callable[..., Window], tenant: Tenant
) -> None:
    other, page = opened(), window.page
    other.enter(tenant.admin_email, PASSWORD)
    other.page.goto("/customers")
    page.goto("/account")
    page.get_by_label("Current password").fill("not mine at all")
    page.get_by_label("New password").fill(NEW)
    window.press("Change the password")
    expect(page.locator(".fault")).to_have_count(1)
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill(NEW)
    window.press("Change the password")
    window.sees("Your password is changed.")
    other.open_menu()
    other.follow("Settings")
    other.sees("Your log-in has expired.")
    other.log_in_again(tenant.admin_email, NEW)
    assert other.page.url.endswith("/settings/people")
    page.goto("/tickets")
    window.sees_heading("Your desk is ready")


def test_after_too_many_guesses_the_page_says_how_long_to_wait(
    opened: Callable[..., Window], tenant: Tenant, desk: Service
) -> None:
    window, email = opened(), tenant.admin_email
    for _ in range(10):
        now_us = desk.clock.now_us()
        desk.write(lambda tx: actions.begin_log_in(tx, email, "127.0.0.1", now_us=now_us))  # noqa: B023
    window.page.goto("/")
    window.page.get_by_label("E-mail address").fill(email)
    window.page.get_by_label("Password").fill(PASSWORD)
    window.press("Log in")
    window.sees("Too many log-ins failed. Try again in")


@pytest.mark.prove
def test_a_missing_or_foreign_page_explains_itself(window: Window, desk: Service) -> None:
    foreign = desk.tenant().key().ticket()["id"]
    gone = foreign[:-12] + "0" * 12
    told = []
    for path in (f"/tickets/{foreign}", f"/tickets/{gone}", "/nowhere"):
        window.page.goto(path)
        told.append(window.page.locator("main p").first.inner_text())
        window.follow("Go to the start page")
        window.sees_heading("Your desk is ready")
    assert told[0] == told[1]


def test_during_a_storage_outage_no_typed_text_is_lost(
    window: Window,
    opened: Callable[..., Window],
    tenant: Tenant,
    desk: Service,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at, waiting, page = f"/tickets/{tenant.key().ticket()['id']}", opened(), window.page
    waiting.enter(tenant.admin_email, PASSWORD)
    page.goto(at)
    page.get_by_label("Your reply").fill("On its way.")

    async def away(*_: object) -> None:
        raise ServiceUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(desk.state.database, "read", away)
        window.send_reply()  # at once: a page that has met the outage would wait for its end
        window.sees("Your input is kept here.")
        waiting.page.goto("/customers")
        waiting.sees("This page tries again by itself.")
    window.press("Send it again")
    page.locator("article", has_text="On its way.").wait_for()
    waiting.sees("customer@example.test")
    for each in (window, waiting):
        each.complaints[:] = [told for told in each.complaints if "status of 503" not in told]


def test_the_first_load_is_small_and_same_origin(
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
    assert window.page.get_by_label("Token of your link").input_value() == "the-token"
    expect(window.page.get_by_label("Token of your link")).to_be_hidden()
    assert window.page.url.endswith("/reset")
    # The skip link is used before the page has noticed the newer link.
    window.page.evaluate("location.hash = 'a-newer-one'; location.hash = 'content'")
    window.page.wait_for_function("!location.hash")
    assert window.page.get_by_label("Token of your link").input_value() == "a-newer-one"
