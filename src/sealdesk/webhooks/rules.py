"""What a webhook endpoint, a delivery and an attempt are; no IO."""

from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from sealdesk import clock
from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log import events
from sealdesk.webhooks.types import (
    SUBSCRIBABLE,
    AttemptResponse,
    AttemptSummary,
    DeliveryResponse,
    DeliveryStatus,
    DeliveryWithAttempts,
    DisabledReason,
    ReceivedAnswer,
    ReplayResponse,
    SentRequest,
    WebhookChange,
    WebhookResponse,
)

MAX_ENDPOINTS = 50  # of one tenant
OLD_SECRET_US = 24 * 3600 * 1_000_000
REPLAYED_US = events.KEPT_US
SHOWN_ANSWER_BYTES = 2048
SHOWN_ATTEMPTS = 100
_TOO_OLD = gettext_noop("Events are kept for 30 days, since %(oldest)s.")
_NOT_AFTER_SINCE = gettext_noop("This must be later than since.")
_IN_FUTURE = "This must not be in the future; it is %(now)s now."


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


class Replay(msgspec.Struct, frozen=True):
    """Events of a range of time, as they are asked for again.

    until: the first instant that is no part of it. after_id: the last event that was looked at.
    """

    tenant_id: str
    id: str
    endpoint_id: str
    since: int
    until: int
    after_id: str
    delivery_count: int
    created_at: int
    finished_at: int | None


def seal_context(tenant_id: str, endpoint_id: str, secret_version: int) -> str:
    """What an endpoint's sealed secret is bound to, so that it opens in no other row."""
    return f"webhook_secret {tenant_id} {endpoint_id} {secret_version}"


def in_order(names: list[str]) -> tuple[str, ...]:
    """Event types without doubles, in the order in which they are documented."""
    return tuple(name for name in SUBSCRIBABLE if name in names)


def without_query(url: str) -> str:
    """A URL as logs and the audit show it: a query may hold a token."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def changed(endpoint: Endpoint, change: WebhookChange) -> Endpoint:
    """The endpoint after a change. Whoever starts it again forgives all of its failures."""
    wanted = {k: v for k, v in msgspec.structs.asdict(change).items() if v is not UNSET}
    if "events" in wanted:
        wanted["events"] = in_order(wanted["events"])
    if wanted.get("is_active") and not endpoint.is_active:
        wanted |= {"disabled_reason": None, "failing_since": None}
    return msgspec.structs.replace(endpoint, **wanted)


def differences(before: Endpoint, after: Endpoint) -> events.Changes:
    """What a change has changed, for the audit: field → (old, new)."""
    names = ("url", "events", "description", "is_active", "disabled_reason")
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in names}
    found = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if "url" in found:
        found["url"] = (without_query(before.url), without_query(after.url))
    return found


def faults_of_range(since: int, until: int, now_us: int) -> list[Fault]:
    """What is wrong with a range of time to replay."""
    faults = []
    if since < now_us - REPLAYED_US:
        oldest = clock.iso(now_us - REPLAYED_US)
        faults.append(Fault("/since", "too_old", _TOO_OLD, {"oldest": oldest}))
    if until <= since:
        faults.append(Fault("/until", "not_after_since", _NOT_AFTER_SINCE))
    if until > now_us:
        faults.append(Fault("/until", "in_future", _IN_FUTURE, {"now": clock.iso(now_us)}))
    return faults


def is_success(status: int | None) -> bool:
    """Whether an answer means that the event has arrived."""
    return status is not None and 200 <= status < 300


def members(endpoint: Endpoint, now_us: int) -> dict[str, Any]:
    """The members of WebhookResponse."""
    until = endpoint.old_secret_until
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "events": endpoint.events,
        "description": endpoint.description,
        "is_active": endpoint.is_active,
        "disabled_reason": endpoint.disabled_reason,
        "failing_since": clock.iso_or_none(endpoint.failing_since),
        "old_secret_expires_at": clock.iso(until) if until and until > now_us else None,
        "created_at": clock.iso(endpoint.created_at),
    }


def shown(endpoint: Endpoint, now_us: int) -> WebhookResponse:
    """An endpoint as the API and events show it."""
    return WebhookResponse(**members(endpoint, now_us))


def summary(attempt: Attempt) -> AttemptSummary:
    return AttemptSummary(
        attempt.number,
        clock.iso(attempt.sent_at),
        attempt.duration_ms,
        attempt.status,
        attempt.error,
    )


def delivery_members(delivery: Delivery, last: AttemptSummary | None) -> dict[str, Any]:
    """The members of DeliveryResponse."""
    return {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "event_type": delivery.event_type,
        "status": delivery.status,
        "attempt_count": delivery.attempt_count,
        "next_attempt_at": clock.iso_or_none(delivery.due_at),
        "created_at": clock.iso(delivery.created_at),
        "last_attempt": last,
    }


def delivery_shown(delivery: Delivery, last: AttemptSummary | None) -> DeliveryResponse:
    return DeliveryResponse(**delivery_members(delivery, last))


def delivery_with_attempts(
    delivery: Delivery, attempts: list[Attempt], payload: bytes | None
) -> DeliveryWithAttempts:
    """attempts: the last ones, oldest first."""
    return DeliveryWithAttempts(
        **delivery_members(delivery, summary(attempts[-1]) if attempts else None),
        payload=None if payload is None else payload.decode(),
        attempts=tuple(_attempt_shown(attempt) for attempt in attempts),
    )


def _attempt_shown(attempt: Attempt) -> AttemptResponse:
    answered = None
    if attempt.status is not None:
        headers = msgspec.json.decode(attempt.answer_headers or "{}")
        answered = ReceivedAnswer(attempt.status, headers, attempt.answer_body or "")
    return AttemptResponse(
        attempt.number,
        clock.iso(attempt.sent_at),
        attempt.duration_ms,
        SentRequest(attempt.url, msgspec.json.decode(attempt.request_headers)),
        answered,
        attempt.error,
    )


def replay_shown(replay: Replay) -> ReplayResponse:
    return ReplayResponse(
        replay.id,
        clock.iso(replay.since),
        clock.iso(replay.until),
        replay.delivery_count,
        clock.iso(replay.created_at),
        clock.iso_or_none(replay.finished_at),
    )
