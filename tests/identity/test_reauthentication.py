"""Changes that outlast a session ask for the password again when the log-in is not recent."""

from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.identity import actions
from sealdesk.routes import PAGES
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.types import NewWebhook
from tests.mail.mailboxes.stored import MAILBOXES, made
from tests.support.authorization_server import ENV as OAUTH_CLIENT
from tests.support.client import Person
from tests.support.databases import Begin
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import PASSWORD, Form, Page, Visitor
from tests.support.service import Service, Tenant
from tests.support.two_factor import turn_on

KEYS, PEOPLE, HOOKS = "/settings/api-keys", "/settings/people", "/settings/webhooks"
EMAIL = "/settings/email"
NEW_KEY = f"{KEYS}/new"
ERASE = "/customers/{id}/erase"
_RECENT_LOGIN_S = 15 * 60
# Changes that end with the session or give no access need no password.
_WITHOUT_PASSWORD = {
    f"{KEYS}/debug", f"{PEOPLE}/{{id}}/name", f"{HOOKS}/{{id}}/pause", f"{HOOKS}/{{id}}/activate",
    f"{HOOKS}/{{id}}/test", f"{HOOKS}/{{id}}/replay", f"{HOOKS}/{{id}}/retry-now",
    f"{HOOKS}/{{id}}/deliveries/{{delivery_id}}/redeliver", f"{HOOKS}/{{id}}/redeliver-failed",
    f"{EMAIL}/blocks", f"{EMAIL}/blocks/remove", f"{EMAIL}/{{id}}/test", f"{EMAIL}/{{id}}/pause",
    f"{EMAIL}/{{id}}/resume", f"{EMAIL}/{{id}}/code", f"{EMAIL}/{{id}}/verify",
    "/settings/business-hours", "/settings/replies",
}  # fmt: skip
_GIVE_NO_ACCESS = tuple(
    f"/settings/{room}/"
    for room in ("custom-fields", "macros", "rules", "sla-policies", "tags", "teams")
)
_WITH_PASSWORD = [
    route.path
    for route in PAGES
    if route.method == "POST"
    and (route.path.startswith("/settings/") or route.path == ERASE)
    and route.path not in _WITHOUT_PASSWORD
    and not route.path.startswith(_GIVE_NO_ACCESS)
]
# Forms that stand on the page above their path.
_ON_PARENT = {
    f"{PEOPLE}/{{id}}/{what}" for what in ("link", "role", "reactivate", "two-factor-off")
} | {f"{EMAIL}/former", f"{EMAIL}/{{id}}/connect"}


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose clock these tests advance; each has its own tenant."""
    with begin(tmp_path_factory.mktemp("fresh"), **OAUTH_CLIENT) as service:
        service.clock.stop()
        yield service


def _create(visitor: Visitor, **fields: str) -> Page:
    form = visitor.get(NEW_KEY).form(NEW_KEY)
    return visitor.submit(form, **{"name": "Shop", **fields})


def _asks(page: Page, action: str) -> bool:
    """Whether a form asks for the password; its field must be empty."""
    names = [name for name, _ in page.form(action).fields]
    assert_page_is_secure(page)
    return "password" in names and page.form(action).value("password") == ""


def _rows(tenant: Tenant, table: str) -> list[Any]:
    sql = f"SELECT * FROM {table} WHERE tenant_id = :id ORDER BY id LIMIT 99"
    return tenant.service.rows(sql, id=tenant.id)


def test_the_password_is_needed_only_when_the_log_in_is_not_recent(visitor: Visitor) -> None:
    visitor.service.clock.advance(_RECENT_LOGIN_S)
    assert not _asks(visitor.get(NEW_KEY), NEW_KEY)
    assert _create(visitor).status == 201
    visitor.service.clock.advance(0.000001)
    page = visitor.get(NEW_KEY)
    assert _asks(page, NEW_KEY)
    assert f"more than {_RECENT_LOGIN_S // 60} minutes ago" in page.text


def test_the_right_password_begins_a_session_and_ends_the_earlier_one(visitor: Visitor) -> None:
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    (before,) = visitor.cookies.values()
    assert _create(visitor, password=PASSWORD).status == 201
    assert visitor.once("GET", KEYS, cookie=f"sealdesk={before}").status_code == 303
    assert Person(visitor.service, before).get("/api/v1/auth/me").status_code == 401
    assert visitor.get(KEYS).status == 200
    visitor.service.clock.advance(_RECENT_LOGIN_S)
    assert _create(visitor, name="Second").status == 201
    visitor.service.clock.advance(1)
    assert _asks(visitor.get(NEW_KEY), NEW_KEY)


def test_a_missing_or_wrong_password_changes_nothing_and_keeps_the_input(
    visitor: Visitor, tenant: Tenant
) -> None:
    opened = visitor.get(NEW_KEY).form(NEW_KEY)
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    reported = {
        "": "Enter your password",
        "wrong": "not your password",
        "w" * 1025: "not your password",
    }
    for password, words in reported.items():
        page = visitor.submit(opened, name="Shop <b>", rate_limit="7", password=password)
        assert page.status == (401 if password == "wrong" else 422)
        assert words in page.text and ("p", "id", "password-fault") in page.attributes
        assert _asks(page, NEW_KEY)
        form = page.form(NEW_KEY)
        assert (form.value("name"), form.value("rate_limit")) == ("Shop <b>", "7")
    assert _rows(tenant, "api_keys") == []
    assert visitor.submit(form, password=PASSWORD).status == 201
    assert len(_rows(tenant, "api_keys")) == 1


def test_a_form_with_other_errors_asks_for_the_password_once(visitor: Visitor) -> None:
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    page = _create(visitor, rate_limit="0", password="wrong")
    assert ("p", "id", "password-fault") in page.attributes
    assert ("p", "id", "rate_limit-fault") in page.attributes
    page = visitor.submit(page.form(NEW_KEY), password=PASSWORD)
    assert page.status == 422 and not _asks(page, NEW_KEY)
    assert visitor.submit(page.form(NEW_KEY), rate_limit="7").status == 201


def test_guesses_are_counted_together_with_failed_log_ins(visitor: Visitor, tenant: Tenant) -> None:
    service = visitor.service
    service.clock.advance(_RECENT_LOGIN_S + 1)
    for _ in range(9):
        service.write(
            lambda tx: actions.begin_log_in(
                tx, tenant.admin_email, "127.0.0.1", now_us=service.clock.now_us()
            )
        )
    assert _create(visitor, password="wrong").status == 401
    page = _create(visitor, password=PASSWORD)
    assert page.status == 429
    assert int(page.answer.headers["retry-after"]) > 0
    assert "Try again in" in page.text and ("p", "id", "password-fault") in page.attributes
    assert _rows(tenant, "api_keys") == []
    assert Visitor(service).log_in(tenant.admin_email).status == 429


def test_renewing_a_session_is_not_a_recent_log_in(visitor: Visitor, tenant: Tenant) -> None:
    (before,) = visitor.cookies.values()
    visitor.service.clock.advance(45 * 60)
    assert _asks(visitor.get(NEW_KEY), NEW_KEY)
    assert visitor.cookies["sealdesk"] != before
    page = _create(visitor)
    assert (page.status, _rows(tenant, "api_keys")) == (422, [])


def test_the_api_needs_no_reauthentication(visitor: Visitor) -> None:
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    program = Person(visitor.service, visitor.cookies["sealdesk"])
    assert program.post("/api/v1/api-keys", {"name": "By a program"}).status_code == 201


def test_every_lasting_change_needs_reauthentication(visitor: Visitor, tenant: Tenant) -> None:
    opened = _opened(visitor, tenant)
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    before = _everything(tenant)
    for form in opened:
        page = visitor.submit(form)
        assert page.status == 422, form.action
        assert _asks(page, form.action), form.action
        assert "Nothing has been changed yet" in page.text, form.action
        again = page.form(form.action).fields
        assert [field for field in form.fields if field not in again] == [], form.action
    assert _everything(tenant) == before
    assert len(opened) == 24


def _opened(visitor: Visitor, tenant: Tenant) -> list[Form]:
    """All forms that need a password, opened while the log-in is recent."""
    gone = tenant.user()
    deactivate = f"{PEOPLE}/{gone}/deactivate"
    visitor.submit(visitor.get(deactivate).form(deactivate))
    ids = {KEYS: tenant.key().id, PEOPLE: _user_with_two_factor(tenant), HOOKS: _endpoint(tenant)}
    mailbox = made(tenant.admin(), f"{tenant.id[-31:]}@acme.test", smtp_host="mail.acme.test")
    ids[EMAIL] = mailbox["id"]
    former = made(tenant.admin(), f"{tenant.id[-31:]}@former.test")["id"]
    tenant.admin().delete(f"{MAILBOXES}/{former}")
    ids["/customers"] = tenant.key().customer(f"{tenant.id[-31:]}@shop.test")["id"]
    _add_unconfirmed_key(tenant)
    found = []
    for path in _WITH_PASSWORD:
        home = path.partition("/{id}")[0]
        action = path.replace("{id}", gone if "reactivate" in path else ids.get(home, ""))
        stands_at = action.rpartition("/")[0] if path in _ON_PARENT else action
        found.append(visitor.get(stands_at).form(action))
    return found


def _add_unconfirmed_key(tenant: Tenant) -> None:
    """A key that waits for confirmation, as after a restore."""
    sql = "UPDATE api_keys SET unconfirmed_since = 1 WHERE tenant_id = :tenant_id AND id = :id"
    params = {"tenant_id": tenant.id, "id": tenant.key().id}
    tenant.service.write(lambda tx: tx.execute(sql, params))


def _user_with_two_factor(tenant: Tenant) -> str:
    user_id = tenant.user("agent", email := f"two.of.{tenant.id}@example.test")
    own = Visitor(tenant.service)
    own.log_in(email)
    turn_on(own)
    return user_id


def _endpoint(tenant: Tenant) -> str:
    service, caller = tenant.service, Caller(tenant.id, SYSTEM, frozenset(), "")
    new = NewWebhook(url="https://example.com/hook", events=["ticket.created"])
    key_ring, now_us = service.state.key_ring, service.clock.now_us()
    return service.write(
        lambda tx: webhooks.create_webhook(tx, caller, new, key_ring=key_ring, now_us=now_us)
    ).id


def _everything(tenant: Tenant) -> list[Any]:
    """All rows that could have changed; every change is in the audit log, too."""
    return [
        _rows(tenant, table)
        for table in ("api_keys", "endpoints", "users", "audit", "mailboxes", "customers")
    ]


def test_the_password_on_a_persons_page_confirms_the_chosen_action(
    visitor: Visitor, tenant: Tenant
) -> None:
    at = f"{PEOPLE}/{tenant.user()}"
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    page = visitor.get(at)
    assert "Your password" not in page.text, "before anything was chosen"
    page = visitor.submit(page.form(f"{at}/role"), role="tenant_admin")
    assert [form.action for form in page.forms if "password" in dict(form.fields)] == [f"{at}/role"]
    page = visitor.submit(page.form(f"{at}/role"), password=PASSWORD)
    assert (visitor.at, page.form(f"{at}/role").value("role")) == (at, "tenant_admin")
    assert visitor.submit(page.form(f"{at}/link")).status == 201, "fresh by now"


def test_a_stale_form_stays_stale_during_reauthentication(visitor: Visitor, tenant: Tenant) -> None:
    key = tenant.key()
    at = f"{KEYS}/{key.id}/rotate"
    opened, other = (visitor.get(at).form(at) for _ in range(2))
    assert visitor.submit(other).status == 200
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    page = visitor.submit(opened)
    assert page.status == 422
    page = visitor.submit(page.form(at), password=PASSWORD)
    assert page.status == 412 and "has been rotated since" in page.text


def test_a_password_in_a_form_without_a_valid_token_is_ignored(visitor: Visitor) -> None:
    visitor.service.clock.advance(_RECENT_LOGIN_S + 1)
    before = {**visitor.cookies}
    assert _create(visitor, form_token="0" * 64, password=PASSWORD).status == 403
    assert visitor.cookies == before
    assert _asks(visitor.get(NEW_KEY), NEW_KEY)
