"""A form that was sent after the session ended is sent after the next log-in."""

from collections.abc import Callable

import pytest

from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.service import PASSWORD, Service, Tenant

TEXT = "\n".join(HOSTILE_TEXTS)


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket()['id']}"


def test_a_reply_without_scripts_is_sent_after_the_next_log_in(
    opened: Callable[..., Window], tenant: Tenant, desk: Service, at: str
) -> None:
    window = opened(java_script_enabled=False)
    window.enter(tenant.admin_email, PASSWORD)
    page = window.page
    page.goto(at)
    page.get_by_label("Your reply").fill("Typed by hand")
    window.context.clear_cookies()
    window.send_reply()
    page.get_by_text("Your input is kept").wait_for()
    window.log_in_again(tenant.admin_email, PASSWORD)
    page.get_by_text("Typed by hand").wait_for()
    window.press("Send it again")
    page.locator("article", has_text="Typed by hand").wait_for()
    sql = "SELECT body FROM replies WHERE ticket_id = :id LIMIT 9"
    assert [row[0] for row in desk.rows(sql, id=at.rpartition("/")[2])] == ["Typed by hand"]


def test_a_form_is_sent_once_however_often_its_button_is_pressed(window: Window) -> None:
    window.page.goto("/settings/teams/new")
    submit = "form => form.dispatchEvent(new Event('submit', {bubbles: true, cancelable: true}))"
    form = window.page.locator("main form")
    assert [form.evaluate(submit), form.evaluate(submit)] == [True, False]


@pytest.mark.prove
def test_pages_of_a_resubmission_are_accessible(
    opened: Callable[..., Window], tenant: Tenant, at: str
) -> None:
    window = opened(reduced_motion="reduce")
    looker, page = Looker(window, "both"), window.page
    window.enter(tenant.admin_email, PASSWORD)
    page.goto(at)
    page.get_by_label("Your reply").fill(TEXT)
    window.context.clear_cookies()
    window.send_reply()
    page.get_by_text("Your input is kept").wait_for()
    found = looker.look("the log-in")
    window.log_in_again(tenant.admin_email, PASSWORD)
    assert TEXT in page.locator("main dl").inner_text()
    found += looker.look("what waits")
    assert found == []


def test_shortcuts_are_offered_where_there_may_be_a_keyboard(
    opened: Callable[..., Window], tenant: Tenant, at: str
) -> None:
    window = opened()
    window.enter(tenant.admin_email, PASSWORD)
    window.page.goto(at)
    is_touched = window.page.evaluate("matchMedia('(hover: none) and (pointer: coarse)').matches")
    assert window.page.get_by_role("button", name="Shortcuts").is_visible() != is_touched
