"""Interface section 3: the states of an API key."""

import pytest

from sealdesk import clock
from sealdesk.identity.types import Role
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant

KEYS = "/api/v1/api-keys"
WHOAMI = "/api/v1/external/whoami"


@pytest.mark.parametrize("role", ["tenant_admin", "super_admin"])
def test_3_revoke_by_an_administrator_makes_the_key_inactive(tenant: Tenant, role: Role) -> None:
    key, person = tenant.key(), tenant.log_in(role)
    assert person.delete(f"{KEYS}/{key.id}").status_code == 204
    assert person.get(f"{KEYS}/{key.id}").json()["data"]["is_active"] is False


@pytest.mark.parametrize("role", ["tenant_admin", "super_admin"])
def test_3_rotate_by_an_administrator_leaves_the_key_active(tenant: Tenant, role: Role) -> None:
    key, person = tenant.key(), tenant.log_in(role)
    assert person.post(f"{KEYS}/{key.id}/rotate").json()["data"]["is_active"] is True


def test_3_revoke_by_an_agent_is_refused_and_the_key_keeps_working(tenant: Tenant) -> None:
    key, agent = tenant.key(), tenant.log_in("agent")
    assert agent.delete(f"{KEYS}/{key.id}").status_code == 403
    assert key.get(WHOAMI).status_code == 200


def test_3_rotate_by_an_agent_is_refused_and_the_secret_keeps_working(tenant: Tenant) -> None:
    key, agent = tenant.key(), tenant.log_in("agent")
    assert agent.post(f"{KEYS}/{key.id}/rotate").status_code == 403
    assert key.get(WHOAMI).status_code == 200


def test_3_a_request_with_a_revoked_key_immediately_gets_401(key: Key, admin: Person) -> None:
    assert key.get(WHOAMI).status_code == 200
    admin.delete(f"{KEYS}/{key.id}")
    assert key.get(WHOAMI).status_code == 401


def test_3_the_secret_of_a_rotation_works(key: Key, admin: Person) -> None:
    key.api_secret = admin.post(f"{KEYS}/{key.id}/rotate").json()["data"]["api_secret"]
    assert key.get(WHOAMI).status_code == 200


def test_3_the_old_secret_immediately_stops_working(key: Key, admin: Person) -> None:
    assert key.get(WHOAMI).status_code == 200
    admin.post(f"{KEYS}/{key.id}/rotate")
    assert key.get(WHOAMI).status_code == 401


def test_3_a_key_stops_working_at_expires_at(own_service: Service) -> None:
    soon = clock.iso(own_service.clock.now_us() + 60_000_000)
    key = own_service.tenant().key(expires_at=soon)
    assert key.get(WHOAMI).status_code == 200
    own_service.clock.advance(60)
    assert key.get(WHOAMI).status_code == 401


def test_3_a_key_without_expires_at_keeps_working(own_service: Service) -> None:
    key = own_service.tenant().key()
    own_service.clock.advance(10 * 365 * 24 * 3600)
    assert key.get(WHOAMI).status_code == 200
