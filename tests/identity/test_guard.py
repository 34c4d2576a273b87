"""Roles, and the tenant in which a super_admin acts (spec decision 1)."""

import json
from typing import Any

import pytest

from sealdesk import ids
from tests.support.client import Person
from tests.support.service import Service, Tenant
from tests.support.wire import Wire

KEYS, ME = "/api/v1/api-keys", "/api/v1/auth/me"


@pytest.fixture
def other(service: Service) -> Tenant:
    """Another tenant, with a key."""
    other = service.tenant("Other")
    other.key(name="theirs")
    return other


@pytest.fixture
def super_admin(tenant: Tenant) -> Person:
    return tenant.log_in("super_admin")


def _visits(tenant: Tenant) -> list[Any]:
    return tenant.service.rows(
        "SELECT actor_id, address, details FROM audit"
        " WHERE tenant_id = :id AND action = 'super_admin.acted' ORDER BY id",
        id=tenant.id,
    )


def test_agent_manages_no_keys(tenant: Tenant) -> None:
    response = tenant.log_in("agent").get(KEYS)
    assert (response.status_code, response.json()["code"]) == (403, "insufficient_role")


def test_super_admin_acts_in_their_own_tenant(
    super_admin: Person, tenant: Tenant, other: Tenant
) -> None:
    tenant.key(name="ours")
    assert [key["name"] for key in super_admin.get(KEYS).json()["data"]] == ["ours"]


def test_super_admin_acts_in_the_tenant_of_the_header(super_admin: Person, other: Tenant) -> None:
    response = super_admin.get(KEYS, x_tenant_id=other.id)
    assert [key["name"] for key in response.json()["data"]] == ["theirs"]


def test_a_key_created_in_another_tenant_belongs_to_it(super_admin: Person, other: Tenant) -> None:
    made = super_admin.post(KEYS, {"name": "made"}, x_tenant_id=other.id).json()["data"]
    assert made["id"] in [key["id"] for key in other.admin().get(KEYS).json()["data"]]
    assert made["id"] not in [key["id"] for key in super_admin.get(KEYS).json()["data"]]


def test_acting_in_another_tenant_is_audited_there(
    super_admin: Person, tenant: Tenant, other: Tenant
) -> None:
    super_admin.get(KEYS, x_tenant_id=other.id)
    (visit,) = _visits(other)
    assert visit["actor_id"] == super_admin.get(ME).json()["data"]["id"]
    assert visit["address"] == "127.0.0.1"
    assert json.loads(visit["details"]) == {"method": "GET", "path": KEYS}
    assert _visits(tenant) == []


def test_naming_the_own_tenant_is_not_audited_as_a_visit(
    super_admin: Person, tenant: Tenant
) -> None:
    assert super_admin.get(KEYS, x_tenant_id=tenant.id).status_code == 200
    assert _visits(tenant) == []


def test_tenant_admin_may_name_their_own_tenant_only(
    admin: Person, tenant: Tenant, other: Tenant
) -> None:
    assert admin.get(KEYS, x_tenant_id=tenant.id).status_code == 200
    refused = admin.get(KEYS, x_tenant_id=other.id)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_role")
    assert _visits(other) == []


@pytest.mark.parametrize("tenant_id", [ids.NONE, "acme", "", "' OR 1=1 --"])
def test_tenant_that_does_not_exist_is_not_found(super_admin: Person, tenant_id: str) -> None:
    response = super_admin.get(KEYS, x_tenant_id=tenant_id)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_the_own_account_is_in_the_own_tenant(
    super_admin: Person, tenant: Tenant, other: Tenant
) -> None:
    response = super_admin.get(ME, x_tenant_id=other.id)
    assert response.json()["data"]["tenant_id"] == tenant.id


def test_role_is_checked_before_the_body_is_read(tenant: Tenant) -> None:
    agent = tenant.log_in("agent")
    with Wire(tenant.service) as wire:
        bearer = ("authorization", f"Bearer {agent.token}")
        wire.head("POST", KEYS, [bearer, ("content-length", "100")])
        assert wire.answer().status == 403
