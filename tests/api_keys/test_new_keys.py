"""The validation of new keys (spec decision 2)."""

import pytest

from sealdesk import clock
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS, PERMISSIONS
from tests.api_keys.factories import KEYS, create, faults, made
from tests.support.client import Key, Person
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant


@pytest.fixture(scope="module")
def admin(service: Service) -> Person:
    """An administrator whom the tests of this file share: a log-in takes a tenth of a second."""
    return service.tenant().admin()


@pytest.mark.parametrize("name", ["x", " Shop ", "\u00dc" * 100, "  " + "x" * 100 + "  "])
def test_a_name_has_1_to_100_characters_after_trimming(admin: Person, name: str) -> None:
    assert made(admin, name=name)["name"] == name.strip()


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_name_of_another_length_is_refused(admin: Person, name: str) -> None:
    assert [pointer for pointer, _ in faults(create(admin, name=name))] == ["/name"]


def test_a_name_need_not_be_unique(admin: Person) -> None:
    assert made(admin, name="Twin")["id"] != made(admin, name="Twin")["id"]


@pytest.mark.parametrize("fields", [{}, {"permissions": None}])
def test_permissions_left_out_are_those_that_need_not_be_named(
    admin: Person, fields: dict[str, None]
) -> None:
    granted = made(admin, **fields)["permissions"]
    assert granted == list(DEFAULT_PERMISSIONS)
    assert not any(name.startswith("webhooks:") for name in granted)


def test_no_permissions_are_none(admin: Person) -> None:
    assert made(admin, permissions=[])["permissions"] == []


def test_permissions_are_kept_once_each(admin: Person) -> None:
    names = ["tickets:read", "tickets:read"]
    assert made(admin, permissions=names)["permissions"] == ["tickets:read"]


def test_write_does_not_imply_read(admin: Person) -> None:
    key = made(admin, permissions=["tickets:write"])
    signing = Key(admin.service, key["id"], key["api_key"], key["api_secret"])
    assert signing.get("/api/v1/external/tickets").status_code == 403


def test_the_error_for_an_unknown_permission_lists_the_valid_ones(admin: Person) -> None:
    response = create(admin, permissions=["tickets:read", "tickets:delete", "*"])
    assert faults(response) == [
        ("/permissions/1", "unknown_permission"),
        ("/permissions/2", "unknown_permission"),
    ]
    assert all(name in response.json()["errors"][0]["message"] for name in PERMISSIONS)


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


@for_each(
    "network",
    ["", "localhost", "203.0.113.7/24", "203.0.113.0/33", "1", "203.0.113.0/255.255.255.0",
     "fe80::%eth0/64", " 203.0.113.7"],
)  # fmt: skip
def test_an_invalid_network_is_refused(admin: Person, network: str) -> None:
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


def test_a_new_key_has_a_location_and_is_not_cached(admin: Person) -> None:
    response = create(admin)
    assert response.headers["location"] == f"{KEYS}/{response.json()['data']['id']}"
    assert response.headers["cache-control"] == "private, no-store"
