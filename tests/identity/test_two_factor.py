"""Two-factor authentication: a log-in needs the password and a code."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY, Begin
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import PASSWORD, Page, Visitor, logged_in
from tests.support.service import Service, Tenant, random_key
from tests.support.two_factor import TWO_FACTOR, App, begin_setup, recovery_codes, turn_on

LOG_IN = "/log-in"


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose clock these tests advance; each has its own tenant."""
    with begin(tmp_path_factory.mktemp("two_factor")) as service:
        service.clock.stop()
        yield service


def _next_code(app: App) -> str:
    """A code that was not used yet."""
    app._service.clock.advance(30)
    return app.code()


def _log_in_by_api(tenant: Tenant, **fields: str) -> Any:
    body = {"email": tenant.admin_email, "password": PASSWORD, **fields}
    return Person(tenant.service, "").post("/api/v1/auth/login", body)


def _code(response: Any) -> str:
    return "" if response.is_success else str(response.json()["code"])


def _second_step(tenant: Tenant) -> tuple[Visitor, Page]:
    """A browser that has given the right password and is asked for a code."""
    browser = Visitor(tenant.service)
    page = browser.log_in(tenant.admin_email)
    assert page.form(LOG_IN).value("code") == ""
    return browser, page


def test_a_log_in_in_the_browser_asks_for_the_code_after_the_password(
    visitor: Visitor, tenant: Tenant
) -> None:
    app, _ = turn_on(visitor)
    browser, page = _second_step(tenant)
    assert (page.status, browser.cookies) == (200, {})
    assert PASSWORD not in page.answer.text
    assert_page_is_secure(page)
    page = browser.submit(page.form(LOG_IN), code=_next_code(app))
    assert (page.status, browser.at) == (200, "/tickets")


def test_a_log_in_through_the_api_needs_the_code(visitor: Visitor, tenant: Tenant) -> None:
    app, _ = turn_on(visitor)
    assert _code(_log_in_by_api(tenant)) == "two_factor_required"
    assert _code(_log_in_by_api(tenant, code="000000")) == "invalid_two_factor_code"
    assert _code(_log_in_by_api(tenant, code=_next_code(app))) == ""


def test_a_wrong_password_gets_the_same_answer_with_and_without_a_second_factor(
    visitor: Visitor, tenant: Tenant
) -> None:
    def refusal() -> dict[str, Any]:
        fields: dict[str, Any] = _log_in_by_api(tenant, password="wrong", code="123456").json()
        return {name: value for name, value in fields.items() if name != "request_id"}

    without = refusal()
    turn_on(visitor)
    assert refusal() == without
    assert without["code"] == "invalid_credentials"


def test_a_code_works_once(visitor: Visitor, tenant: Tenant) -> None:
    app, _ = turn_on(visitor)
    assert _code(_log_in_by_api(tenant, code=app.code())) == "invalid_two_factor_code"
    code = _next_code(app)
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: _code(_log_in_by_api(tenant, code=code)), range(4)))
    assert sorted(codes) == ["", *["invalid_two_factor_code"] * 3]


@pytest.mark.parametrize(("steps", "is_accepted"), [(-2, False), (-1, True), (1, True), (2, False)])
def test_codes_of_the_neighbouring_steps_are_accepted(
    visitor: Visitor, tenant: Tenant, steps: int, is_accepted: bool
) -> None:
    app, _ = turn_on(visitor)
    tenant.service.clock.advance(300)
    assert (_code(_log_in_by_api(tenant, code=app.code(steps))) == "") == is_accepted


def test_a_code_used_while_the_clock_was_ahead_locks_nobody_out(
    visitor: Visitor, tenant: Tenant
) -> None:
    app, _ = turn_on(visitor)
    tenant.service.clock.advance(24 * 3600)
    assert _code(_log_in_by_api(tenant, code=app.code())) == ""
    tenant.service.clock.correct(-23 * 3600)
    assert _code(_log_in_by_api(tenant, code=app.code())) == ""


def test_wrong_codes_are_limited_for_the_user(visitor: Visitor, tenant: Tenant) -> None:
    app, _ = turn_on(visitor)
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: _code(_log_in_by_api(tenant, code="x")), range(8)))
    assert sorted(codes) == [*["invalid_two_factor_code"] * 5, *["too_many_attempts"] * 3]
    refused = _log_in_by_api(tenant, code=_next_code(app))
    assert (refused.status_code, _code(refused)) == (429, "too_many_attempts")
    tenant.service.clock.advance(int(refused.headers["retry-after"]) + 0.001)
    assert _code(_log_in_by_api(tenant, code=app.code())) == ""


def test_log_ins_that_go_on_with_a_code_are_not_counted_as_failures(
    visitor: Visitor, tenant: Tenant
) -> None:
    app, _ = turn_on(visitor)
    assert [_code(_log_in_by_api(tenant)) for _ in range(12)] == ["two_factor_required"] * 12
    assert _code(_log_in_by_api(tenant, code=_next_code(app))) == ""


def test_a_recovery_code_replaces_the_app_once(visitor: Visitor, tenant: Tenant) -> None:
    _, codes = turn_on(visitor)
    assert len({*codes}) == 10
    written = codes[0].upper().replace("-", " ")
    assert _code(_log_in_by_api(tenant, code=written)) == ""
    assert _code(_log_in_by_api(tenant, code=codes[0])) == "invalid_two_factor_code"
    assert "Recovery codes left 9" in visitor.get(TWO_FACTOR).text
    browser, page = _second_step(tenant)
    assert browser.submit(page.form(LOG_IN), code=codes[1]).status == 200


def test_new_recovery_codes_replace_the_earlier_ones(visitor: Visitor, tenant: Tenant) -> None:
    _, codes = turn_on(visitor)
    form = visitor.get(TWO_FACTOR).form(f"{TWO_FACTOR}/recovery-codes")
    renewed = recovery_codes(visitor.submit(form))
    assert _code(_log_in_by_api(tenant, code=codes[0])) == "invalid_two_factor_code"
    assert _code(_log_in_by_api(tenant, code=renewed[0])) == ""


def test_the_second_step_ends_after_five_minutes(visitor: Visitor, tenant: Tenant) -> None:
    app, _ = turn_on(visitor)
    browser, page = _second_step(tenant)
    tenant.service.clock.advance(300)
    page = browser.submit(page.form(LOG_IN), code=app.code())
    assert (page.status, browser.cookies) == (401, {})
    assert "Log in again" in page.text and page.form(LOG_IN).value("password") == ""


def test_the_second_step_ends_with_a_new_password(visitor: Visitor, tenant: Tenant) -> None:
    app, _ = turn_on(visitor)
    browser, page = _second_step(tenant)
    change = visitor.get("/account").form("/account/password")
    visitor.submit(change, current=PASSWORD, new="another long passphrase")
    page = browser.submit(page.form(LOG_IN), code=_next_code(app))
    assert (page.status, browser.cookies) == (401, {})


@pytest.mark.parametrize("forge", [lambda text: text[:-4] + "AAAA", lambda text: "é", str.lower])
def test_a_forged_second_step_logs_nobody_in(
    visitor: Visitor, tenant: Tenant, forge: Callable[[str], str]
) -> None:
    app, _ = turn_on(visitor)
    browser, page = _second_step(tenant)
    form = page.form(LOG_IN)
    page = browser.submit(form, pending=forge(form.value("pending")), code=_next_code(app))
    assert (page.status, browser.cookies) == (401, {})


def test_a_wrong_code_in_the_browser_is_explained_and_asked_for_again(
    visitor: Visitor, tenant: Tenant
) -> None:
    app, _ = turn_on(visitor)
    browser, page = _second_step(tenant)
    page = browser.submit(page.form(LOG_IN), code="000000")
    assert (page.status, "This code is wrong" in page.text) == (401, True)
    assert browser.submit(page.form(LOG_IN), code=_next_code(app)).status == 200


def test_a_setup_counts_once_a_code_confirms_it(visitor: Visitor, tenant: Tenant) -> None:
    page, app = begin_setup(visitor)
    assert_page_is_secure(page)
    assert "svg" in page.tags
    assert _code(_log_in_by_api(tenant)) == ""
    page = visitor.submit(page.form(f"{TWO_FACTOR}/confirm"), code="000000")
    assert (page.status, "not the code that your app shows" in page.text) == (422, True)
    assert _code(_log_in_by_api(tenant)) == ""
    page = visitor.submit(page.form(f"{TWO_FACTOR}/confirm"), code=app.code())
    assert_page_is_secure(page)
    assert _code(_log_in_by_api(tenant)) == "two_factor_required"


def test_turning_it_on_ends_sessions_that_began_with_the_password_alone(
    visitor: Visitor, tenant: Tenant
) -> None:
    other, token = logged_in(tenant), _log_in_by_api(tenant).json()["data"]["access_token"]
    before = visitor.cookies["sealdesk"]
    turn_on(visitor)
    assert visitor.cookies["sealdesk"] != before
    assert visitor.once("GET", "/account").status_code == 200
    assert other.once("GET", "/account").status_code == 303
    other.cookies["sealdesk"] = before
    assert other.once("GET", "/account").status_code == 303
    assert Person(tenant.service, token).get("/api/v1/auth/me").status_code == 401


def test_a_setup_does_not_replace_a_second_factor_that_is_on(visitor: Visitor) -> None:
    turn_on(visitor)
    form = visitor.get(TWO_FACTOR).form(f"{TWO_FACTOR}/off")
    page = visitor.submit(form._replace(action=f"{TWO_FACTOR}/begin"))
    assert (page.status, "On since" in page.text) == (200, True)


def test_turning_it_off_needs_only_the_password_at_the_next_log_in(
    visitor: Visitor, tenant: Tenant
) -> None:
    turn_on(visitor)
    visitor.submit(visitor.get(TWO_FACTOR).form(f"{TWO_FACTOR}/off"))
    assert _code(_log_in_by_api(tenant)) == ""


def test_changes_of_the_second_factor_need_a_recent_log_in(
    visitor: Visitor, tenant: Tenant
) -> None:
    begin = visitor.get(TWO_FACTOR).form(f"{TWO_FACTOR}/begin")
    tenant.service.clock.advance(15 * 60 + 1)
    page = visitor.submit(begin)
    assert (page.status, page.form(begin.action).value("password")) == (422, "")
    page = visitor.submit(page.form(begin.action), password=PASSWORD)
    app = App(tenant.service, page.answer.text.partition('<code id="secret">')[2][:39])
    visitor.submit(page.form(f"{TWO_FACTOR}/confirm"), code=app.code())
    tenant.service.clock.advance(15 * 60 + 1)
    page = visitor.get(TWO_FACTOR)
    for action in ("recovery-codes", "off"):
        asked = visitor.submit(page.form(f"{TWO_FACTOR}/{action}"))
        assert (asked.status, asked.form(f"{TWO_FACTOR}/{action}").value("password")) == (422, "")
    assert _code(_log_in_by_api(tenant)) == "two_factor_required"


def test_an_administrator_turns_it_off_for_somebody_who_lost_the_app(
    visitor: Visitor, tenant: Tenant
) -> None:
    tenant.user("agent", email := f"lost.of.{tenant.id}@example.test")
    agent = Visitor(tenant.service)
    agent.log_in(email)
    turn_on(agent)
    (user_id,) = (row["id"] for row in _users(tenant) if row["email"] == email)
    path = f"/settings/people/{user_id}"
    page = visitor.submit(visitor.get(path).form(f"{path}/two-factor-off"))
    assert "Two-factor authentication off" in page.text
    assert Visitor(tenant.service).log_in(email).status == 200
    actions = [row["action"] for row in _audit(tenant)]
    assert actions.count("user.two_factor_off") == actions.count("user.two_factor_on") == 1


def test_secrets_and_codes_are_not_stored_readable(visitor: Visitor, tenant: Tenant) -> None:
    page, app = begin_setup(visitor)
    secret = page.answer.text.partition('<code id="secret">')[2][:39].replace(" ", "")
    codes = recovery_codes(visitor.submit(page.form(f"{TWO_FACTOR}/confirm"), code=app.code()))
    stored = tenant.service.bytes_at_rest()
    for text in (secret, app._key.hex(), *codes, codes[0].replace("-", "")):
        assert text.encode() not in stored
    assert app._key not in stored


def _users(tenant: Tenant) -> list[Any]:
    sql = "SELECT id, email FROM users WHERE tenant_id = :id ORDER BY id LIMIT 9"
    return tenant.service.rows(sql, id=tenant.id)


def _audit(tenant: Tenant) -> list[Any]:
    sql = "SELECT action FROM audit WHERE tenant_id = :id ORDER BY id LIMIT 99"
    return tenant.service.rows(sql, id=tenant.id)


@SQLITE_ONLY
def test_commands_turn_it_off_and_reseal_its_secret(
    start: Callable[..., Service],
) -> None:
    tenant = start().tenant()
    turn_on(logged_in(tenant))
    home = tenant.service.settings.database_path.parent
    old_key = (home / "master.key").read_text().strip()
    terminal = Terminal(home, SEALDESK_MASTER_KEY=f"{random_key()},{old_key}")
    assert "Resealed 1 of 1 secrets" in terminal.out("keys", "reseal")
    off = ("users", "two-factor-off", tenant.admin_email)
    assert "password alone" in terminal.out(*off)
    assert "nothing was changed" in terminal.out(*off)
    assert _code(_log_in_by_api(tenant)) == ""
