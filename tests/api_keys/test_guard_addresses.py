"""Allowed addresses of a key, and trusted proxies (spec decisions 2 and 3)."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.client import Key, Person
from tests.support.databases import Begin
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

WHOAMI = "/api/v1/external/whoami"
KEYS = "/api/v1/api-keys"


@for_each("allowed", [None, ["127.0.0.1"], ["127.0.0.0/8"], ["203.0.113.7/32", "127.0.0.1/32"]])
def test_a_key_works_from_an_allowed_address(tenant: Tenant, allowed: list[str] | None) -> None:
    assert tenant.key(allowed_ips=allowed).get(WHOAMI).status_code == 200


@pytest.mark.parametrize("allowed", [[], ["203.0.113.0/24"], ["2001:db8::/32"]])
def test_a_key_is_refused_from_another_address(tenant: Tenant, allowed: list[str]) -> None:
    response = tenant.key(allowed_ips=allowed).get(WHOAMI)
    assert response.status_code == 403
    assert response.json()["code"] == "ip_not_allowed"


def test_a_change_of_addresses_holds_for_the_next_request(key: Key, admin: Person) -> None:
    assert key.get(WHOAMI).status_code == 200
    admin.patch(f"{KEYS}/{key.id}", {"allowed_ips": ["203.0.113.0/24"]})
    assert key.get(WHOAMI).status_code == 403
    admin.patch(f"{KEYS}/{key.id}", {"allowed_ips": None})
    assert key.get(WHOAMI).status_code == 200


def test_without_trusted_proxies_forwarded_addresses_are_ignored(tenant: Tenant) -> None:
    key = tenant.key(allowed_ips=["203.0.113.0/24"])
    assert key.get(WHOAMI, x_forwarded_for="203.0.113.7").status_code == 403


@pytest.fixture(scope="module")
def behind_proxies(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    """A key that may be used from 203.0.113.0/24, of a service behind trusted proxies."""
    proxies = "127.0.0.1, 10.0.0.0/8"
    directory = tmp_path_factory.mktemp("proxied")
    with begin(directory, SEALDESK_TRUSTED_PROXIES=proxies) as service:
        yield service.tenant().key(allowed_ips=["203.0.113.0/24"])


@for_each(
    ("forwarded", "status"),
    [
        ("203.0.113.7", 200),
        ("203.0.113.7, 10.1.2.3", 200),  # by way of an inner proxy
        ("203.0.113.7, 198.51.100.1", 403),  # the last one that no proxy of ours vouches for
        ("198.51.100.1, 203.0.113.7", 200),
        ("::ffff:203.0.113.7", 200),
        ("127.0.0.1", 403),
        ("203.0.113.7, unknown", 403),
        ("", 403),
    ],
)
def test_the_last_untrusted_forwarded_address_is_the_client(
    behind_proxies: Key, forwarded: str, status: int
) -> None:
    assert behind_proxies.get(WHOAMI, x_forwarded_for=forwarded).status_code == status


def test_an_untrusted_proxy_cannot_set_the_address(start: Callable[..., Service]) -> None:
    key = start(SEALDESK_TRUSTED_PROXIES="10.0.0.1").tenant().key(allowed_ips=["203.0.113.0/24"])
    assert key.get(WHOAMI, x_forwarded_for="203.0.113.7").status_code == 403
