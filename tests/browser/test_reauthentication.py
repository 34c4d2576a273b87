"""Reauthentication in a real browser."""

from collections.abc import Callable

import pytest

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.identity import store
from sealdesk.identity.auth import tokens
from sealdesk.identity.types import User
from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.service import PASSWORD, Service, Tenant

KEYS, PEOPLE = "/settings/api-keys", "/settings/people"
_HALF_AN_HOUR_US = 30 * 60 * 1_000_000


@pytest.mark.prove
def test_the_password_field_is_in_its_form_and_accessible(
    opened: Callable[..., Window], desk: Service, tenant: Tenant
) -> None:
    looker = Looker(opened(reduced_motion="reduce"), "both")
    _enter_long_ago(looker.window, desk, tenant)
    page, password = looker.page, looker.page.get_by_label("Your password")
    page.goto(f"{PEOPLE}/{tenant.user()}")
    looker.window.press("Create a reset link")
    looker.window.sees("Nothing has been changed yet")
    # The browser moves the focus a moment after it has loaded the page.
    password.and_(page.locator(":focus")).wait_for()
    found = looker.look("a link that was asked for")
    page.goto(f"{KEYS}/new")
    page.get_by_label("Name", exact=True).fill("Shop")
    password.fill("not the one that it is")
    looker.window.press("Create the key")
    page.get_by_text("That is not your password.").wait_for()
    found += looker.look("a wrong password")
    assert page.get_by_label("Name", exact=True).input_value() == "Shop"
    password.fill(PASSWORD)
    looker.window.press("Create the key")
    page.locator("#secret").wait_for()
    assert not found, "\n".join(found)


def _enter_long_ago(window: Window, desk: Service, tenant: Tenant) -> None:
    """With a session that is half an hour old; the clock is shared by all tests."""

    async def work(tx: Tx) -> User | None:
        return await store.find_by_email(tx, tenant.admin_email)

    user, now_us = desk.write(work), desk.clock.now_us()
    assert user is not None
    secret, login_at = desk.state.settings.jwt_secret, now_us - _HALF_AN_HOUR_US
    token = tokens.encode(
        user, secret, token_id=ids.mint(login_at), login_at=login_at, now_us=now_us
    )
    window.context.add_cookies([{"name": "sealdesk", "value": token, "url": desk.url}])
