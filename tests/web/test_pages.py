"""What all pages share: security headers, protection of forms, error pages."""

from collections.abc import Callable
from functools import cache

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.routes import PAGES, SITE
from sealdesk.web import assets
from sealdesk.web.operation import EVENT_STREAM, Route
from tests.support.client import send
from tests.support.combinations import Combine, in_turn_or_all
from tests.support.for_each import for_each
from tests.support.page_security import (
    FOREIGN_ORIGINS,
    FORMS,
    PageAddresses,
    assert_page_is_secure,
    is_file,
    path_of,
)
from tests.support.pages import FORM, PASSWORD, Page, Visitor, logged_in
from tests.support.service import Service

HOME = "/settings/webhooks"


_WITH_GUARD = [route for route in PAGES if route.guard.scheme == "session"]
_FOR_PEOPLE = [route for route in _WITH_GUARD if route.guard.needs]
_FOR_OFFICE = [
    route
    for route in PAGES
    # Agents have macros of their own.
    if route.path.startswith("/settings/") and not route.path.startswith("/settings/macros")
]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


@cache
def _token(visitor: Visitor) -> str:
    return visitor.get("/").form("/log-out").value("form_token")


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Visitor:
    """A browser of an administrator, shared by tests that change nothing."""
    return logged_in(shared_service.tenant())


@pytest.fixture(scope="module")
def agent(shared_service: Service) -> Visitor:
    tenant = shared_service.tenant()
    tenant.user("agent", email := f"agent.of.{tenant.id}@example.test")
    visitor = Visitor(shared_service)
    visitor.log_in(email)
    return visitor


@pytest.mark.parametrize("path", ["/", "/reset", "/nowhere", HOME])
def test_every_page_has_a_strict_content_security_policy(office: Visitor, path: str) -> None:
    assert_page_is_secure(office.get(path))
    assert_page_is_secure(Visitor(office.service).get(path))


def test_every_page_has_its_own_nonce(office: Visitor) -> None:
    policies = {office.get("/reset").answer.headers["content-security-policy"] for _ in range(5)}
    assert len(policies) == 5


# A stream is asked for by a script, which no redirect helps.
_NAVIGATED = [route for route in _FOR_PEOPLE if route.operation.produces != EVENT_STREAM]


@for_each("route", _NAVIGATED, ids=named)
def test_a_visitor_without_a_session_is_redirected_to_the_log_in(
    service: Service, route: Route
) -> None:
    answer = Visitor(service).once(route.method, path_of(route), content_type=FORM)
    assert answer.status_code == 303
    assert answer.headers["location"].partition("?")[0] == "/"


@for_each("route", _FOR_OFFICE, ids=named)
def test_an_agent_gets_an_error_page_on_pages_for_administrators(
    agent: Visitor, route: Route
) -> None:
    answer = agent.once(route.method, path_of(route), content_type=FORM)
    assert answer.status_code == 403
    assert "Ask an administrator" in answer.text
    assert_page_is_secure(Page(answer))


@in_turn_or_all
def test_forms_of_another_site_are_refused(office: Visitor, combine: Combine) -> None:
    body = f"form_token={_token(office)}".encode()
    for route, told in combine(FORMS, FOREIGN_ORIGINS):
        answer = office.once("POST", path_of(route), body, content_type=FORM, **told)
        assert answer.status_code == 403, (named(route), told)
        assert "out of date" in answer.text
        assert "set-cookie" not in answer.headers
    assert office.get("/").form("/log-out")


@in_turn_or_all
def test_forms_without_their_token_are_refused(
    office: Visitor, agent: Visitor, combine: Combine
) -> None:
    ours = {"content_type": FORM, "sec_fetch_site": "same-origin"}
    bodies = ("", "form_token=", f"form_token={_token(agent)}", "form_token=%C3%A9")
    for route, sent in combine([r for r in FORMS if r.guard.needs], bodies):
        answer = office.once("POST", path_of(route), sent.encode(), **ours)
        assert answer.status_code == 403, (named(route), sent)
    assert office.get("/").form("/log-out")


@in_turn_or_all
def test_other_content_types_than_a_form_are_refused(office: Visitor, combine: Combine) -> None:
    body = f"form_token={_token(office)}".encode()
    others = ("text/plain", "application/json", "multipart/form-data", "")
    for route, declared in combine([r for r in FORMS if not is_file(r)], others):
        answer = office.once("POST", path_of(route), body, content_type=declared)
        assert answer.status_code == 415, (named(route), declared)


def test_a_get_of_a_form_target_changes_nothing(office: Visitor) -> None:
    for path in {path_of(route) for route in FORMS} - {
        path_of(r) for r in PAGES if r.method == "GET"
    }:
        answer = office.once("GET", path)
        assert (answer.status_code, "only accepts forms" in answer.text) == (405, True), path
    assert office.get("/").form("/log-out")


def test_the_origin_header_is_enough_without_sec_fetch_site(visitor: Visitor) -> None:
    body = f"form_token={_token(visitor)}".encode()
    own = visitor.service.url
    answer = visitor.once("POST", "/log-out", body, content_type=FORM, origin=own)
    assert answer.status_code == 303


@pytest.mark.parametrize(
    "body", [b"a=%ff", b"a=%00", "a=\u00e9".encode(), b"&".join([b"a=b"] * 301)]
)
def test_an_unreadable_form_gets_an_error_page(service: Service, body: bytes) -> None:
    answer = Visitor(service).once("POST", "/log-in", body, content_type=FORM)
    assert answer.status_code == 400
    assert_page_is_secure(Page(answer))


def test_a_form_has_a_maximum_size(service: Service) -> None:
    body = b"email=" + b"a" * 1024 * 1024
    assert Visitor(service).once("POST", "/log-in", body, content_type=FORM).status_code == 413


def test_not_found_is_html_for_browsers_and_json_for_programs(service: Service) -> None:
    visitor = Visitor(service)
    for path in ("/nowhere", f"{HOME}/nowhere/at/all", "/docs/nowhere"):
        assert "Page not found" in visitor.get(path).text
        assert visitor.once("GET", path, accept="*/*").json()["code"] == "not_found"
    for path in ("/api", "/api/v1/nowhere", "/api/v1/auth/login"):
        answer = visitor.once("GET", path)
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/nowhere", "/log-out"])
def test_who_is_logged_in_keeps_the_views_beside_an_error(office: Visitor, path: str) -> None:
    assert "Waiting for us" in office.get(path).text


def test_a_page_without_storage_says_so_and_reloads(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    visitor, at = logged_in(tenant), f"/tickets/{tenant.key().ticket()['id']}"
    answer, passwords = visitor.get(at).form(f"{at}/reply"), visitor.get("/account")

    async def away(*_: object) -> None:
        raise ServiceUnavailable

    monkeypatch.setattr(own_service.state.database, "read", away)
    page = visitor.get(HOME)
    assert page.status == 503
    assert page.answer.headers["retry-after"] == "1"
    assert ("meta", "http-equiv", "refresh") in page.attributes
    assert_page_is_secure(page)
    form = visitor.once("POST", "/log-out", b"", content_type=FORM)
    assert form.status_code == 503
    assert b"refresh" not in form.content
    kept = visitor.submit(answer, body='What is <"kept">\n& sent again')
    # A password is not written into a page.
    secret = visitor.submit(passwords.form("/account/password"), current="c" * 12, new="n" * 12)
    assert (secret.status, "c" * 12 in secret.answer.text) == (503, False)
    monkeypatch.undo()
    page = visitor.submit(kept.form(f"{at}/reply"))
    assert (page.status, 'What is <"kept"> & sent again' in page.text) == (200, True)


def test_an_internal_error_page_shows_no_details(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = logged_in(own_service.tenant())
    form = visitor.get("/tickets/new").form("/tickets/new")

    async def broken(*_: object) -> None:
        raise RuntimeError("of no concern to anybody outside")

    monkeypatch.setattr(own_service.state.database, "read", broken)
    page = visitor.get(HOME)
    assert page.status == 500
    assert "It is our fault" in page.text and "concern" not in page.text
    assert page.answer.headers["x-request-id"] in page.text
    assert_page_is_secure(page)
    # What was typed is kept, and sent again once the fault is over.
    typed = {"email": "ann@kept.test", "subject": "Kept", "description": "Typed for long"}
    kept = visitor.submit(form, **typed)
    assert kept.status == 500 and "Your input is kept here." in kept.text
    monkeypatch.undo()
    page = visitor.submit(kept.form("/tickets/new"))
    assert page.status == 200 and "Typed for long" in page.text


def test_assets_are_cached_until_they_change(service: Service) -> None:
    visitor = Visitor(service)
    answer = visitor.once("GET", "/")
    named = {value for _, _, value in Page(answer).attributes if value.startswith("/assets/")}
    assert len(named) == 4
    for address in named:
        first = visitor.once("GET", address)
        assert first.headers["cache-control"] == "public, max-age=31536000, immutable"
        # A page of another version, while nodes are renewed, gets what there is, for now.
        path = address.partition("?")[0]
        other = visitor.once("GET", f"{path}?0123456789abcdef")
        assert (other.content, other.headers["cache-control"]) == (first.content, "no-cache")
        again = visitor.once("GET", path, if_none_match=first.headers["etag"])
        assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


@pytest.mark.parametrize("accepted", ["gzip", "br, GZIP;q=0.5", "gzip; q=1.0, *;q=0"])
def test_styles_and_scripts_are_compressed_for_who_accepts_it(
    service: Service, accepted: str
) -> None:
    paths = ("/assets/desk.css", "/assets/desk.js")
    for path in paths:
        response = send(service, "GET", path, b"", {"accept-encoding": accepted})
        assert response.headers["content-encoding"] == "gzip"
        assert response.content == assets.content(path.rpartition("/")[2])
        assert int(response.headers["content-length"]) < len(response.content) / 2
        plain = send(service, "GET", path, b"", {"accept-encoding": "identity"})
        assert plain.headers["etag"] != response.headers["etag"]
        assert plain.headers["vary"] == response.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize("accepted", ["", "gzip;q=0", "gzip;q=0.000", "xgzip", "gzip;level=1"])
def test_nothing_is_compressed_for_who_does_not_accept_it(service: Service, accepted: str) -> None:
    response = send(service, "GET", "/assets/desk.js", b"", {"accept-encoding": accepted})
    assert "content-encoding" not in response.headers
    assert response.content == assets.content("desk.js")


def test_the_log_in_leads_back_to_the_page_of_the_submitted_form(visitor: Visitor) -> None:
    visitor.get(f"{HOME}/new")
    visitor.cookies.clear()
    page = visitor.post("/log-out", [])
    assert page.form("/log-in").value("next") == f"{HOME}/new"


def test_behind_a_proxy_that_strips_a_prefix_every_address_has_it(
    start: Callable[..., Service],
) -> None:
    service = start(SEALDESK_EXTERNAL_PATH_PREFIX="/support")
    visitor, email = Visitor(service), service.tenant().admin_email
    told = visitor.once("GET", f"{HOME}/new").headers["location"]
    assert told == f"/support/?next={HOME}/new"
    form = f"next={HOME}/new&email={email}&password={PASSWORD}".replace(" ", "+").encode()
    entered = visitor.once("POST", "/log-in", form, content_type=FORM)
    assert entered.headers["location"] == f"/support{HOME}/new"
    for path in ("/", "/reset", "/nowhere", HOME, f"{HOME}/new"):
        answer = visitor.once("GET", path)
        page = Page(answer)
        addresses = PageAddresses(answer.text).addresses + [form.action for form in page.forms]
        assert all(address.startswith(("/support/", "#")) for address in addresses), path
    first_ticket = visitor.once("GET", "/tickets").text
    assert "TARGET=&#39;/support/api/v1/external/tickets&#39;" in first_ticket
    token = Page(visitor.once("GET", HOME)).form("/support/log-out").value("form_token")
    bo = f"form_token={token}&role=agent&email=bo%40example.test".encode()
    invited = visitor.once("POST", "/settings/people/invite", bo, content_type=FORM)
    assert f"{service.url}/support/reset#" in invited.text
    visitor.cookies.clear()
    sent = {"content_type": FORM, "referer": f"{service.url}/support{HOME}/new"}
    late = visitor.once("POST", "/log-out", b"", **sent)
    assert late.headers["location"] == told


def test_the_inbox_page_is_small(service: Service) -> None:
    visitor = Visitor(service)
    paths = (
        "/",
        *(
            f"/assets/{name}"
            for name in ("desk.css", "desk.js", "icon.svg", "icons.svg", "inter.woff2")
        ),
    )
    sizes = {path: transferred_bytes(visitor, path) for path in paths}
    assert sum(sizes.values()) < 100 * 1024
    assert sizes["/assets/desk.js"] < 45 * 1024


def transferred_bytes(visitor: Visitor, path: str) -> int:
    """The size of a body as browsers ask for it."""
    answer = visitor.once("GET", path, accept_encoding="gzip")
    return int(answer.headers["content-length"])


def test_navigation_entries_are_pages() -> None:
    rows = {route.path for route in PAGES if route.method == "GET"}
    assert {item.path for item in SITE.navigation} <= rows
