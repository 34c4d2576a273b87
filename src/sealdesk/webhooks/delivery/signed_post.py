"""Sends one signed request to an endpoint; the result is an `Attempt`."""

import msgspec

from sealdesk import __version__
from sealdesk.clock import Clock
from sealdesk.crypto import webhook_signing
from sealdesk.crypto.sealing import KeyRing
from sealdesk.http_client import HttpClient, HttpResponse, RequestFailed
from sealdesk.records.endpoints import seal_context
from sealdesk.webhooks.rules import STORED_BODY_BYTES
from sealdesk.webhooks.types import Attempt, Endpoint

_STORED_HEADER_BYTES = 8 * 1024  # of all headers of a response
_AGENT = f"Sealdesk/{__version__}"


async def send(
    http_client: HttpClient,
    key_ring: KeyRing,
    endpoint: Endpoint,
    event_id: str,
    body: bytes,
    *,
    number: int,
    clock: Clock,
) -> Attempt:
    """Sign an event as of now and post it. number: of the attempt, from 1. Raises UnsealError."""
    sent_at, began_at_s = clock.now_us(), clock.monotonic_s()
    headers = _headers(key_ring, endpoint, event_id, body, sent_at)
    response, error = None, None
    try:
        response = await http_client.post(endpoint.url, headers, body)
    except RequestFailed as failure:
        error = failure.text
    return Attempt(
        number=number,
        sent_at=sent_at,
        duration_ms=round((clock.monotonic_s() - began_at_s) * 1000),
        url=endpoint.url,
        request_headers=msgspec.json.encode(headers).decode(),
        status=None if response is None else response.status,
        answer_headers=None if response is None else _encode_headers(response),
        answer_body=None if response is None else _decode_body(response),
        error=error,
    )


def expired_attempt(endpoint: Endpoint, *, number: int, clock: Clock) -> Attempt:
    """A failed attempt, because the event was deleted."""
    return Attempt(
        number=number,
        sent_at=clock.now_us(),
        duration_ms=0,
        url=endpoint.url,
        request_headers="{}",
        status=None,
        answer_headers=None,
        answer_body=None,
        error="The event is older than 30 days, and no longer kept.",
    )


def _headers(
    key_ring: KeyRing, endpoint: Endpoint, event_id: str, body: bytes, now_us: int
) -> dict[str, str]:
    timestamp = now_us // 1_000_000
    signatures = [
        webhook_signing.sign(webhook_signing.key_of(secret), event_id, timestamp, body)
        for secret in _secrets(key_ring, endpoint, now_us)
    ]
    return {
        "content-type": "application/json",
        "user-agent": _AGENT,
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def _secrets(key_ring: KeyRing, endpoint: Endpoint, now_us: int) -> list[str]:
    """The current secret, and the previous one until it expires."""
    sealed = [(endpoint.sealed_secret, endpoint.secret_version)]
    if endpoint.sealed_old_secret is not None and now_us < (endpoint.old_secret_until or 0):
        sealed.append((endpoint.sealed_old_secret, endpoint.secret_version - 1))
    return [
        key_ring.open(secret, seal_context(endpoint.tenant_id, endpoint.id, version))
        for secret, version in sealed
    ]


def _encode_headers(response: HttpResponse) -> str:
    """The headers as a JSON object; repeated headers are joined (RFC 9110, section 5.3)."""
    headers: dict[str, str] = {}
    bytes_left = _STORED_HEADER_BYTES
    for name, value in response.headers:
        bytes_left -= len(name) + len(value)
        if bytes_left < 0:
            break
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return msgspec.json.encode(headers).decode()


def _decode_body(response: HttpResponse) -> str:
    text = response.body[:STORED_BODY_BYTES].decode("utf-8", "replace")
    return text.replace("\0", "\ufffd")  # PostgreSQL cannot store U+0000
