"""Pages to log in, log out and reset a password: cookies and redirects."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.identity import actions
from tests.support.client import Person
from tests.support.page_security import FOREIGN_PLACES
from tests.support.pages import INBOX, PASSWORD, Visitor, logged_in
from tests.support.service import Service, Tenant

HOME = "/settings/webhooks"


NEW = "another long passphrase"


@pytest.fixture
def visitor(service: Service) -> Visitor:
    return Visitor(service)


def _cookie(service: Service, email: str, **headers: str) -> str:
    """The value of the Set-Cookie header of a log-in."""
    body = f"email={email}&password={PASSWORD}".replace(" ", "+").encode()
    form = {"content_type": "application/x-www-form-urlencoded", "sec_fetch_site": "same-origin"}
    response = Visitor(service).once("POST", "/log-in", body, **form, **headers)
    assert response.status_code == 303
    (line,) = response.headers.get_list("set-cookie")
    return str(line)


def test_an_administrator_lands_on_the_administration_pages(
    visitor: Visitor, tenant: Tenant
) -> None:
    page = visitor.log_in(tenant.admin_email)
    assert (page.status, visitor.at) == (200, INBOX)
    assert HOME in page.links


def test_an_agent_sees_no_links_to_forbidden_pages(visitor: Visitor, tenant: Tenant) -> None:
    email = f"bo.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo <script>alert(1)</script>")
    page = visitor.log_in(email)
    assert (page.status, visitor.at) == (200, INBOX)
    assert "Bo <script>alert(1)</script>" in page.text
    assert page.tags.count("script") == 1
    assert HOME not in page.links


def test_after_the_log_in_the_requested_page_is_shown(visitor: Visitor, tenant: Tenant) -> None:
    asked = f"{HOME}/new"
    page = visitor.get(asked)
    assert page.form("/log-in").value("next") == asked
    visitor.submit(page.form("/log-in"), email=tenant.admin_email, password=PASSWORD)
    assert visitor.at == asked


def test_a_log_in_does_not_redirect_to_other_sites(visitor: Visitor, tenant: Tenant) -> None:
    form = visitor.get("/").form("/log-in")
    for place in FOREIGN_PLACES[:3]:
        fields = [("next", place), ("email", tenant.admin_email), ("password", PASSWORD)]
        visitor.post(form.action, fields)
        assert visitor.at == INBOX
    for place in FOREIGN_PLACES:
        response = visitor.once("GET", f"/?{urlencode({'next': place})}")
        assert response.headers["location"] == INBOX, place
        anonymous = Visitor(visitor.service).get(f"/?{urlencode({'next': place})}")
        assert anonymous.form("/log-in").value("next") == "", place


def test_a_wrong_password_keeps_the_address_and_shows_the_error_of_the_api(
    visitor: Visitor, tenant: Tenant
) -> None:
    pages = [visitor.log_in(tenant.admin_email, "wrong"), visitor.log_in("nobody@a.test", "wrong")]
    for page, typed in zip(pages, (tenant.admin_email, "nobody@a.test"), strict=True):
        assert page.status == 401
        assert page.form("/log-in").value("email") == typed
        assert page.form("/log-in").value("password") == ""
    assert pages[0].text == pages[1].text
    assert visitor.cookies == {}


def test_guesses_on_the_page_and_in_the_api_are_counted_together(own_service: Service) -> None:
    tenant, visitor = own_service.tenant(), Visitor(own_service)
    own_service.clock.stop()
    anyone = Person(own_service, "")
    for _ in range(5):
        anyone.post("/api/v1/auth/login", {"email": tenant.admin_email, "password": "wrong"})
        visitor.log_in(tenant.admin_email, "wrong")
    page = visitor.log_in(tenant.admin_email)
    assert page.status == 429
    assert int(page.answer.headers["retry-after"]) > 0
    assert "Try again in" in page.text


def test_the_cookie_is_for_this_host_and_not_for_scripts(service: Service, tenant: Tenant) -> None:
    name, _, rest = _cookie(service, tenant.admin_email).partition("=")
    assert name == "sealdesk"
    assert rest.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax"]


def test_on_https_the_cookie_is_secure_and_bound_to_the_host(
    start: Callable[..., Service],
) -> None:
    service = start(SEALDESK_TRUSTED_PROXIES="127.0.0.1")
    tenant = service.tenant()
    line = _cookie(service, tenant.admin_email, x_forwarded_proto="https")
    name, _, rest = line.partition("=")
    assert name == "__Host-sealdesk"
    assert rest.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]
    token = rest.partition(";")[0]
    visitor = Visitor(service)
    inside = visitor.once("GET", HOME, cookie=f"__Host-sealdesk={token}", x_forwarded_proto="https")
    assert inside.status_code == 200
    assert inside.headers["strict-transport-security"] == "max-age=31536000"
    # A neighbouring host can set a cookie without the prefix.
    outside = visitor.once("GET", HOME, cookie=f"sealdesk={token}", x_forwarded_proto="https")
    assert outside.status_code == 303


def test_an_untrusted_client_cannot_claim_https(service: Service, tenant: Tenant) -> None:
    assert "Secure" not in _cookie(service, tenant.admin_email, x_forwarded_proto="https")
    response = Visitor(service).once("GET", "/", x_forwarded_proto="https")
    assert "strict-transport-security" not in response.headers


def test_two_cookies_with_the_same_name_are_ignored(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    (token,) = visitor.cookies.values()
    doubled = visitor.once("GET", HOME, cookie=f"sealdesk={token}; sealdesk={token}")
    assert doubled.status_code == 303


def test_after_logging_out_the_cookie_is_invalid(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    (token,) = visitor.cookies.values()
    page = visitor.submit(visitor.get("/").form("/log-out"))
    assert (visitor.at, visitor.cookies) == ("/", {})
    assert page.form("/log-in")
    assert visitor.once("GET", HOME, cookie=f"sealdesk={token}").status_code == 303
    assert Person(tenant.service, token).get("/api/v1/auth/me").status_code == 401


def test_another_log_in_in_the_same_browser_ends_the_earlier_session(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    (before,) = visitor.cookies.values()
    fields = [("email", tenant.admin_email), ("password", PASSWORD)]
    visitor.post("/log-in", fields)
    assert visitor.at == INBOX
    assert visitor.once("GET", HOME, cookie=f"sealdesk={before}").status_code == 303


def test_the_end_of_a_session_is_shown_once(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    (token,) = visitor.cookies.values()
    Person(tenant.service, token).post("/api/v1/auth/logout")
    assert "Your log-in has expired" in visitor.get(HOME).text
    assert "Your log-in has expired" not in visitor.get("/").text


def test_an_idle_session_ends_after_an_hour(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    own_service.clock.advance(3601)
    assert visitor.get(HOME).form("/log-in").value("next") == HOME


def test_a_new_password_ends_the_session(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    change = {"current": PASSWORD, "new": NEW}
    assert tenant.admin().post("/api/v1/auth/password", change).status_code == 204
    assert visitor.once("GET", HOME).status_code == 303


def test_the_api_ignores_cookies(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    for path in ("/api/v1/auth/me", "/api/v1/api-keys"):
        response = visitor.once("GET", path)
        assert (response.status_code, response.json()["code"]) == (401, "jwt_required")


def test_pages_ignore_bearer_tokens(tenant: Tenant) -> None:
    response = tenant.admin().get(HOME)
    assert (response.status_code, response.headers["location"]) == (303, f"/?next={HOME}")


def _reset_token(tenant: Tenant) -> str:
    service, now_us = tenant.service, tenant.service.clock.now_us()

    async def work(tx: Tx) -> str:
        user = await actions.get_user_by_email(tx, tenant.admin_email)
        return await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us)

    return str(service.write(work))


def test_a_reset_link_sets_a_password_once(visitor: Visitor, tenant: Tenant) -> None:
    token = _reset_token(tenant)
    page = visitor.submit(visitor.get("/reset").form("/reset"), token=token, new=NEW)
    assert "Your password is set" in page.text
    assert "/log-in" in [form.action for form in visitor.get("/account").forms]
    assert visitor.log_in(tenant.admin_email).status == 401
    assert visitor.log_in(tenant.admin_email, NEW).status == 200
    again = visitor.submit(visitor.get("/reset").form("/reset"), token=token, new=PASSWORD)
    assert again.status == 401
    assert "was used" in again.text


def test_a_short_password_is_reported_at_its_field_and_the_token_stays(
    visitor: Visitor, tenant: Tenant
) -> None:
    token = _reset_token(tenant)
    page = visitor.submit(visitor.get("/reset").form("/reset"), token=token, new="short")
    assert page.status == 422
    assert "at least 12 characters" in page.text
    assert page.form("/reset").value("token") == token
    assert page.form("/reset").value("new") == ""
