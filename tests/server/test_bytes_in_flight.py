"""The budgets of bytes that are received and sent: shares, refusals, and what frees them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import pytest

from sealdesk.server import http_protocol, slow_clients
from tests.support.client import Key, Person
from tests.support.connection import Connection, Reply
from tests.support.service import Service, Tenant, wait_until

TICKETS = "/api/v1/external/tickets"
MIB = 1024 * 1024
SHARE = MIB  # an eighth of the budgets below
KIB = 1024
SMALL_BUDGETS = {
    "SEALDESK_BYTES_IN_FLIGHT_MIB": "8",
    "SEALDESK_TRUSTED_PROXIES": "127.0.0.1",
}


@pytest.fixture
def limited(start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service with two budgets of 8 MiB, that sees each X-Forwarded-For as another client."""
    monkeypatch.setattr(http_protocol, "SWEEP_S", 0.02)
    return start(**SMALL_BUDGETS)


class Clients:
    """Opens connections, and closes them with the test."""

    def __init__(self, service: Service, stack: ExitStack) -> None:
        self._service = service
        self._stack = stack

    def upload(self, size: int, address: str = "203.0.113.1", declared: int = MIB) -> Connection:
        """A connection that sends the beginning of a large form."""
        connection = self._open(Connection(self._service))
        head = (
            "POST /log-in HTTP/1.1",
            "host: t",
            "content-type: application/x-www-form-urlencoded",
            f"x-forwarded-for: {address}",
            f"content-length: {declared}",
        )
        connection.send_what_is_taken("\r\n".join(head).encode() + b"\r\n\r\n" + b"a" * size)
        return connection

    def ask(self, key: Key, target: str) -> Connection:
        """A connection that asks for a response and has not read it yet."""
        connection = self._open(Connection(self._service, receive_buffer=4 * KIB))
        headers = key.signature_headers("GET", target)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.send(f"GET {target} HTTP/1.1\r\nhost: t\r\n{lines}\r\n".encode())
        return connection

    def _open(self, connection: Connection) -> Connection:
        self._stack.callback(connection.close)
        return connection


@pytest.fixture
def clients(limited: Service) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(limited, stack)


def holds_received(service: Service, size: int) -> None:
    wait_until(lambda: service.state.limits.received.held_bytes == size)


def log_in_at(service: Service) -> int:
    """The status of a small request of the first address."""
    sent = Person(service, "").post("/api/v1/auth/login", {}, x_forwarded_for="203.0.113.1")
    return sent.status_code


# Received


def test_an_address_that_sends_too_much_at_a_time_gets_503(
    limited: Service, clients: Clients
) -> None:
    clients.upload(600 * KIB)
    holds_received(limited, 600 * KIB)
    refused = clients.upload(600 * KIB)
    reply = refused.reply()
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "too_many_bytes", "1")
    assert refused.is_closed()


def test_other_addresses_and_small_bodies_are_received_meanwhile(
    limited: Service, clients: Clients
) -> None:
    clients.upload(900 * KIB)
    holds_received(limited, 900 * KIB)
    other = clients.upload(200 * KIB, "203.0.113.2", declared=200 * KIB)
    assert other.reply().status == 401
    assert log_in_at(limited) == 422


def test_the_addresses_of_one_ipv6_network_have_one_share(
    limited: Service, clients: Clients
) -> None:
    clients.upload(900 * KIB, "2001:db8::1")
    holds_received(limited, 900 * KIB)
    assert clients.upload(200 * KIB, "2001:db8::2").reply().code == "too_many_bytes"
    other = clients.upload(200 * KIB, "2001:db8:0:1::1", declared=200 * KIB)
    assert other.reply().status == 401


def test_all_addresses_together_cannot_exceed_the_budget(
    limited: Service, clients: Clients
) -> None:
    for number in range(8):
        clients.upload(1000 * KIB, f"203.0.113.{number}")
    holds_received(limited, 8000 * KIB)
    assert clients.upload(200 * KIB, "203.0.113.99").reply().code == "too_many_bytes"
    assert log_in_at(limited) == 422


def test_a_body_counts_until_it_is_answered_or_its_client_is_gone(
    limited: Service, clients: Clients
) -> None:
    answered = clients.upload(300 * KIB, declared=300 * KIB)
    assert answered.reply().status == 401
    holds_received(limited, 0)
    gone = clients.upload(300 * KIB)
    holds_received(limited, 300 * KIB)
    gone.close()
    holds_received(limited, 0)


def test_bodies_that_wait_behind_another_request_count_and_are_freed(
    limited: Service, clients: Clients, key_of: Callable[[], Key]
) -> None:
    connection = clients.ask(key_of(), TICKETS + "?per_page=100")
    wait_until(lambda: limited.state.limits.sending.held_bytes > 0)
    connection.send(
        b"POST /log-in HTTP/1.1\r\nhost: t\r\ncontent-length: 99999\r\n\r\n" + b"a" * 60_000
    )
    wait_until(lambda: limited.state.limits.received.held_bytes > 0)
    connection.close()
    holds_received(limited, 0)


def test_a_body_that_nobody_reads_is_dropped_with_the_answer(
    limited: Service, clients: Clients
) -> None:
    connection = Connection(limited)
    body = b"a" * 60_000
    head = b"POST /api/v1/api-keys HTTP/1.1\r\nhost: t\r\ncontent-length: 60000\r\n\r\n"
    connection.send(head + body)
    assert connection.reply().code == "jwt_required"
    opened: set[Any] = limited._server.server_state.connections
    held = [each.exchange for each in opened]
    wait_until(lambda: not any(exchange.unread for exchange in held if exchange is not None))
    connection.close()


# Sent


@pytest.fixture
def key_of(limited: Service) -> Callable[[], Key]:
    """Makes keys of new tenants, whose list of tickets has 700 KiB."""
    return lambda: with_tickets(limited.tenant())


def with_tickets(tenant: Tenant) -> Key:
    key = tenant.key()
    for _ in range(11):
        key.ticket(description="d" * 65_000)
    return key


def holds_unread(service: Service) -> None:
    wait_until(lambda: service.state.limits.sending.held_bytes > 600 * KIB)


def test_a_tenant_that_does_not_read_gets_503_and_others_are_served(
    limited: Service, clients: Clients, key_of: Callable[[], Key]
) -> None:
    idle, other = key_of(), key_of()
    unread = clients.ask(idle, TICKETS)
    holds_unread(limited)
    refused = idle.call("GET", TICKETS)
    assert refused.status_code == 503
    assert refused.json()["code"] == "too_many_bytes"
    assert refused.headers["retry-after"] == "1"
    assert other.call("GET", TICKETS).status_code == 200
    assert idle.call("GET", TICKETS + "?per_page=1&status=closed").status_code == 200
    assert len(unread.reply().body) > 700_000
    wait_until(lambda: limited.state.limits.sending.held_bytes == 0)
    assert idle.call("GET", TICKETS).status_code == 200


def test_a_change_is_refused_before_it_is_made_or_answered(
    limited: Service, clients: Clients, key_of: Callable[[], Key]
) -> None:
    key = key_of()
    ticket = key.call("GET", TICKETS + "?per_page=1").json()["data"][0]
    clients.ask(key, TICKETS)
    holds_unread(limited)
    path = f"{TICKETS}/{ticket['id']}"
    with holding(limited, 290 * KIB):  # within the share, but with the response over it
        assert key.patch(path, {"subject": "changed"}).status_code == 200
    with holding(limited, 400 * KIB):
        assert key.patch(path, {"subject": "again"}).json()["code"] == "too_many_bytes"
    assert key.call("GET", path).json()["data"]["subject"] == "changed"


@contextmanager
def holding(service: Service, size: int) -> Iterator[None]:
    """Add bytes to those of the tenant that holds some."""
    budget = service.state.limits.sending
    (tenant_id,) = budget._by_holder
    budget.add(tenant_id, size)
    yield
    budget.release(tenant_id, size)


def test_a_client_that_reads_nothing_for_too_long_is_disconnected(
    limited: Service,
    clients: Clients,
    key_of: Callable[[], Key],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = key_of()
    unread = clients.ask(key, TICKETS)
    holds_unread(limited)
    monkeypatch.setattr(http_protocol, "SEND_TIMEOUT_S", 0.2)
    wait_until(lambda: limited.state.limits.sending.held_bytes == 0)
    with pytest.raises((ConnectionError, AssertionError, ValueError, OSError)):
        reply: Reply = unread.reply()
        assert len(reply.body) > 700_000
    assert key.call("GET", TICKETS).status_code == 200


class Transport:
    """What is unsent on a connection."""

    def __init__(self) -> None:
        self.buffered = 0

    def get_write_buffer_size(self) -> int:
        return self.buffered

    def get_extra_info(self, _: str) -> "Transport":
        return self

    def fileno(self) -> int:
        return -1  # nothing is in the kernel


def test_only_a_client_that_takes_nothing_is_stalled() -> None:
    progress, transport = slow_clients.Progress(), Transport()

    def stalled(now: float) -> float:
        return progress.stalled_s(cast("asyncio.Transport", transport), now)

    assert stalled(100.0) == 0.0
    transport.buffered = 5000
    assert [stalled(110.0), stalled(139.0)] == [0.0, 29.0]
    transport.buffered = 4999
    assert [stalled(140.0), stalled(160.0)] == [0.0, 20.0]
    transport.buffered = 0
    assert stalled(171.0) == 0.0


def test_the_metrics_show_what_is_in_flight(limited: Service, clients: Clients) -> None:
    clients.upload(600 * KIB)
    holds_received(limited, 600 * KIB)
    clients.upload(600 * KIB).reply()
    holds_received(limited, 600 * KIB)
    exposition = limited.state.metrics.exposition().decode()
    assert f'sealdesk_bytes_in_flight{{direction="received"}} {600 * KIB}.0' in exposition
    assert 'sealdesk_bytes_refused_total{direction="received"} 1.0' in exposition
    assert 'sealdesk_bytes_in_flight{direction="sending"} 0.0' in exposition
