"""What pages of other sites send in the name of who is logged in here: nothing of it is done."""

from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.db import tables
from sealdesk.routes import PAGES
from tests.browser.chromium import Window
from tests.browser.cross_site import LEAD, SEND, elsewhere
from tests.browser.form_sender import forms_of
from tests.browser.xss_desk import address, hostile_desk
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant
from tests.support.tenant_rows import TENANT_TABLES

_FEW = ("/log-out", "/account/name", "/tickets/bulk")
_POSTS = [route.path for route in PAGES if route.method == "POST"]
# With the token of the forms, as if that had leaked, and all that they might ask for.
_FIELDS = {
    "email": "evil@example.test", "name": "evil", "status": "closed", "body": "evil", "url": "",
    "role": "tenant_admin", "language": "de", "subject": "evil", "rate_limit": "1", "new": "evil",
}  # fmt: skip
# What the background loop makes of the others, when it comes to it.
_BY_ITSELF = {*tables.REBUILT}
_FORM = "application/x-www-form-urlencoded"
# What a person may be led to do, as method, type, window and policy for referrers.
_LEADING = {
    "a form": ("post", _FORM, "", "unsafe-url"),
    "a form that is sent on": ("post", _FORM, "", "unsafe-url"),
    "a form without a referrer": ("post", _FORM, "", "no-referrer"),
    "a form without a referrer that is sent on": ("post", _FORM, "", "no-referrer"),
    "a form as plain text": ("post", "text/plain", "", "unsafe-url"),
    "a form of parts": ("post", "multipart/form-data", "", "unsafe-url"),
    "a form in a window of its own": ("post", _FORM, "_blank", "unsafe-url"),
    "an address": ("get", _FORM, "", "unsafe-url"),
}
# The desk's name and theirs. To the browser another port of this address is another origin of the
# same site, which is sent our cookies; another name of this machine is another site; and a
# neighbour below one domain is the same site again.
_NAMES = {
    "same-site": ("127.0.0.1", "127.0.0.1"),
    "cross-site": ("127.0.0.1", "localhost"),
    "sibling": ("app.desk.localhost", "evil.desk.localhost"),
}

_AS_IF_OURS = """async (fields) => {
  const read = await fetch("/account");
  const written = await fetch("/account/name", {
    method: "POST", body: new URLSearchParams(fields) });
  return [await read.text(), await written.text()];
}"""


def _rows(tenant: Tenant) -> dict[str, list[str]]:
    """All that is stored of a tenant because somebody sent it."""
    read = tenant.service.rows
    return {
        name: sorted(str(tuple(row)) for row in read(
            f"SELECT * FROM {name} WHERE tenant_id = :tenant LIMIT 9999", tenant=tenant.id
        ))
        for name in {table.name for table in TENANT_TABLES} - _BY_ITSELF
    }  # fmt: skip


@pytest.mark.parametrize(("host", "other"), _NAMES.values(), ids=_NAMES)
def test_nothing_that_another_site_sends_is_done(
    opened: Callable[..., Window], tenant: Tenant, receiver: Receiver, host: str, other: str
) -> None:
    window, desk = opened(), tenant.service
    places = hostile_desk(tenant, receiver)
    # Or what waits to be delivered would go on by itself.
    webhook = f"/api/v1/webhooks/{places['/settings/webhooks']}"
    assert tenant.admin().patch(webhook, {"is_active": False}).status_code == 200
    here, page = _entered(window, tenant, host), window.page
    page.goto(f"{here}/account")
    (token,) = {dict(form.values).get("form_token") for form in forms_of(page).values()} - {None}
    fields: dict[str, Any] = {**_FIELDS, "form_token": token, "ticket": places["/tickets"]}
    targets = [here + address(path, places) for path in _POSTS]
    few = [here + address(path, places) for path in _FEW]
    desk.settle()
    before = _rows(tenant)
    posted: list[str] = []
    with elsewhere() as port:
        site = f"http://{other}:{port}/"
        page.goto(site)
        page.on("request", lambda sent: posted.append(sent.url) if sent.method == "POST" else None)
        counts = page.evaluate(SEND, [targets, few, fields])
        answers = {
            name: _led(window, site, here, name, *how, fields) for name, how in _LEADING.items()
        }
    window.complaints.clear()  # of what the other site was refused
    assert [*counts.values()] == [len(targets)] * 12 + [len(few)] * 11
    assert {each for each in answers.items() if each[1] not in (403, 405, 415)} == set()
    assert all(posted.count(target) >= 8 for target in targets), [*map(posted.count, targets)]
    assert _rows(tenant) == before
    page.goto(f"{here}/account")
    assert page.get_by_role("button", name="Log out").is_visible()


def _entered(window: Window, tenant: Tenant, host: str) -> str:
    """Where the desk is by a name, logged in there."""
    window.enter(tenant.admin_email, PASSWORD)
    here = tenant.service.url.replace("127.0.0.1", host)
    (session,) = window.context.cookies()
    window.context.add_cookies(
        [{"name": session["name"], "value": session["value"], "url": here, "httpOnly": True}]
    )
    return here


def _led(window: Window, site: str, here: str, name: str, *how: Any) -> int:
    """How the desk answers who is led to log out."""
    page, to = window.page, f"{here}/log-out"
    page.goto(site)
    lead = [f"{site}?{to}" if "sent on" in name else to, *how]
    if "window of its own" not in name:
        with page.expect_navigation() as led:
            page.evaluate(LEAD, lead)
        return int(led.value.status)
    with page.context.expect_event("response", lambda answer: answer.url == to) as answered:
        page.evaluate(LEAD, lead)
    for each in page.context.pages:
        if each != page:
            each.close()
    return int(answered.value.status)


def test_another_site_cannot_set_a_session_cookie(
    opened: Callable[..., Window], desk: Service, tenant: Tenant
) -> None:
    """Or one would work in a desk of theirs, and take it for one's own."""
    window, evil = opened(), opened()
    evil.enter(desk.tenant().admin_email, PASSWORD)
    (theirs,) = evil.context.cookies()
    here, page = _entered(window, tenant, "app.desk.localhost"), window.page
    page.route("http://evil.desk.localhost/", lambda route: route.fulfill(body="<!doctype html>"))
    page.goto("http://evil.desk.localhost/")
    cookie = f"{theirs['name']}={theirs['value']}; domain=desk.localhost; path=/"
    page.evaluate("(cookie) => { document.cookie = cookie; }", cookie)
    page.goto(f"{here}/account")
    assert page.get_by_role("button", name="Log in").is_visible()
    assert page.get_by_role("button", name="Log out").count() == 0


def test_a_name_that_suddenly_means_the_desk_has_no_session_there(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    """A page of theirs, of which the name server says by now that it stands where the desk does."""
    window, desk = opened(), tenant.service
    window.enter(tenant.admin_email, PASSWORD)
    site, page = desk.url.replace("127.0.0.1", "rebound.localhost"), window.page
    page.route(f"{site}/win", lambda route: route.fulfill(body="<!doctype html>"))
    before = _rows(tenant)
    page.goto(f"{site}/win")
    read, written = page.evaluate(_AS_IF_OURS, _FIELDS)
    assert "Log in" in read
    assert tenant.admin_email not in read
    assert "Log in" in written
    assert _rows(tenant) == before
