"""The webhook receiver of the benchmark: wrong deliveries give no figures."""

from collections.abc import Iterator
from http.client import HTTPConnection
from operator import attrgetter

import pytest
from bench.load.clients import WrongResponse
from bench.servers.webhook_installation import ReceiverClient, running_receiver

from sealdesk import ids
from sealdesk.crypto import webhook_signing
from tests.support.service import wait_until

_SECRET = webhook_signing.mint_secret()
_WEBHOOK_ID = attrgetter("webhook_id")


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverClient]:
    with running_receiver(tmp_path_factory.mktemp("receiver")) as client:
        yield client


def _deliver(url: str, secret: str = _SECRET, webhook_id: str = "") -> tuple[str, str]:
    """The ids of the delivery and of the object in its event."""
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
    connection = HTTPConnection(host, timeout=60)
    connection.request("POST", f"/{path}", body, headers)
    assert connection.getresponse().status == 204
    connection.close()
    return webhook_id, object_id


def test_a_delivery_has_its_webhook_id_and_object_id(receiver: ReceiverClient) -> None:
    webhook_id, object_id = _deliver(receiver.url)

    assert receiver.wait_for(1, 5) == 1
    (delivery,) = receiver.take_deliveries(_SECRET, {webhook_id}, _WEBHOOK_ID)
    assert delivery.object_id == object_id
    assert receiver.take_deliveries(_SECRET, set(), _WEBHOOK_ID) == []


def test_a_repeated_delivery_gives_no_figure(receiver: ReceiverClient) -> None:
    webhook_id, _ = _deliver(receiver.url)
    _deliver(receiver.url, webhook_id=webhook_id)

    with pytest.raises(WrongResponse, match="0 lost, 1 twice"):
        receiver.take_deliveries(_SECRET, {webhook_id}, _WEBHOOK_ID)


def test_a_lost_delivery_gives_no_figure(receiver: ReceiverClient) -> None:
    webhook_id, _ = _deliver(receiver.url)

    with pytest.raises(WrongResponse, match="1 lost, 0 twice"):
        receiver.take_deliveries(_SECRET, {webhook_id, ids.mint(3)}, _WEBHOOK_ID)
    with pytest.raises(WrongResponse, match="0 of 1 deliveries within"):
        receiver.wait_for(1, 0.05)


def test_a_delivery_with_a_wrong_signature_gives_no_figure(receiver: ReceiverClient) -> None:
    webhook_id, _ = _deliver(receiver.url, webhook_signing.mint_secret())

    with pytest.raises(WrongResponse, match="wrong signature"):
        receiver.take_deliveries(_SECRET, {webhook_id}, _WEBHOOK_ID)


def test_dead_endpoints_refuse_connections_or_never_respond(receiver: ReceiverClient) -> None:
    with pytest.raises(ConnectionRefusedError):
        _deliver(receiver.refusing_url)
    host, _, _ = receiver.hanging_url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=0.2)
    connection.request("POST", "/hang", b"{}")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()

    def has_hung_once() -> bool:
        receiver.take_deliveries(_SECRET, set(), _WEBHOOK_ID)
        return receiver.hanging_count == 1

    wait_until(has_hung_once)
