"""The shipped proxies limit an IPv4 address, an IPv6 /64, and a /48.

The proxies take the address of a client from the PROXY protocol, as loopback has one IPv6 address.
"""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.deploy.conftest import Front, Kind, PutUp
from tests.deploy.files import Certificate
from tests.support.service import Service

# Two instead of 200 for each address, four instead of 800 for each /48.
_CHANGES: dict[Kind, dict[str, str]] = {
    "nginx": {
        " ssl http2;\n    listen": (
            " ssl http2 proxy_protocol;\n    set_real_ip_from 127.0.0.1;\n"
            "    real_ip_header proxy_protocol;\n    listen"
        ),
        "limit_conn sealdesk_clients 200;": "limit_conn sealdesk_clients 2;",
        "limit_conn sealdesk_sites 800;": "limit_conn sealdesk_sites 4;",
    },
    "haproxy": {
        " alpn h2,http/1.1\n    # Not v4v6": " alpn h2,http/1.1 accept-proxy\n    # Not v4v6",
        # Rules for connections see the address before the PROXY protocol.
        "tcp-request connection track-sc0": "tcp-request session track-sc0",
        "tcp-request connection track-sc1": "tcp-request session track-sc1",
        "tcp-request connection reject if { sc0_conn_cur gt 200 }": (
            "tcp-request session reject if { sc0_conn_cur gt 2 }"
        ),
        "tcp-request connection reject if { sc1_conn_cur(sites) gt 800 }": (
            "tcp-request session reject if { sc1_conn_cur(sites) gt 4 }"
        ),
    },
}
# The body is never sent, so the request stays in progress. The 100 says that it was accepted.
_UNFINISHED = (
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
)


class Clients:
    """Opens requests that stay in progress until the end of the test."""

    def __init__(self, front: Front, certificate: Certificate, stack: ExitStack) -> None:
        self._front = front
        self._context = ssl.create_default_context(cafile=certificate.certificate)
        self._stack = stack

    def is_accepted(self, address: str) -> bool:
        """Whether a request of a client with this address may begin."""
        family, own = ("TCP6", "::1") if ":" in address else ("TCP4", "127.0.0.1")
        bare = socket.create_connection(("127.0.0.1", self._front.tls), timeout=120)
        self._stack.enter_context(bare)
        bare.sendall(f"PROXY {family} {address} {own} 40000 443\r\n".encode())
        with contextlib.suppress(ConnectionError, ssl.SSLEOFError):
            connection = self._context.wrap_socket(bare, server_hostname="localhost")
            self._stack.enter_context(connection)
            connection.sendall(_UNFINISHED)
            return connection.recv(12) == b"HTTP/1.1 100"
        return False


@pytest.fixture(scope="module", params=["haproxy", "nginx"])
def front(request: pytest.FixtureRequest, put_up: PutUp, served: Service) -> Front:
    return put_up(request.param, (served.port, served.port), _CHANGES[request.param])


@pytest.fixture
def clients(front: Front, certificate: Certificate) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(front, certificate, stack)


def test_addresses_of_one_ipv6_network_are_limited_together(clients: Clients) -> None:
    addresses = ["2001:db8:1:a::1", "2001:db8:1:a::2", "2001:db8:1:a:ffff:a0a:d0a:3"]
    assert [clients.is_accepted(address) for address in addresses] == [True, True, False]
    assert clients.is_accepted("2001:db8:1:b::1")


def test_networks_of_one_site_are_limited_together(clients: Clients) -> None:
    networks = [f"2001:db8:2:{number}::1" for number in range(1, 6)]
    assert [clients.is_accepted(address) for address in networks] == [True] * 4 + [False]
    assert clients.is_accepted("2001:db8:3:1::1")


def test_each_ipv4_address_is_limited_alone(clients: Clients) -> None:
    accepted = [clients.is_accepted("198.51.100.10") for _ in range(3)]
    assert accepted == [True, True, False]
    assert [clients.is_accepted(f"198.51.100.{number}") for number in range(11, 17)] == [True] * 6
