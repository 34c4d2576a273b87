"""Pages that stay open until their session has ended, in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

_LOOK_AGAIN = "document.dispatchEvent(new Event('visibilitychange'))"
_ENDED = "Your log-in has expired. Log in again to continue."


@pytest.mark.layout
def test_an_open_page_says_that_its_session_has_ended(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    # No other test uses a window of this zone: its clock cannot be set back.
    window = opened(timezone_id="Europe/Lisbon")
    window.enter(tenant.admin_email, PASSWORD)
    page, ticket = window.page, tenant.key().ticket()
    page.clock.install()
    # A page with a stream notices when the server ends it; this one polls.
    page.route(re.compile(r"/live\?"), lambda route: route.fulfill(status=204))
    for path in (f"{INBOX}?status=all", f"{INBOX}/{ticket['id']}"):
        page.goto(path)
        page.context.clear_cookies()
        page.clock.run_for(21_000)
        page.get_by_role("link", name=_ENDED).click()
        window.log_in_again(tenant.admin_email, PASSWORD)
        page.wait_for_url(f"**{path}")
        expect(page.get_by_role("link", name=_ENDED)).to_have_count(0)


def test_an_open_page_announces_news_again_after_a_log_in(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    key.ticket()
    page.goto(INBOX)
    page.context.clear_cookies()
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name=_ENDED).wait_for()
    window.enter(tenant.admin_email, PASSWORD)
    page.mouse.move(1, 1)  # A list below the pointer is not replaced.
    key.ticket(subject="The second")
    page.evaluate(_LOOK_AGAIN)
    page.get_by_role("link", name="The second").wait_for()
    expect(page.get_by_role("link", name=_ENDED)).to_have_count(0)
