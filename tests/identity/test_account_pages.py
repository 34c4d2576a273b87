"""The pages of the own account, and the renewal of sessions."""

from tests.support.client import Person
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import PASSWORD, Page, Visitor, logged_in
from tests.support.service import Service, Tenant

HOME = "/account"
NEW = "another long passphrase"
CHANGE = "/account/password"


def _change(visitor: Visitor, current: str, new: str) -> Page:
    return visitor.submit(visitor.get(HOME).form(CHANGE), current=current, new=new)


def test_the_account_page_shows_the_user(tenant: Tenant) -> None:
    tenant.user("agent", email := f"me.of.{tenant.id}@example.test", "Mia <i>Mine</i>")
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    page = visitor.get(HOME)
    assert "Mia <i>Mine</i>" in page.text and email in page.text and "Agent" in page.text
    assert_page_is_secure(page)


def test_users_change_their_own_name(tenant: Tenant) -> None:
    tenant.user("agent", email := f"own.of.{tenant.id}@example.test", "Mai")
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    page = visitor.submit(visitor.get(HOME).form("/account/name"), name="Mia")
    assert (page.status, "Your name is changed" in page.text) == (200, True)
    assert page.form("/account/name").value("name") == "Mia"
    page = visitor.submit(page.form("/account/name"), name=" ")
    assert (page.status, "1 to 100 characters" in page.text) == (422, True)


def test_a_new_password_ends_all_other_sessions(tenant: Tenant) -> None:
    visitor, elsewhere, program = logged_in(tenant), logged_in(tenant), tenant.admin()
    (before,) = visitor.cookies.values()
    page = _change(visitor, PASSWORD, NEW)
    assert (page.status, visitor.at) == (200, "/account?changed=password")
    assert "Your password is changed" in page.text
    assert visitor.get(HOME).form(CHANGE)
    assert elsewhere.once("GET", HOME).status_code == 303
    assert visitor.once("GET", HOME, cookie=f"sealdesk={before}").status_code == 303
    assert program.get("/api/v1/auth/me").status_code == 401
    assert Visitor(tenant.service).log_in(tenant.admin_email, NEW).status == 200


def test_an_error_of_a_password_is_shown_at_its_field(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    wrong = _change(visitor, "not the one that it is", NEW)
    assert (wrong.status, "not your current password" in wrong.text) == (401, True)
    short = _change(visitor, PASSWORD, "short")
    assert (short.status, "at least 12 characters" in short.text) == (422, True)
    assert "short" not in [value for _, name, value in short.attributes if name == "value"]
    assert visitor.get(HOME).form(CHANGE), "still logged in"


def test_guesses_at_the_current_password_are_counted(own_service: Service) -> None:
    tenant = own_service.tenant()
    own_service.clock.stop()
    visitor = logged_in(tenant)
    pages = [_change(visitor, "not the one that it is", NEW) for _ in range(11)]
    assert [page.status for page in pages] == [401] * 10 + [429]
    assert int(pages[-1].answer.headers["retry-after"]) > 0


def _works(visitor: Visitor, minutes: int) -> bool:
    """Whether the session is valid after this many idle minutes."""
    visitor.service.clock.advance(minutes * 60)
    return visitor.once("GET", HOME).status_code == 200


def test_a_session_lasts_while_its_user_is_active_up_to_12_hours(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    assert all(_works(visitor, 50) for _ in range(14)), "11 h 40 min"
    assert _works(visitor, 19)
    assert not _works(visitor, 2), "12 h after the log-in at the latest"


def test_a_session_ends_an_hour_after_the_last_visit(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    assert _works(visitor, 45)
    assert not _works(visitor, 61)


def test_a_session_is_not_renewed_in_its_first_half_hour(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    own_service.clock.advance(29 * 60)
    assert "set-cookie" not in visitor.once("GET", HOME).headers
    own_service.clock.advance(2 * 60)
    (line,) = visitor.once("GET", HOME).headers.get_list("set-cookie")
    assert line.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax"]


def test_requests_of_scripts_do_not_renew_a_session(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    own_service.clock.advance(45 * 60)
    asked = visitor.once("GET", HOME, sec_fetch_mode="cors", sec_fetch_site="same-origin")
    assert (asked.status_code, "set-cookie" in asked.headers) == (200, False)
    assert "set-cookie" in visitor.once("GET", HOME, sec_fetch_mode="navigate").headers


def test_a_form_opened_before_a_renewal_can_be_submitted(own_service: Service) -> None:
    visitor = logged_in(own_service.tenant())
    form = visitor.get(HOME).form(CHANGE)
    assert _works(visitor, 45)
    assert visitor.submit(form, current=PASSWORD, new=NEW).status == 200


def test_logging_out_ends_all_tokens_of_the_session(
    own_service: Service,
) -> None:
    visitor = logged_in(own_service.tenant())
    tokens = [visitor.cookies["sealdesk"]]
    for _ in range(2):
        assert _works(visitor, 35)
        tokens.append(visitor.cookies["sealdesk"])
    assert len({*tokens}) == 3
    visitor.submit(visitor.get(HOME).form("/log-out"))
    for token in tokens:
        assert visitor.once("GET", HOME, cookie=f"sealdesk={token}").status_code == 303
        assert Person(own_service, token).get("/api/v1/auth/me").status_code == 401


def test_a_log_out_is_stored_until_the_session_could_no_longer_be_renewed(
    own_service: Service,
) -> None:
    visitor = logged_in(own_service.tenant())
    old = visitor.cookies["sealdesk"]
    assert _works(visitor, 45)
    new = visitor.cookies["sealdesk"]
    form = visitor.get(HOME).form("/log-out")
    visitor.cookies["sealdesk"] = old
    visitor.submit(form)
    own_service.prune()
    own_service.clock.advance(30 * 60)
    own_service.prune()
    assert visitor.once("GET", HOME, cookie=f"sealdesk={new}").status_code == 303
