"""The API of key management, and its audit entries (spec decision 2)."""

import json
from typing import Any

import pytest

from sealdesk import clock
from tests.api_keys.factories import KEYS, made
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant

WHOAMI = "/api/v1/external/whoami"
UNKNOWN = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"


@pytest.fixture(scope="module")
def admin(service: Service) -> Person:
    """An administrator whom the tests of this file share: a log-in takes a tenth of a second."""
    return service.tenant().admin()


def dead(admin: Person) -> dict[str, Any]:
    """A revoked key."""
    key = made(admin)
    admin.delete(f"{KEYS}/{key['id']}")
    return key


def test_the_list_is_newest_first_and_includes_inactive_keys(own_service: Service) -> None:
    tenant = own_service.tenant()
    soon = clock.iso(own_service.clock.now_us() + 60_000_000)
    keys = [tenant.key(), tenant.key(expires_at=soon), tenant.key()]
    admin = tenant.admin()
    admin.delete(f"{KEYS}/{keys[0].id}")
    own_service.clock.advance(61)
    listed = admin.get(KEYS).json()["data"]
    assert [one["id"] for one in listed] == [key.id for key in reversed(keys)]
    assert [one["is_active"] for one in listed] == [True, False, False]


def test_only_create_and_rotate_return_a_secret(admin: Person) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    shown = [admin.get(path), admin.patch(path, {"name": "Other"})]
    assert all(
        response.json()["data"].keys() == admin.get(KEYS).json()["data"][0].keys()
        for response in shown
    )
    names = set(shown[0].json()["data"])
    assert {"api_key", "api_secret", "sealed_secret", "secret_version"}.isdisjoint(names)


def test_a_key_is_returned_as_in_the_list(admin: Person) -> None:
    key = made(admin)
    assert admin.get(f"{KEYS}/{key['id']}").json()["data"] == admin.get(KEYS).json()["data"][0]


def test_a_patch_changes_what_it_names_and_nothing_else(admin: Person) -> None:
    key = made(admin)
    path = f"{KEYS}/{key['id']}"
    before = admin.get(path).json()["data"]
    change = {
        "name": " Other ",
        "permissions": ["tickets:read"],
        "rate_limit": 5,
        "expires_at": "2100-01-01T00:00:00Z",
        "allowed_ips": ["203.0.113.7"],
        "replay_protection": "writes",
    }
    for name, value in change.items():
        response = admin.patch(path, {name: value})
        assert response.status_code == 200
        before[name] = {"name": "Other", "expires_at": "2100-01-01T00:00:00.000000Z"}.get(
            name, value
        )
        assert response.json()["data"] == before


def test_an_empty_patch_changes_nothing(admin: Person) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    before = admin.get(path).json()
    assert admin.patch(path, {}).json() == before


@pytest.mark.parametrize(
    "change", [{"name": None}, {"permissions": None}, {"rate_limit": None}, {"rate_limit": 0},
               {"permissions": ["x"]}, {"name": ""}, {"name": "\u200b"},
               {"expires_at": "2000-01-01T00:00:00Z"}]
)  # fmt: skip
def test_a_patch_is_validated_like_a_creation(admin: Person, change: dict[str, Any]) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    before = admin.get(path).json()
    assert admin.patch(path, change).status_code == 422
    assert admin.get(path).json() == before


def test_a_revoked_key_can_be_neither_changed_nor_rotated(admin: Person) -> None:
    path = f"{KEYS}/{dead(admin)['id']}"
    responses = [admin.patch(path, {"name": "Other"}), admin.post(f"{path}/rotate")]
    assert [(a.status_code, a.json()["code"]) for a in responses] == [(409, "api_key_revoked")] * 2


def test_an_expired_key_can_be_neither_changed_nor_rotated(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key(expires_at=clock.iso(own_service.clock.now_us() + 60_000_000))
    own_service.clock.advance(60)
    admin, path = tenant.admin(), f"{KEYS}/{key.id}"
    responses = [admin.patch(path, {"expires_at": None}), admin.post(f"{path}/rotate")]
    assert [(a.status_code, a.json()["code"]) for a in responses] == [(409, "api_key_expired")] * 2


def test_revoking_again_is_no_error(admin: Person) -> None:
    assert admin.delete(f"{KEYS}/{dead(admin)['id']}").status_code == 204


def test_rotation_keeps_all_but_the_secret(admin: Person) -> None:
    key = made(admin, permissions=["tickets:read"], expires_at="2100-01-01T00:00:00Z")
    response = admin.post(f"{KEYS}/{key['id']}/rotate")
    assert response.status_code == 200
    assert response.headers["cache-control"] == "private, no-store"
    rotated = response.json()["data"]
    secret = rotated.pop("api_secret")
    assert {**rotated, "api_key": key["api_key"], "api_secret": key["api_secret"]} == key
    signing = Key(admin.service, key["id"], key["api_key"], secret)
    assert signing.get(WHOAMI).status_code == 200


@pytest.mark.parametrize(
    ("method", "suffix"),
    [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/rotate"), ("GET", "/refusals")],
)
def test_unknown_foreign_and_invalid_ids_get_the_same_response(
    admin: Person, service: Service, method: str, suffix: str
) -> None:
    foreign = service.tenant("Other").key().id
    body: dict[str, str] | None = {} if method == "PATCH" else None
    reported = []
    for key_id in (UNKNOWN, foreign, "1"):
        response = admin.call(method, f"{KEYS}/{key_id}{suffix}", body)
        problem = response.json()
        reported.append(
            (response.status_code, problem["code"], problem["detail"], problem["title"])
        )
    assert reported[0][:2] == (404, "not_found")
    assert set(reported) == {reported[0]}


def test_every_action_is_audited_with_actor_time_and_address(tenant: Tenant) -> None:
    admin = tenant.admin()
    key = made(admin)
    path = f"{KEYS}/{key['id']}"
    admin.patch(path, {"rate_limit": 5})
    admin.post(f"{path}/rotate")
    admin.delete(path)
    rows = tenant.service.rows(
        "SELECT * FROM audit WHERE tenant_id = :tenant AND object_id = :key ORDER BY id LIMIT 9",
        tenant=tenant.id,
        key=key["id"],
    )
    assert [row["action"] for row in rows] == [
        "api_key.created",
        "api_key.updated",
        "api_key.rotated",
        "api_key.revoked",
    ]
    me = admin.get("/api/v1/auth/me").json()["data"]["id"]
    assert {(row["actor_kind"], row["actor_id"], row["address"]) for row in rows} == {
        ("user", me, "127.0.0.1")
    }
    assert json.loads(rows[1]["details"])["changes"] == {"rate_limit": [1000, 5]}
    assert key["api_secret"] not in str([tuple(row) for row in rows])


def test_whoami_returns_the_key_and_its_limits(tenant: Tenant) -> None:
    key = tenant.key(name="Shop", permissions=["tickets:read"], rate_limit=60)
    reported = key.get(WHOAMI).json()["data"]
    assert reported.pop("skew_s") in (0, 1)
    assert reported.pop("rate_limit") == {"limit": 60, "remaining": 59, "full_in_s": 1.0}
    assert reported == {
        "key_id": key.id,
        "name": "Shop",
        "key_prefix": key.api_key[:16],
        "mode": "live",
        "tenant": {"id": tenant.id, "name": "Acme"},
        "permissions": ["tickets:read"],
        "expires_at": None,
    }
