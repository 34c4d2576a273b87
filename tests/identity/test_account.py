"""The own account in the API: log-out, new passwords and resets, which end tokens."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.caller import SYSTEM
from sealdesk.identity import actions
from sealdesk.identity.auth import passwords
from tests.support.client import Person
from tests.support.service import PASSWORD, Service, Tenant, wait_until

ME, LOG_OUT, CHANGE = "/api/v1/auth/me", "/api/v1/auth/logout", "/api/v1/auth/password"
RESET = "/api/v1/auth/reset"
NEW = "another long passphrase"


def _set(tenant: Tenant, user_id: str, column: str, value: object) -> None:
    tenant.service.write(
        lambda tx: tx.execute(
            f"UPDATE users SET {column} = :value WHERE tenant_id = :tenant_id AND id = :id",
            {"value": value, "tenant_id": tenant.id, "id": user_id},
        )
    )


def _code(response: Any) -> str:
    return "" if response.is_success else str(response.json()["code"])


@pytest.fixture
def agent(tenant: Tenant) -> Person:
    return tenant.log_in("agent")


def _id(person: Person) -> str:
    return str(person.get(ME).json()["data"]["id"])


def test_me_returns_the_logged_in_user(agent: Person, tenant: Tenant) -> None:
    response = agent.get(ME)
    assert response.status_code == 200
    assert response.json()["data"].keys() == {"id", "email", "name", "role", "tenant_id"}
    assert response.json()["data"]["tenant_id"] == tenant.id


def test_logging_out_ends_the_token_for_the_next_request(agent: Person) -> None:
    assert agent.post(LOG_OUT).status_code == 204
    refused = agent.get(ME)
    assert (refused.status_code, _code(refused)) == (401, "invalid_token")
    assert refused.headers["www-authenticate"] == "Bearer"


def test_logging_out_leaves_other_tokens_of_the_user(service: Service, tenant: Tenant) -> None:
    one, other = tenant.admin(), tenant.admin()
    one.post(LOG_OUT)
    assert other.get(ME).status_code == 200


def test_new_password_replaces_the_old_one(service: Service, tenant: Tenant) -> None:
    assert tenant.admin().post(CHANGE, {"current": PASSWORD, "new": NEW}).status_code == 204
    assert service.log_in(tenant.admin_email, NEW).get(ME).status_code == 200
    old = {"email": tenant.admin_email, "password": PASSWORD}
    assert _code(Person(service, "").post("/api/v1/auth/login", old)) == "invalid_credentials"


def test_new_password_ends_every_token_at_once(tenant: Tenant) -> None:
    one, other = tenant.admin(), tenant.admin()
    one.post(CHANGE, {"current": PASSWORD, "new": NEW})
    assert [_code(person.get(ME)) for person in (one, other)] == ["invalid_token"] * 2


def test_new_password_needs_the_current_one(agent: Person) -> None:
    refused = agent.post(CHANGE, {"current": "not the password", "new": NEW})
    assert (refused.status_code, _code(refused)) == (401, "invalid_credentials")


@pytest.mark.parametrize(("new", "code"), [("x" * 11, "too_short"), ("x" * 1025, "too_long")])
def test_new_password_has_12_to_1024_characters(agent: Person, new: str, code: str) -> None:
    refused = agent.post(CHANGE, {"current": PASSWORD, "new": new})
    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["pointer"], error["code"]) == (422, "/new", code)


def test_new_password_of_12_equal_characters_is_accepted(agent: Person) -> None:
    assert agent.post(CHANGE, {"current": PASSWORD, "new": "é" * 12}).status_code == 204


def test_log_in_with_the_old_password_during_a_change_gives_no_lasting_token(
    service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_hashing, may_continue = threading.Event(), threading.Event()

    def slow_hash(password: str) -> str:
        is_hashing.set()
        may_continue.wait(120)
        return real_hash(password)

    real_hash = passwords.hash_now
    admin = tenant.admin()
    monkeypatch.setattr(passwords, "hash_now", slow_hash)
    change = threading.Thread(target=admin.post, args=(CHANGE, {"current": PASSWORD, "new": NEW}))
    change.start()
    assert is_hashing.wait(120)
    meanwhile = service.log_in(tenant.admin_email)
    may_continue.set()
    change.join()
    assert _code(meanwhile.get(ME)) == "invalid_token"


def test_log_in_that_ends_after_a_change_of_the_password_fails(
    service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_verifying, may_continue = threading.Event(), threading.Event()

    def slow_check(password: str, password_hash: str | None) -> bool:
        is_verifying.set()
        may_continue.wait(120)
        return real_look(password, password_hash)

    admin = tenant.admin()
    user_id = _id(admin)
    real_look = passwords._is_correct_now
    monkeypatch.setattr(passwords, "_is_correct_now", slow_check)
    responses: list[Any] = []
    body = {"email": tenant.admin_email, "password": PASSWORD}
    log_in = threading.Thread(
        target=lambda: responses.append(Person(service, "").post("/api/v1/auth/login", body))
    )
    log_in.start()
    assert is_verifying.wait(120)
    _set(tenant, user_id, "password_hash", passwords.hash_now(NEW))
    may_continue.set()
    log_in.join()
    assert _code(responses[0]) == "invalid_credentials"


def test_deactivation_ends_tokens_at_once(agent: Person, tenant: Tenant) -> None:
    _set(tenant, _id(agent), "is_active", value=False)
    assert _code(agent.get(ME)) == "invalid_token"


def test_changed_role_ends_tokens_at_once(tenant: Tenant) -> None:
    admin = tenant.admin()
    _set(tenant, _id(admin), "role", "agent")
    assert _code(admin.get("/api/v1/api-keys")) == "invalid_token"


def test_password_change_is_audited(agent: Person, tenant: Tenant) -> None:
    user_id = _id(agent)
    agent.post(CHANGE, {"current": PASSWORD, "new": NEW})
    rows = tenant.service.rows(
        "SELECT actor_id, address, object_id FROM audit"
        " WHERE tenant_id = :id AND action = 'user.password_changed'",
        id=tenant.id,
    )
    assert [tuple(row) for row in rows] == [(user_id, "127.0.0.1", user_id)]


def _reset_token(tenant: Tenant) -> str:
    service = tenant.service

    async def work(tx: Any) -> str:
        user = await actions.get_user_by_email(tx, tenant.admin_email)
        return await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=service.clock.now_us())

    return service.write(work)


def _reset(tenant: Tenant, token: str, new: str = NEW) -> Any:
    return Person(tenant.service, "").post(RESET, {"token": token, "new": new})


def test_reset_token_sets_a_password_and_ends_tokens(service: Service, tenant: Tenant) -> None:
    before = tenant.admin()
    assert _reset(tenant, _reset_token(tenant)).status_code == 204
    assert _code(before.get(ME)) == "invalid_token"
    assert service.log_in(tenant.admin_email, NEW).get(ME).status_code == 200


def test_reset_token_works_once(tenant: Tenant) -> None:
    token = _reset_token(tenant)
    assert [_code(_reset(tenant, token)) for _ in range(2)] == ["", "invalid_token"]


def test_newer_reset_token_ends_the_older_one(tenant: Tenant) -> None:
    older, newer = _reset_token(tenant), _reset_token(tenant)
    assert [_code(_reset(tenant, token)) for token in (older, newer)] == ["invalid_token", ""]


@pytest.mark.parametrize(("after_s", "code"), [(3590, ""), (3601, "invalid_token")])
def test_reset_token_lasts_an_hour(start: Callable[..., Service], after_s: int, code: str) -> None:
    tenant = start().tenant()
    token = _reset_token(tenant)
    tenant.service.clock.advance(after_s)
    assert _code(_reset(tenant, token)) == code


def test_weak_password_does_not_use_up_the_reset_token(tenant: Tenant) -> None:
    token = _reset_token(tenant)
    assert _code(_reset(tenant, token, "short")) == "validation_failed"
    assert _code(_reset(tenant, token)) == ""


def test_unknown_reset_token_costs_no_hash(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "hash_now", lambda password: pytest.fail("it hashed"))
    refused = _reset(tenant, "x" * 43)
    assert (refused.status_code, _code(refused)) == (401, "invalid_token")


def test_two_uses_of_a_reset_token_at_once_have_one_effect(tenant: Tenant) -> None:
    token = _reset_token(tenant)
    codes: list[str] = []
    threads = [
        threading.Thread(target=lambda: codes.append(_code(_reset(tenant, token))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(codes) == 4)
    assert sorted(codes) == ["", "invalid_token", "invalid_token", "invalid_token"]
