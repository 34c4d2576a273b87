"""Sends one signed request to an endpoint, and describes the attempt."""

import msgspec

from sealdesk import __version__
from sealdesk.clock import Clock
from sealdesk.crypto import webhook_signing
from sealdesk.crypto.sealing import KeyRing
from sealdesk.http_client import HttpClient, HttpResponse, RequestFailed
from sealdesk.webhooks.rules import SHOWN_ANSWER_BYTES, Attempt, Endpoint, seal_context

_SHOWN_HEADER_BYTES = 8 * 1024  # of all of an answer's headers together
_AGENT = f"Sealdesk/{__version__}"


async def send(
    sender: HttpClient,
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
    answer, error = None, None
    try:
        answer = await sender.post(endpoint.url, headers, body)
    except RequestFailed as unsent:
        error = unsent.text
    return Attempt(
        number=number,
        sent_at=sent_at,
        duration_ms=round((clock.monotonic_s() - began_at_s) * 1000),
        url=endpoint.url,
        request_headers=msgspec.json.encode(headers).decode(),
        status=None if answer is None else answer.status,
        answer_headers=None if answer is None else _shown_headers(answer),
        answer_body=None if answer is None else _shown_body(answer),
        error=error,
    )


def unsendable(endpoint: Endpoint, *, number: int, clock: Clock) -> Attempt:
    """The attempt to send an event that is deleted."""
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
    """The present one, and the one before while it signs too."""
    sealed = [(endpoint.sealed_secret, endpoint.secret_version)]
    if endpoint.sealed_old_secret is not None and now_us < (endpoint.old_secret_until or 0):
        sealed.append((endpoint.sealed_old_secret, endpoint.secret_version - 1))
    return [
        key_ring.open(secret, seal_context(endpoint.tenant_id, endpoint.id, version))
        for secret, version in sealed
    ]


def _shown_headers(answer: HttpResponse) -> str:
    """As a JSON object; those of one name are joined, as HTTP allows."""
    shown: dict[str, str] = {}
    left = _SHOWN_HEADER_BYTES
    for name, value in answer.headers:
        left -= len(name) + len(value)
        if left < 0:
            break
        shown[name] = f"{shown[name]}, {value}" if name in shown else value
    return msgspec.json.encode(shown).decode()


def _shown_body(answer: HttpResponse) -> str:
    text = answer.body[:SHOWN_ANSWER_BYTES].decode("utf-8", "replace")
    return text.replace("\0", "\ufffd")  # PostgreSQL keeps no U+0000
