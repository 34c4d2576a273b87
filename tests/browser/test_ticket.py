"""Answering a ticket in a real browser: by keyboard, with a draft, beside a colleague."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.support.service import PASSWORD, Service, Tenant


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket(description='Cracked. https://example.test/a.')['id']}"


def _replies(desk: Service, at: str) -> list[str]:
    sql = "SELECT body FROM replies WHERE ticket_id = :id ORDER BY id LIMIT 10"
    return [row[0] for row in desk.rows(sql, id=at.rpartition("/")[2])]


def test_a_ticket_is_answered_by_keyboard_and_the_draft_survives(
    window: Window, tenant: Tenant, desk: Service, at: str
) -> None:
    page = window.page
    page.goto(at)
    page.keyboard.press("?")
    page.get_by_text("Write an answer").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("Write an answer").wait_for(state="hidden")
    page.keyboard.press("r")
    page.keyboard.type("We are looking for it")
    page.reload()
    field = page.get_by_label("Your answer")
    assert field.input_value() == "We are looking for it"
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type(" now, for real")
    page.get_by_label("Internal note").check()
    page.get_by_label("Then").select_option("pending")
    window.context.clear_cookies()
    page.get_by_role("button", name="Send").click()
    window.log_in_again(tenant.admin_email, PASSWORD)
    page.get_by_role("link", name="Back without sending").click()
    assert field.input_value() == "We are looking for it now, for real"
    assert page.get_by_label("Internal note").is_checked()
    assert page.get_by_label("Then").input_value() == "pending"
    page.get_by_label("Internal note").uncheck()
    field.press("Control+Enter")
    page.locator("article", has_text="for real").wait_for()
    assert field.input_value() == ""
    assert page.url.partition("?")[0].partition("#")[0].endswith(at)
    page.goto(at)
    assert field.input_value() == ""
    assert _replies(desk, at) == ["We are looking for it now, for real"]


def test_a_colleague_sees_that_an_answer_is_begun(
    opened: Callable[..., Window], window: Window, tenant: Tenant, at: str
) -> None:
    tenant.user("agent", email := f"eve.of.{tenant.id}@example.test", "Eve")
    eve = opened()
    eve.log_in(email, PASSWORD)
    window.page.goto(at)
    eve.page.goto(at)
    with eve.page.expect_response(f"**{at}/answering?*"):
        eve.page.get_by_label("Your answer").fill("Hello")
    window.page.get_by_label("Your answer").fill("H")
    window.page.get_by_text("Eve\u2069 is writing an answer").wait_for()
    window.page.reload()
    assert window.page.get_by_text("is writing an answer").is_visible()


def test_a_ticket_is_answered_without_scripts(
    opened: Callable[..., Window], tenant: Tenant, desk: Service, at: str
) -> None:
    window = opened(java_script_enabled=False)
    window.log_in(tenant.admin_email, PASSWORD)
    page = window.page
    page.goto(at)
    page.get_by_label("Your answer").fill("By hand")
    page.get_by_label("Then").select_option("resolved")
    page.get_by_role("button", name="Send").click()
    page.locator("article", has_text="By hand").wait_for()
    assert page.get_by_text("Resolved").first.is_visible()
    assert _replies(desk, at) == ["By hand"]
