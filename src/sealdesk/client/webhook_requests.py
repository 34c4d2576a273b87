"""Paths and readers of the requests for webhooks that an API key manages.

A POST of them has no Idempotency-Key, so it is not repeated after a failure in the middle.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sealdesk.client.operation import (
    JSON_HEADERS,
    Operation,
    page_reader_of,
    reader_of,
)
from sealdesk.client.targets import ROOT, encode_segment
from sealdesk.client.values import encode
from sealdesk.client.webhook_results import (
    Delivery,
    DeliveryWithAttempts,
    Replay,
    Restarted,
    Webhook,
    WebhookWithSecret,
)

T = TypeVar("T")
PATH = f"{ROOT}/webhooks"
read_webhook, read_webhooks = reader_of(Webhook), page_reader_of(Webhook)
read_secret = reader_of(WebhookWithSecret)
read_delivery, read_deliveries = reader_of(Delivery), page_reader_of(Delivery)
read_attempts, read_restarted = reader_of(DeliveryWithAttempts), reader_of(Restarted)
read_replay, read_replays = reader_of(Replay), page_reader_of(Replay)


def path_of(webhook_id: str) -> str:
    return f"{PATH}/{encode_segment(webhook_id)}"


def delivery_path(webhook_id: str, delivery_id: str) -> str:
    return f"{path_of(webhook_id)}/deliveries/{encode_segment(delivery_id)}"


def post(path: str, fields: Mapping[str, Any] | None, read: Callable[[bytes], T]) -> Operation[T]:
    if fields is None:
        return Operation("POST", path, b"", {}, read)
    return Operation("POST", path, encode(fields), JSON_HEADERS, read)
