"""Requests that pages of other sites send with the session of a user change nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import expect

from sealdesk.db import schema
from sealdesk.routes import PAGES
from tests.browser.chromium import Window
from tests.browser.cross_site import LEAD, SEND, elsewhere
from tests.browser.form_sender import forms_of
from tests.browser.xss_desk import address, hostile_desk
from tests.reports.histories import is_counted
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant, wait_until
from tests.support.tenant_rows import TENANT_TABLES

_FEW = ("/log-out", "/account/name", "/tickets/bulk")
_POSTS = [route.path for route in PAGES if route.method == "POST"]
# What a browser tells of another site depends on the site, not on the form.
_SOME_POSTS = _POSTS[::24]
# With a form token, as if it had leaked, and all fields of the forms.
_FIELDS = {
    "email": "evil@example.test", "name": "evil", "status": "closed", "body": "evil", "url": "",
    "role": "tenant_admin", "language": "de", "subject": "evil", "rate_limit": "1", "new": "evil",
}  # fmt: skip
# Tables that the background loop writes by itself.
_BY_ITSELF = {*schema.REBUILT, "viewers"}  # who looks is forgotten after a while
_FORM = "application/x-www-form-urlencoded"
# Form submissions that a page may cause: method, type, window, referrer policy.
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
    """The rows of a tenant that exist because of requests."""
    read = tenant.service.rows
    return {
        name: sorted(str(tuple(row)) for row in read(
            f"SELECT * FROM {name} WHERE tenant_id = :tenant LIMIT 9999", tenant=tenant.id
        ))
        for name in {table.name for table in TENANT_TABLES} - _BY_ITSELF
    }  # fmt: skip


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        ("cross-site", _SOME_POSTS),
        ("sibling", _SOME_POSTS),
        pytest.param("same-site", _POSTS, marks=pytest.mark.prove),
        pytest.param("cross-site", _POSTS, marks=pytest.mark.prove),
        pytest.param("sibling", _POSTS, marks=pytest.mark.prove),
    ],
    ids=lambda given: given if isinstance(given, str) else f"{len(given)} forms",
)
def test_requests_of_other_sites_change_nothing(
    opened: Callable[..., Window],
    tenant: Tenant,
    receiver: Receiver,
    names: str,
    paths: Sequence[str],
) -> None:
    host, other = _NAMES[names]
    window, desk = opened(), tenant.service
    places = hostile_desk(tenant, receiver)
    # Otherwise pending deliveries would change rows.
    webhook = f"/api/v1/webhooks/{places['/settings/webhooks']}"
    assert tenant.admin().patch(webhook, {"is_active": False}).status_code == 200
    here, page = _entered(window, tenant, host), window.page
    page.goto(f"{here}/account")
    (token,) = {dict(form.values).get("form_token") for form in forms_of(page).values()} - {None}
    fields: dict[str, Any] = {**_FIELDS, "form_token": token, "ticket": places["/tickets"]}
    targets = [here + address(path, places) for path in paths]
    few = [here + address(path, places) for path in _FEW]
    desk.settle()
    wait_until(lambda: is_counted(tenant))
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
    window.complaints.clear()  # errors of the other site's requests
    assert [*counts.values()] == [len(targets)] * 12 + [len(few)] * 11
    assert {each for each in answers.items() if each[1] not in (403, 405, 415)} == set()
    assert all(posted.count(target) >= 8 for target in targets), [*map(posted.count, targets)]
    assert _rows(tenant) == before
    page.goto(f"{here}/account")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def _entered(window: Window, tenant: Tenant, host: str) -> str:
    """The service under a host name, with a session."""
    window.enter(tenant.admin_email, PASSWORD)
    here = tenant.service.url.replace("127.0.0.1", host)
    (session,) = window.context.cookies()
    window.context.add_cookies(
        [{"name": session["name"], "value": session["value"], "url": here, "httpOnly": True}]
    )
    return here


def _led(window: Window, site: str, here: str, name: str, *how: Any) -> int:
    """The response to a log-out that another site caused."""
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
    """Otherwise a user would work in the attacker's tenant without noticing."""
    window, evil = opened(), opened()
    evil.enter(desk.tenant().admin_email, PASSWORD)
    (theirs,) = evil.context.cookies()
    here, page = _entered(window, tenant, "app.desk.localhost"), window.page
    page.route("http://evil.desk.localhost/", lambda route: route.fulfill(body="<!doctype html>"))
    page.goto("http://evil.desk.localhost/")
    cookie = f"{theirs['name']}={theirs['value']}; domain=desk.localhost; path=/"
    page.evaluate("(cookie) => { document.cookie = cookie; }", cookie)
    page.goto(f"{here}/account")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    expect(page.get_by_role("button", name="Log out")).to_have_count(0)


def test_a_rebound_name_has_no_session(opened: Callable[..., Window], tenant: Tenant) -> None:
    """A page of another site whose name now resolves to the service (DNS rebinding)."""
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
