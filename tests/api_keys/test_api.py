"""Managing keys (decisions 2): what is accepted, what is shown, what stays for the audit."""

import json
from typing import Any

import httpx
import pytest

from sealdesk import clock
from sealdesk.api_keys.rules import PERMISSIONS
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant

KEYS = "/api/v1/api-keys"
WHOAMI = "/api/v1/external/whoami"
UNKNOWN = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"


@pytest.fixture(scope="module")
def admin(service: Service) -> Person:
    """An administrator whom the tests of this file share: a log-in takes a tenth of a second."""
    return service.tenant().admin()


def create(admin: Person, **fields: Any) -> httpx.Response:
    return admin.post(KEYS, {"name": "Shop", **fields})


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    answer = create(admin, **fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def faults(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "validation_failed"
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]


def dead(admin: Person) -> dict[str, Any]:
    """A revoked key."""
    key = made(admin)
    admin.delete(f"{KEYS}/{key['id']}")
    return key


@pytest.mark.parametrize("name", ["x", " Shop ", "\u00dc" * 100, "  " + "x" * 100 + "  "])
def test_a_name_has_1_to_100_characters_after_trimming(admin: Person, name: str) -> None:
    assert made(admin, name=name)["name"] == name.strip()


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_name_of_another_length_is_refused(admin: Person, name: str) -> None:
    assert [pointer for pointer, _ in faults(create(admin, name=name))] == ["/name"]


def test_a_name_need_not_be_unique(admin: Person) -> None:
    assert made(admin, name="Twin")["id"] != made(admin, name="Twin")["id"]


@pytest.mark.parametrize("fields", [{}, {"permissions": None}])
def test_permissions_left_out_are_all_of_them(admin: Person, fields: dict[str, None]) -> None:
    assert made(admin, **fields)["permissions"] == list(PERMISSIONS)


def test_no_permissions_are_none(admin: Person) -> None:
    assert made(admin, permissions=[])["permissions"] == []


def test_permissions_are_kept_once_each(admin: Person) -> None:
    names = ["tickets:read", "tickets:read"]
    assert made(admin, permissions=names)["permissions"] == ["tickets:read"]


def test_write_does_not_imply_read(admin: Person) -> None:
    key = made(admin, permissions=["tickets:write"])
    signing = Key(admin.service, key["id"], key["api_key"], key["api_secret"])
    assert signing.get("/api/v1/external/tickets").status_code == 403


def test_an_unknown_permission_is_answered_with_the_valid_ones(admin: Person) -> None:
    answer = create(admin, permissions=["tickets:read", "tickets:delete", "*"])
    assert faults(answer) == [
        ("/permissions/1", "unknown_permission"),
        ("/permissions/2", "unknown_permission"),
    ]
    assert all(name in answer.json()["errors"][0]["message"] for name in PERMISSIONS)


@pytest.mark.parametrize("fields", [{}, {"rate_limit": None}])
def test_the_rate_limit_is_1000_by_default(admin: Person, fields: dict[str, None]) -> None:
    assert made(admin, **fields)["rate_limit"] == 1000


@pytest.mark.parametrize("limit", [1, 100_000])
def test_a_rate_limit_is_1_to_100000(admin: Person, limit: int) -> None:
    assert made(admin, rate_limit=limit)["rate_limit"] == limit


@pytest.mark.parametrize("limit", [0, -1, 100_001, 2**63 - 1, 1.5, "10", True])
def test_another_rate_limit_is_refused(admin: Person, limit: object) -> None:
    assert [pointer for pointer, _ in faults(create(admin, rate_limit=limit))] == ["/rate_limit"]


def test_a_key_may_expire_in_a_moment(admin: Person) -> None:
    soon = clock.iso(admin.service.clock.now_us() + 2_000_000)
    assert made(admin, expires_at=soon)["expires_at"] == soon


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2100-01-01T00:00:00", "2100-01-01T00:00:00.000000Z"),
        ("2100-01-01T02:00:00+02:00", "2100-01-01T00:00:00.000000Z"),
        ("2100-01-01T00:00:00.123456789Z", "2100-01-01T00:00:00.123456Z"),
    ],
)
def test_an_expiry_without_offset_is_utc(admin: Person, given: str, kept: str) -> None:
    assert made(admin, expires_at=given)["expires_at"] == kept


def test_an_expiry_in_the_past_or_now_is_refused(own_service: Service) -> None:
    own_service.clock.stop()
    admin, now_us = own_service.tenant().admin(), own_service.clock.now_us()
    for at_us in (now_us, now_us - 1, 0):
        refused = create(admin, expires_at=clock.iso(at_us))
        assert faults(refused) == [("/expires_at", "expires_at_in_past")]
    assert create(admin, expires_at=clock.iso(now_us + 1)).status_code == 201


@pytest.mark.parametrize("text", ["", "tomorrow", "2100-01-01", "2100-02-30T00:00:00Z", 4102444800])
def test_an_expiry_that_is_no_instant_is_refused(admin: Person, text: object) -> None:
    assert [pointer for pointer, _ in faults(create(admin, expires_at=text))] == ["/expires_at"]


@pytest.mark.parametrize(
    "allowed", [None, [], ["203.0.113.7"], ["203.0.113.0/24", "2001:db8::/32"]]
)
def test_allowed_ips_are_null_or_networks(admin: Person, allowed: list[str] | None) -> None:
    assert made(admin, allowed_ips=allowed)["allowed_ips"] == allowed


def test_allowed_ips_are_at_most_20(admin: Person) -> None:
    networks = [f"203.0.113.{place}" for place in range(21)]
    assert made(admin, allowed_ips=networks[:20])["allowed_ips"] == networks[:20]
    assert [at for at, _ in faults(create(admin, allowed_ips=networks))] == ["/allowed_ips"]


@pytest.mark.parametrize("network", ["", "localhost", "203.0.113.7/24", "203.0.113.0/33", "1"])
def test_what_is_no_network_is_refused(admin: Person, network: str) -> None:
    refused = create(admin, allowed_ips=["203.0.113.7", network])
    assert faults(refused) == [("/allowed_ips/1", "invalid_network")]


def test_replay_protection_is_off_by_default(admin: Person) -> None:
    assert made(admin)["replay_protection"] == "off"
    assert made(admin, replay_protection="writes")["replay_protection"] == "writes"
    refused = faults(create(admin, replay_protection="all"))
    assert [pointer for pointer, _ in refused] == ["/replay_protection"]


def test_all_faults_are_named_at_once(admin: Person) -> None:
    refused = admin.post(KEYS, {"permissions": ["x"], "rate_limit": 0, "expires_at": "x"})
    pointers = {pointer for pointer, _ in faults(refused)}
    assert pointers == {"/name", "/permissions/0", "/rate_limit", "/expires_at"}


def test_a_refused_key_is_not_stored(tenant: Tenant) -> None:
    admin = tenant.admin()
    create(admin, rate_limit=0)
    create(admin, expires_at="2000-01-01T00:00:00Z")
    assert admin.get(KEYS).json()["data"] == []


def test_a_new_key_is_found_at_its_location_and_kept_by_no_cache(admin: Person) -> None:
    answer = create(admin)
    assert answer.headers["location"] == f"{KEYS}/{answer.json()['data']['id']}"
    assert answer.headers["cache-control"] == "no-store"


def test_the_list_is_newest_first_with_the_dead_ones(own_service: Service) -> None:
    tenant = own_service.tenant()
    soon = clock.iso(own_service.clock.now_us() + 60_000_000)
    keys = [tenant.key(), tenant.key(expires_at=soon), tenant.key()]
    admin = tenant.admin()
    admin.delete(f"{KEYS}/{keys[0].id}")
    own_service.clock.advance(61)
    listed = admin.get(KEYS).json()["data"]
    assert [one["id"] for one in listed] == [key.id for key in reversed(keys)]
    assert [one["is_active"] for one in listed] == [True, False, False]


def test_no_answer_but_create_and_rotate_holds_a_secret_or_ciphertext(admin: Person) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    shown = [admin.get(path), admin.patch(path, {"name": "Other"})]
    assert all(
        answer.json()["data"].keys() == admin.get(KEYS).json()["data"][0].keys() for answer in shown
    )
    names = set(shown[0].json()["data"])
    assert {"api_key", "api_secret", "sealed_secret", "secret_version"}.isdisjoint(names)


def test_one_key_is_shown_as_in_the_list(admin: Person) -> None:
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
        answer = admin.patch(path, {name: value})
        assert answer.status_code == 200
        before[name] = {"name": "Other", "expires_at": "2100-01-01T00:00:00.000000Z"}.get(
            name, value
        )
        assert answer.json()["data"] == before


def test_an_empty_patch_changes_nothing(admin: Person) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    before = admin.get(path).json()
    assert admin.patch(path, {}).json() == before


@pytest.mark.parametrize(
    "change", [{"name": None}, {"permissions": None}, {"rate_limit": None}, {"rate_limit": 0},
               {"permissions": ["x"]}, {"name": ""}, {"expires_at": "2000-01-01T00:00:00Z"}]
)  # fmt: skip
def test_a_patch_obeys_the_rules_of_creation(admin: Person, change: dict[str, Any]) -> None:
    path = f"{KEYS}/{made(admin)['id']}"
    before = admin.get(path).json()
    assert admin.patch(path, change).status_code == 422
    assert admin.get(path).json() == before


def test_a_revoked_key_can_be_neither_changed_nor_rotated(admin: Person) -> None:
    path = f"{KEYS}/{dead(admin)['id']}"
    answers = [admin.patch(path, {"name": "Other"}), admin.post(f"{path}/rotate")]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(409, "api_key_revoked")] * 2


def test_an_expired_key_can_be_neither_changed_nor_rotated(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key(expires_at=clock.iso(own_service.clock.now_us() + 1_000_000))
    own_service.clock.advance(1)
    admin, path = tenant.admin(), f"{KEYS}/{key.id}"
    answers = [admin.patch(path, {"expires_at": None}), admin.post(f"{path}/rotate")]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(409, "api_key_expired")] * 2


def test_revoking_again_is_no_error(admin: Person) -> None:
    assert admin.delete(f"{KEYS}/{dead(admin)['id']}").status_code == 204


def test_rotation_keeps_all_but_the_secret(admin: Person) -> None:
    key = made(admin, permissions=["tickets:read"], expires_at="2100-01-01T00:00:00Z")
    answer = admin.post(f"{KEYS}/{key['id']}/rotate")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    rotated = answer.json()["data"]
    secret = rotated.pop("api_secret")
    assert {**rotated, "api_key": key["api_key"], "api_secret": key["api_secret"]} == key
    signing = Key(admin.service, key["id"], key["api_key"], secret)
    assert signing.get(WHOAMI).status_code == 200


@pytest.mark.parametrize(
    ("method", "suffix"),
    [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/rotate"), ("GET", "/refusals")],
)
def test_an_unknown_id_a_foreign_one_and_no_id_answer_alike(
    admin: Person, service: Service, method: str, suffix: str
) -> None:
    foreign = service.tenant("Other").key().id
    body: dict[str, str] | None = {} if method == "PATCH" else None
    told = []
    for key_id in (UNKNOWN, foreign, "1", foreign.upper()):
        answer = admin.call(method, f"{KEYS}/{key_id}{suffix}", body)
        problem = answer.json()
        told.append((answer.status_code, problem["code"], problem["detail"], problem["title"]))
    assert told[0][:2] == (404, "not_found")
    assert set(told) == {told[0]}


def test_every_deed_is_audited_with_who_when_and_from_where(tenant: Tenant) -> None:
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


def test_whoami_tells_what_the_server_knows_of_the_key(tenant: Tenant) -> None:
    key = tenant.key(name="Shop", permissions=["tickets:read"], rate_limit=60)
    told = key.get(WHOAMI).json()["data"]
    assert told.pop("skew_s") in (0, 1)
    assert told.pop("rate_limit") == {"limit": 60, "remaining": 59, "full_in_s": 1.0}
    assert told == {
        "key_id": key.id,
        "name": "Shop",
        "key_prefix": key.api_key[:16],
        "tenant": {"id": tenant.id, "name": "Acme"},
        "permissions": ["tickets:read"],
        "expires_at": None,
    }
