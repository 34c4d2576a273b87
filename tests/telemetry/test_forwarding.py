"""A proxy that is not trusted is reported, because all of its clients count as one address."""

from collections.abc import Callable

from sealdesk.telemetry.forwarding import OTHERS, UntrustedForwarders
from tests.support.client import Person
from tests.support.logs import captured_logs
from tests.support.service import Service

TIME = "/api/v1/time"


def _count(service: Service) -> int:
    lines = Person(service, "").get("/metrics").text.splitlines()
    name = 'sealdesk_untrusted_forwarded_requests_total{peer="127.0.0.1"} '
    found = [line for line in lines if line.startswith(name)]
    return int(float(found[0].removeprefix(name))) if found else 0


def test_forwarded_requests_of_an_untrusted_peer_are_counted_and_warned_of(
    own_service: Service,
) -> None:
    person = Person(own_service, "")
    with captured_logs("sealdesk.forwarding") as events:
        for _ in range(3):
            person.get(TIME, x_forwarded_for="192.0.2.1")
        assert [event["peer"] for event in events] == ["127.0.0.1"], "once a minute"
        own_service.clock.advance(61)
        person.get(TIME, x_forwarded_for="192.0.2.1")
        assert [event["requests"] for event in events] == [1, 4]
    assert events[0]["log_level"] == "warning"
    assert _count(own_service) == 4


def test_trusted_proxies_and_direct_clients_are_not_reported(
    start: Callable[..., Service],
) -> None:
    service = start(SEALDESK_TRUSTED_PROXIES="127.0.0.1")
    Person(service, "").get(TIME)
    for forwarded in ("192.0.2.1", "127.0.0.1", "nonsense"):
        Person(service, "").get(TIME, x_forwarded_for=forwarded)
    assert _count(service) == 0


def test_many_peers_are_counted_together() -> None:
    forwarders = UntrustedForwarders()
    with captured_logs("sealdesk.forwarding") as events:
        for number in range(50):
            forwarders.note(f"192.0.2.{number}", 0.0)
    assert (len(forwarders.counts), forwarders.counts[OTHERS]) == (21, 30)
    assert len(events) == 21
