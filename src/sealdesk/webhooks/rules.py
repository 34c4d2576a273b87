"""What changes and responses of webhook endpoints, deliveries and replays are; no IO."""

from collections.abc import Collection
from urllib.parse import urlsplit

import msgspec

from sealdesk import clock
from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log import events
from sealdesk.resources import merge_patch
from sealdesk.resources.representation import fingerprint, response_builder
from sealdesk.webhooks.types import (
    EVERY_TYPE,
    SUBSCRIBABLE,
    TEST,
    Attempt,
    AttemptResponse,
    AttemptSummary,
    Delivery,
    DeliveryResponse,
    DeliveryWithAttempts,
    Endpoint,
    ReceivedAnswer,
    ReplayResponse,
    SentRequest,
    WebhookChange,
    WebhookResponse,
    WebhookWithSecret,
)

MAX_ENDPOINTS = 50  # per tenant
OLD_SECRET_US = 24 * 3600 * 1_000_000
REPLAY_RANGE_US = events.KEPT_US
STORED_BODY_BYTES = 2048
MAX_ATTEMPTS = 100  # in the response of one delivery
_TOO_OLD = gettext_noop("Events are kept for 30 days, since %(oldest)s.")
_NOT_AFTER_SINCE = gettext_noop("This must be later than since.")
_IN_FUTURE = gettext_noop("This must not be in the future; it is %(now)s now.")


def sort_event_types(names: list[str]) -> tuple[str, ...]:
    """Event types without duplicates, in the documented order; or `*` alone."""
    if EVERY_TYPE in names:
        return (EVERY_TYPE,)
    return tuple(name for name in SUBSCRIBABLE if name in names)


def is_subscribed(types: Collection[str], event_type: str) -> bool:
    """Whether an endpoint with these event types gets an event. Tests are sent otherwise."""
    return event_type in types or (EVERY_TYPE in types and event_type != TEST)


def without_query(url: str) -> str:
    """A URL for logs and the audit log: a query may contain a token."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def changed(endpoint: Endpoint, change: WebhookChange) -> Endpoint:
    """The endpoint after a change. Activating it resets its failures."""
    wanted = merge_patch.given_fields(change)
    if "events" in wanted:
        wanted["events"] = sort_event_types(wanted["events"])
    if wanted.get("is_active") and not endpoint.is_active:
        wanted |= {"disabled_reason": None, "failing_since": None}
    return msgspec.structs.replace(endpoint, **wanted)


def settings_hash(endpoint: Endpoint) -> str:
    """A short hash of the settings that can be edited, to notice concurrent changes."""
    return fingerprint((endpoint.url, endpoint.events, endpoint.description))


def differences(before: Endpoint, after: Endpoint) -> events.Changes:
    """The changed fields for the audit log: field → (old, new)."""
    names = ("url", "events", "description", "is_active", "disabled_reason")
    changes = merge_patch.differences(before, after, names)
    if "url" in changes:
        changes["url"] = (without_query(before.url), without_query(after.url))
    return changes


def find_range_faults(since: int, until: int, now_us: int) -> list[Fault]:
    """The faults of a time range to replay."""
    faults = []
    if since < now_us - REPLAY_RANGE_US:
        oldest = clock.iso(now_us - REPLAY_RANGE_US)
        faults.append(Fault("/since", "too_old", _TOO_OLD, {"oldest": oldest}))
    if until <= since:
        faults.append(Fault("/until", "not_after_since", _NOT_AFTER_SINCE))
    if until > now_us:
        faults.append(Fault("/until", "in_future", _IN_FUTURE, {"now": clock.iso(now_us)}))
    return faults


def find_since_faults(since: int, now_us: int) -> list[Fault]:
    """The faults of a time since which deliveries are sent again."""
    if since > now_us:
        return [Fault("/since", "in_future", _IN_FUTURE, {"now": clock.iso(now_us)})]
    return [
        each for each in find_range_faults(since, now_us + 1, now_us) if each.pointer == "/since"
    ]


def is_success(status: int | None) -> bool:
    """Whether the status code acknowledges the event."""
    return status is not None and 200 <= status < 300


_build_endpoint = response_builder(WebhookResponse, "old_secret_expires_at")
_build_with_secret = response_builder(WebhookWithSecret, "old_secret_expires_at", "secret")
_build_delivery = response_builder(DeliveryResponse, "next_attempt_at", "last_attempt")
attempt_summary = response_builder(AttemptSummary)
replay_response = response_builder(ReplayResponse)


def endpoint_response(endpoint: Endpoint, now_us: int) -> WebhookResponse:
    """An endpoint in the form of the API and of events."""
    return _build_endpoint(endpoint, old_secret_expires_at=_old_secret_until(endpoint, now_us))


def with_secret(endpoint: Endpoint, secret: str, now_us: int) -> WebhookWithSecret:
    """An endpoint with its new secret."""
    until = _old_secret_until(endpoint, now_us)
    return _build_with_secret(endpoint, old_secret_expires_at=until, secret=secret)


def _old_secret_until(endpoint: Endpoint, now_us: int) -> str | None:
    until = endpoint.old_secret_until
    return clock.iso(until) if until and until > now_us else None


def delivery_response(delivery: Delivery, last: AttemptSummary | None) -> DeliveryResponse:
    next_attempt_at = clock.iso_or_none(delivery.due_at)
    return _build_delivery(delivery, next_attempt_at=next_attempt_at, last_attempt=last)


def delivery_with_attempts(
    delivery: Delivery, attempts: list[Attempt], payload: bytes | None
) -> DeliveryWithAttempts:
    """attempts: the most recent ones, oldest first."""
    last = attempt_summary(attempts[-1]) if attempts else None
    return DeliveryWithAttempts(
        **msgspec.structs.asdict(delivery_response(delivery, last)),
        payload=None if payload is None else payload.decode(),
        attempts=tuple(_attempt_response(attempt) for attempt in attempts),
    )


def _attempt_response(attempt: Attempt) -> AttemptResponse:
    response = None
    if attempt.status is not None:
        headers = msgspec.json.decode(attempt.answer_headers or "{}")
        response = ReceivedAnswer(attempt.status, headers, attempt.answer_body or "")
    return AttemptResponse(
        attempt.number,
        clock.iso(attempt.sent_at),
        attempt.duration_ms,
        SentRequest(attempt.url, msgspec.json.decode(attempt.request_headers)),
        response,
        attempt.error,
    )
