"""What a webhook endpoint, a delivery and an attempt are; no IO."""

from typing import Literal

import msgspec

from sealdesk import events

SUBSCRIBABLE = tuple(name for name in events.TYPES if name != "webhook.test")
MAX_ENDPOINTS = 50  # of one tenant
OLD_SECRET_US = 24 * 3600 * 1_000_000
SHOWN_ANSWER_BYTES = 2048

DisabledReason = Literal["gone", "failing"]
DeliveryStatus = Literal["pending", "succeeded", "failed"]


class Endpoint(msgspec.Struct, frozen=True):
    """Where a tenant wants its events, as it is stored.

    disabled_reason: why Sealdesk stopped sending; None when it sends, or a person paused it.
    sealed_old_secret: signs beside the present one until old_secret_until.
    failing_since: the first failure after the last success.
    """

    tenant_id: str
    id: str
    url: str
    events: tuple[str, ...]
    description: str | None
    is_active: bool
    disabled_reason: DisabledReason | None
    sealed_secret: bytes
    secret_version: int
    sealed_old_secret: bytes | None
    old_secret_until: int | None
    failing_since: int | None
    created_at: int

    def __repr__(self) -> str:
        return f"Endpoint(id={self.id!r})"


class Delivery(msgspec.Struct, frozen=True):
    """One event on its way to one endpoint.

    attempt_count: of all attempts. retry_count: of those since it was last asked for.
    due_at: of the next attempt; None when there will be none.
    """

    tenant_id: str
    id: str
    endpoint_id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    attempt_count: int
    retry_count: int
    due_at: int | None
    created_at: int


class Attempt(msgspec.Struct, frozen=True):
    """One request to an endpoint, and what came of it.

    request_headers, answer_headers: JSON objects. status: None when there was no answer, and then
    error says why. answer_body: as text, cut.
    """

    number: int
    sent_at: int
    duration_ms: int
    url: str
    request_headers: str
    status: int | None
    answer_headers: str | None
    answer_body: str | None
    error: str | None


def seal_context(tenant_id: str, endpoint_id: str, secret_version: int) -> str:
    """What an endpoint's sealed secret is bound to, so that it opens in no other row."""
    return f"webhook_secret {tenant_id} {endpoint_id} {secret_version}"
