"""The address of the client: the peer, or the address from a trusted proxy."""

import ipaddress

import pytest

from sealdesk.web.client_address import client_address, is_within, networks_of
from tests.support.for_each import for_each
from tests.support.service import Tenant

PROXIES = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("2001:db8::/32"))


@for_each(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["1.1.1.1, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["1.1.1.1, 192.0.2.7, 10.0.0.2"], "192.0.2.7"),
        ("10.0.0.1", ["1.1.1.1", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["10.0.0.3,10.0.0.2"], "10.0.0.3"),
        ("2001:db8::1", ["2001:DB8:1::7, 2a00::7"], "2a00::7"),
        ("192.0.2.9", ["1.1.1.1"], "192.0.2.9"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7:8080"], "10.0.0.1"),
        ("10.0.0.1", ["1.1.1.1, évil"], "10.0.0.1"),
    ],
)
def test_the_client_is_the_nearest_address_that_is_not_a_trusted_proxy(
    peer: str, forwarded: list[str], client: str
) -> None:
    headers = [(b"x-forwarded-for", line.encode("latin-1")) for line in forwarded]
    assert client_address(peer, headers, PROXIES) == client


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("11.0.0.1", False),
        ("2001:db8::9", True),
        ("", False),
        ("nonsense", False),
    ],
)
def test_address_is_within_a_network_or_not(address: str, *, expected: bool) -> None:
    assert is_within(address, PROXIES) is expected


def test_a_forwarded_address_of_an_untrusted_peer_is_ignored(tenant: Tenant) -> None:
    key = tenant.key(allowed_ips=["192.0.2.7/32"])
    response = key.get("/api/v1/external/whoami", x_forwarded_for="192.0.2.7")
    assert response.json()["code"] == "ip_not_allowed"


@for_each(
    ("address", "networks"),
    [
        ("192.0.2.1", ("192.0.2.1",)),
        ("::ffff:192.0.2.1", ("192.0.2.1",)),
        ("2001:db8:1:2:3:4:5:6", ("2001:db8:1:2::/64", "2001:db8:1::/48")),
        ("2001:DB8:1:2::", ("2001:db8:1:2::/64", "2001:db8:1::/48")),
        ("fe80::1%eth0", ("fe80::/64", "fe80::/48")),
        ("", ("",)),
    ],
)
def test_an_ipv6_client_is_counted_by_its_networks(address: str, networks: tuple[str, ...]) -> None:
    assert networks_of(address) == networks
