"""The receiver of the benchmark: what it got must be right, or there is no figure."""

from collections.abc import Iterator
from http.client import HTTPConnection
from operator import attrgetter

import pytest
from bench.clients import WrongResponse
from bench.webhook_installation import ReceiverClient, running_receiver

from sealdesk import ids
from sealdesk.crypto import webhook_signing

_SECRET = webhook_signing.mint_secret()
_OF = attrgetter("webhook_id")


@pytest.fixture(scope="module")
def arrivals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverClient]:
    with running_receiver(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


def _deliver(url: str, secret: str = _SECRET, webhook_id: str = "") -> tuple[str, str]:
    """The ids of the delivery and of what it is about."""
    webhook_id, object_id = webhook_id or ids.mint(1), ids.mint(2)
    body = f'{{"data":{{"object":{{"id":"{object_id}"}}}}}}'.encode()
    headers = {
        "Webhook-Id": webhook_id,
        "webhook-timestamp": "1",
        "webhook-signature": webhook_signing.sign(
            webhook_signing.key_of(secret), webhook_id, 1, body
        ),
    }
    host, _, path = url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=5)
    connection.request("POST", f"/{path}", body, headers)
    assert connection.getresponse().status == 204
    connection.close()
    return webhook_id, object_id


def test_a_delivery_is_found_by_its_id_and_by_what_it_is_about(arrivals: ReceiverClient) -> None:
    webhook_id, object_id = _deliver(arrivals.url)

    assert arrivals.wait_for(1, 5) == 1
    (arrival,) = arrivals.take(_SECRET, {webhook_id}, _OF)
    assert arrival.object_id == object_id
    assert arrivals.take(_SECRET, set(), _OF) == []


def test_a_delivery_that_comes_twice_gives_no_figure(arrivals: ReceiverClient) -> None:
    webhook_id, _ = _deliver(arrivals.url)
    _deliver(arrivals.url, webhook_id=webhook_id)

    with pytest.raises(WrongResponse, match="0 lost, 1 twice"):
        arrivals.take(_SECRET, {webhook_id}, _OF)


def test_a_delivery_that_is_lost_gives_no_figure(arrivals: ReceiverClient) -> None:
    webhook_id, _ = _deliver(arrivals.url)

    with pytest.raises(WrongResponse, match="1 lost, 0 twice"):
        arrivals.take(_SECRET, {webhook_id, ids.mint(3)}, _OF)
    with pytest.raises(WrongResponse, match="0 of 1 deliveries within"):
        arrivals.wait_for(1, 0.05)


def test_a_delivery_with_a_wrong_signature_gives_no_figure(arrivals: ReceiverClient) -> None:
    webhook_id, _ = _deliver(arrivals.url, webhook_signing.mint_secret())

    with pytest.raises(WrongResponse, match="wrong signature"):
        arrivals.take(_SECRET, {webhook_id}, _OF)


def test_a_dead_endpoint_refuses_or_hangs(arrivals: ReceiverClient) -> None:
    with pytest.raises(ConnectionRefusedError):
        _deliver(arrivals.refusing_url)
    host, _, _ = arrivals.hanging_url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=0.2)
    connection.request("POST", "/hang", b"{}")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    arrivals.take(_SECRET, set(), _OF)
    assert arrivals.held == 1
