"""A clock that is corrected backwards locks nobody out, and lets nobody stay in for longer."""

import pytest

from tests.support.client import Person
from tests.support.service import PASSWORD, Service, Tenant

ME = "/api/v1/auth/me"
NEW = "another long passphrase"
_HOUR_S, _DAY_S = 3600, 24 * 3600


@pytest.fixture
def service(own_service: Service) -> Service:
    return own_service


def _change_password(person: Person) -> None:
    change = {"current": PASSWORD, "new": NEW}
    assert person.post("/api/v1/auth/password", change).status_code == 204


def _status(person: Person) -> int:
    return person.get(ME).status_code


def test_tokens_are_valid_after_a_password_was_changed_ahead_of_time(tenant: Tenant) -> None:
    earlier = tenant.admin()
    tenant.service.clock.correct(2 * _HOUR_S)
    ahead = tenant.admin()
    _change_password(ahead)
    tenant.service.clock.correct(-2 * _HOUR_S)
    assert _status(tenant.service.log_in(tenant.admin_email, NEW)) == 200
    assert (_status(earlier), _status(ahead)) == (401, 401)


def test_a_token_from_before_a_change_stays_invalid_after_the_clock_is_back(
    tenant: Tenant,
) -> None:
    tenant.service.clock.correct(30)
    ahead = tenant.admin()
    tenant.service.clock.correct(-30)
    assert _status(ahead) == 200, "the clocks of two processes may differ"
    _change_password(tenant.admin())
    assert _status(ahead) == 401


def test_a_token_that_was_issued_ahead_of_time_does_not_last_longer(tenant: Tenant) -> None:
    tenant.service.clock.correct(_DAY_S)
    person = tenant.admin()
    assert _status(person) == 200
    tenant.service.clock.correct(-_DAY_S)
    refused = person.get(ME)
    assert (refused.status_code, refused.json()["code"]) == (401, "token_expired")
    assert _status(tenant.admin()) == 200


def test_failures_ahead_of_time_lock_nobody_out(tenant: Tenant) -> None:
    clock = tenant.service.clock
    clock.correct(_DAY_S)
    for _ in range(10):
        _guess(tenant)
    assert _guess(tenant) == "too_many_attempts"
    clock.correct(-_DAY_S)
    assert _guess(tenant) == "invalid_credentials"
    assert _status(tenant.admin()) == 200


def test_a_lock_never_lasts_longer_than_its_period(tenant: Tenant) -> None:
    clock = tenant.service.clock
    clock.stop()
    clock.correct(59)
    for _ in range(10):
        _guess(tenant)
    clock.correct(-59)
    body = {"email": tenant.admin_email, "password": PASSWORD}
    refused = Person(tenant.service, "").post("/api/v1/auth/login", body)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "300")


def test_failures_ahead_of_time_are_deleted(tenant: Tenant) -> None:
    tenant.service.clock.correct(_DAY_S)
    _guess(tenant)
    tenant.service.clock.correct(-_DAY_S)
    tenant.service.prune()
    assert tenant.service.rows("SELECT id FROM login_failures LIMIT 9") == []


def _guess(tenant: Tenant) -> str:
    body = {"email": tenant.admin_email, "password": "wrong"}
    response = Person(tenant.service, "").post("/api/v1/auth/login", body)
    return str(response.json()["code"])
