"""The requests for webhooks that an API key manages.

A POST of them has no Idempotency-Key, so it is not repeated after a failure in the middle.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sealdesk.client.operation import (
    ListOperation,
    Operation,
    encode,
    page_reader_of,
    patch,
    read_nothing,
    reader_of,
)
from sealdesk.client.targets import ROOT, encode_segment
from sealdesk.client.webhook_results import (
    Delivery,
    DeliveryWithAttempts,
    Replay,
    Restarted,
    Webhook,
    WebhookWithSecret,
)

T = TypeVar("T")
_ROOT = f"{ROOT}/webhooks"
_TEST_S = 30.0  # the service waits for the response of the receiver
_read_webhook, _read_webhooks = reader_of(Webhook), page_reader_of(Webhook)
_read_secret = reader_of(WebhookWithSecret)
_read_delivery, _read_deliveries = reader_of(Delivery), page_reader_of(Delivery)
_read_attempts, _read_restarted = reader_of(DeliveryWithAttempts), reader_of(Restarted)
_read_replay, _read_replays = reader_of(Replay), page_reader_of(Replay)


def list_webhooks() -> ListOperation[Webhook]:
    """List webhooks."""
    return ListOperation(_ROOT, {}, _read_webhooks)


def get_webhook(webhook_id: str) -> Operation[Webhook]:
    """Get a webhook."""
    return Operation("GET", _path(webhook_id), b"", {}, _read_webhook)


def create_webhook(fields: Mapping[str, Any]) -> Operation[WebhookWithSecret]:
    """Create a webhook."""
    return _post(_ROOT, fields, _read_secret)


def change_webhook(webhook_id: str, fields: Mapping[str, Any]) -> Operation[Webhook]:
    """Change fields of a webhook."""
    return patch(_path(webhook_id), fields, None, _read_webhook)


def delete_webhook(webhook_id: str) -> Operation[None]:
    """Delete a webhook."""
    return Operation("DELETE", _path(webhook_id), b"", {}, read_nothing)


def rotate_secret(webhook_id: str) -> Operation[WebhookWithSecret]:
    """Give a webhook a new secret."""
    return _post(f"{_path(webhook_id)}/rotate-secret", None, _read_secret)


def test_webhook(webhook_id: str) -> Operation[DeliveryWithAttempts]:
    """Send a test event."""
    operation = _post(f"{_path(webhook_id)}/test", None, _read_attempts)
    return operation._replace(extra_timeout_s=_TEST_S)


def list_deliveries(webhook_id: str, query: Mapping[str, Any]) -> ListOperation[Delivery]:
    """List the deliveries of a webhook."""
    return ListOperation(f"{_path(webhook_id)}/deliveries", query, _read_deliveries)


def get_delivery(webhook_id: str, delivery_id: str) -> Operation[DeliveryWithAttempts]:
    """Get a delivery."""
    return Operation("GET", _delivery_path(webhook_id, delivery_id), b"", {}, _read_attempts)


def redeliver(webhook_id: str, delivery_id: str) -> Operation[Delivery]:
    """Send the event of a delivery again."""
    return _post(f"{_delivery_path(webhook_id, delivery_id)}/redeliver", None, _read_delivery)


def redeliver_failed(webhook_id: str, since: str) -> Operation[Restarted]:
    """Send all failed deliveries again."""
    return _post(f"{_path(webhook_id)}/redeliver-failed", {"since": since}, _read_restarted)


def retry_now(webhook_id: str) -> Operation[Restarted]:
    """Make the next attempts of all waiting deliveries now."""
    return _post(f"{_path(webhook_id)}/retry-now", None, _read_restarted)


def replay(webhook_id: str, since: str, until: str) -> Operation[Replay]:
    """Send all events of a time span again."""
    span = {"since": since, "until": until}
    return _post(f"{_path(webhook_id)}/replay", span, _read_replay)


def list_replays(webhook_id: str) -> ListOperation[Replay]:
    """List the replays of a webhook."""
    return ListOperation(f"{_path(webhook_id)}/replays", {}, _read_replays)


def _path(webhook_id: str) -> str:
    return f"{_ROOT}/{encode_segment(webhook_id)}"


def _delivery_path(webhook_id: str, delivery_id: str) -> str:
    return f"{_path(webhook_id)}/deliveries/{encode_segment(delivery_id)}"


def _post(path: str, fields: Mapping[str, Any] | None, read: Callable[[bytes], T]) -> Operation[T]:
    if fields is None:
        return Operation("POST", path, b"", {}, read)
    return Operation("POST", path, encode(fields), {"content-type": "application/json"}, read)
