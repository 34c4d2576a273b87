"""What pages of other sites send in the name of who is logged in here: nothing of it is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from sealdesk.db import tables
from sealdesk.routes import PAGES
from tests.browser.chromium import Window
from tests.browser.forms import forms_of
from tests.browser.hostile import address, hostile_desk
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Tenant
from tests.test_schema import OF_TENANTS

_POSTS = [route.path for route in PAGES if route.method == "POST"]
# With the token of the forms, as if that had leaked, and all that they might ask for.
_FIELDS = {
    "email": "evil@example.test", "name": "evil", "status": "closed", "body": "evil", "url": "",
    "role": "tenant_admin", "language": "de", "subject": "evil", "rate_limit": "1", "new": "evil",
}  # fmt: skip
# Each shape of a request that a page may send elsewhere without being asked, to each target.
_SEND = """async ([targets, fields]) => {
  const form = () => new URLSearchParams(fields), parts = new FormData();
  for (const [name, value] of Object.entries(fields)) parts.append(name, value);
  const post = { method: "POST", credentials: "include", mode: "no-cors" };
  const text = { "content-type": "text/plain" };
  const shapes = [
    (to) => fetch(to, { ...post, body: form() }),
    (to) => fetch(to, { ...post, body: form(), referrerPolicy: "no-referrer" }),
    (to) => fetch(to, { ...post, body: String(form()), headers: text }),
    (to) => fetch(to, { ...post, body: parts }),
    (to) => fetch(to, { ...post, body: form(), mode: "cors" }),
    (to) => fetch(to, { ...post, body: form(), mode: "cors", headers: { "x-asked": "yes" } }),
    (to) => fetch(to, { ...post, mode: "cors", method: "DELETE" }),
    (to) => fetch(to, { credentials: "include", mode: "no-cors" }),
    (to) => navigator.sendBeacon(to, form()),
    (to) => new Promise((done) => {
      const request = new XMLHttpRequest();
      request.open("POST", to);
      Object.assign(request, { withCredentials: true, onloadend: done }).send(form());
    }),
  ];
  for (const to of targets) await Promise.allSettled(shapes.map((send) => send(to)));
}"""
# As a person who was led to press a button: the browser goes where the form leads.
_LEAD = """([action, enctype, referrerPolicy, fields]) => {
  const form = Object.assign(document.createElement("form"), { method: "post", action, enctype });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement("input"), { name, value }));
  }
  const policy = { name: "referrer", content: referrerPolicy };
  document.head.append(Object.assign(document.createElement("meta"), policy));
  document.body.append(form);
  form.submit();
}"""
# What the background loop makes of the others, when it comes to it.
_BY_ITSELF = {*tables.REMADE}
_FORM = "application/x-www-form-urlencoded"
_LEADING = (
    (_FORM, "unsafe-url"),
    (_FORM, "unsafe-url"),
    (_FORM, "no-referrer"),
    (_FORM, "no-referrer"),
    ("text/plain", "unsafe-url"),
    ("multipart/form-data", "unsafe-url"),
)


class _Evil(BaseHTTPRequestHandler):
    """A page of somebody else; what is posted to it, it sends on to where its query says."""

    def do_GET(self) -> None:
        self._answer(200, b"<!doctype html><title>Win</title><link rel=icon href=data:,><body>")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(307, b"")

    def _answer(self, status: int, page: bytes) -> None:
        self.send_response(status)
        self.send_header("location", self.path.partition("?")[2])
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def _evil() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _rows(tenant: Tenant) -> dict[str, list[str]]:
    """All that is stored of a tenant because somebody sent it."""
    read = tenant.service.rows
    return {
        name: sorted(str(tuple(row)) for row in read(
            f"SELECT * FROM {name} WHERE tenant_id = :tenant LIMIT 9999", tenant=tenant.id
        ))
        for name in {table.name for table in OF_TENANTS} - _BY_ITSELF
    }  # fmt: skip


# To the browser another port of this address is another origin of the same site, which is sent
# our cookies; and another name of this machine is another site.
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-site", "cross-site"])
def test_nothing_that_another_site_sends_is_done(
    opened: Callable[..., Window], tenant: Tenant, receiver: Receiver, host: str
) -> None:
    window, desk = opened(), tenant.service
    places = hostile_desk(tenant, receiver)
    # Or what waits to be delivered would go on by itself.
    webhook = f"/api/v1/webhooks/{places['/settings/webhooks']}"
    assert tenant.admin().patch(webhook, {"is_active": False}).status_code == 200
    window.enter(tenant.admin_email, PASSWORD)
    page = window.page
    page.goto("/account")
    (token,) = {dict(form.stands).get("form_token") for form in forms_of(page).values()} - {None}
    fields: dict[str, Any] = {**_FIELDS, "form_token": token, "ticket": places["/tickets"]}
    targets = [desk.url + address(path, places) for path in _POSTS]
    desk.settle()
    before = _rows(tenant)
    posted: list[str] = []
    answers: list[tuple[object, ...]] = []
    with _evil() as port:
        site = f"http://{host}:{port}/"
        page.goto(site)
        page.on("request", lambda sent: posted.append(sent.url) if sent.method == "POST" else None)
        page.evaluate(_SEND, [targets, fields])
        for turn, (enctype, policy) in enumerate(_LEADING):
            # In turn straight here, and to itself, from where it is sent on with all it holds.
            action = f"{site}?{desk.url}/log-out" if turn % 2 else f"{desk.url}/log-out"
            page.goto(site)
            with page.expect_navigation() as led:
                page.evaluate(_LEAD, [action, enctype, policy, fields])
            answers.append((led.value.status, action, enctype, policy))
    window.complaints.clear()  # of what the other site was refused
    assert [answer for answer in answers if answer[0] not in (403, 415)] == []
    assert all(posted.count(target) >= 7 for target in targets)
    assert _rows(tenant) == before
    page.goto("/account")
    assert page.get_by_role("button", name="Log out").is_visible()
