"""The structs of webhooks: endpoints, deliveries, attempts and replays."""

import difflib
from typing import Annotated, ClassVar, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log import events
from sealdesk.ids import Id
from sealdesk.resources.representation import Instant

TEST = "webhook.test"
EVERY_TYPE = "*"  # all event types, also those that a later version adds
SUBSCRIBABLE = tuple(name for name in events.TYPES if name != TEST)
URL_LENGTH = 2048

DisabledReason = Literal["gone", "failing"]
DeliveryStatus = Literal["pending", "succeeded", "failed"]
DELIVERY_STATUSES: tuple[str, ...] = get_args(DeliveryStatus)
_NO_EVENTS = gettext_noop("Name at least one event type.")
_ONLY_AS_A_TEST = (
    "webhook.test is no subscription: POST /api/v1/webhooks/{id}/test sends it to that endpoint,"
    " whatever its events are."
)


def _check_events(names: list[str]) -> list[Fault]:
    if not names:
        return [Fault("", "too_few", _NO_EVENTS)]
    if names == [EVERY_TYPE]:
        return []
    return [
        Fault(f"/{index}", "unknown_event_type", *_reason(name))
        for index, name in enumerate(names)
        if name not in SUBSCRIBABLE
    ]


def _reason(name: str) -> tuple[str, dict[str, str]]:
    if name == TEST:
        return _ONLY_AS_A_TEST, {}
    if name == EVERY_TYPE:
        return "* means every event type, so it is the only item.", {}
    return "%(name)s is not an event type. %(hint)s", {
        "name": ascii(name[:64]),
        "hint": _hint(name),
    }


def _hint(name: str) -> str:
    nearest = difflib.get_close_matches(name[:64], SUBSCRIBABLE, n=1)
    suggestion = f"Did you mean {nearest[0]}? " if nearest else ""
    return f"{suggestion}There are {', '.join(SUBSCRIBABLE)}."


Url = Annotated[str, Meta(min_length=1, max_length=URL_LENGTH, extra_json_schema={"format": "uri"})]
EventName = Annotated[str, Meta(extra_json_schema={"enum": [*SUBSCRIBABLE, EVERY_TYPE]})]
EventNames = Annotated[
    list[EventName],
    Meta(max_length=100, extra={"check": _check_events}, extra_json_schema={"minItems": 1}),
]
Description = Annotated[str, Meta(max_length=255)]


class NewWebhook(msgspec.Struct, frozen=True):
    """The body of a request that creates an endpoint.

    url: https, at most 2048 characters, reachable now, and not in a private network.
    """

    MISTAKEN: ClassVar[dict[str, str]] = dict.fromkeys(
        "active inactive enable enabled disable disabled paused suspended status state secret"
        " signingsecret".split(),
        "A new endpoint is active, and Sealdesk makes its secret; PATCH `is_active` pauses it.",
    )

    url: Url
    events: EventNames
    description: Description | None = None


class WebhookChange(msgspec.Struct, frozen=True):
    """The body of a request that changes an endpoint; omitted fields do not change.

    is_active: false pauses the endpoint; true also reactivates one that Sealdesk has disabled.
    """

    MISTAKEN: ClassVar[dict[str, str]] = dict.fromkeys(
        ("secret", "signingsecret"),
        "Sealdesk makes secrets: POST to `rotate-secret` gives a new one.",
    )

    url: Url | UnsetType = UNSET
    events: EventNames | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


class NewReplay(msgspec.Struct, frozen=True):
    """A time range whose events are delivered again.

    since: at most 30 days ago; inclusive. Without an offset it is UTC, as is until.
    until: later than since and not in the future; exclusive.
    """

    since: Instant
    until: Instant


class NewRedelivery(msgspec.Struct, frozen=True):
    """Which failed deliveries are sent again.

    since: those of events since then, at most 30 days ago. Without an offset it is UTC.
    """

    since: Instant


class Restarted(msgspec.Struct, frozen=True):
    """How many deliveries are sent again.

    delivery_count: at most 1000 in one request.
    has_more: whether another request finds more.
    """

    delivery_count: int
    has_more: bool


class DeliveryFilter(msgspec.Struct, frozen=True):
    """Which deliveries of an endpoint are listed; None, all.

    created_after: inclusive. created_before: exclusive.
    """

    status: DeliveryStatus | None = None
    event_type: str | None = None
    created_after: int | None = None
    created_before: int | None = None


class WebhookResponse(msgspec.Struct, frozen=True):
    """A webhook endpoint.

    url: the URL that receives the events.
    events: the subscribed event types; `*`, all of them, also those of later versions.
    description: a note for users.
    is_active: whether events are sent.
    disabled_reason: why Sealdesk disabled it: `gone` after a response with status 410, `failing`
    after five days without a success; null when it is active or was paused by a user.
    failing_since: the time of the first failure after the last success; null when the last attempt
    succeeded.
    old_secret_expires_at: the time until which the previous secret also signs; null when there is
    none.
    """

    id: Id
    url: str
    events: tuple[str, ...]
    description: str | None
    is_active: bool
    disabled_reason: DisabledReason | None
    failing_since: Iso | None
    old_secret_expires_at: Iso | None
    created_at: Iso


class WebhookWithSecret(WebhookResponse, frozen=True):
    """An endpoint with its new secret, which is shown only once.

    secret: signs the deliveries; store it like a password.
    """

    secret: str

    def __repr__(self) -> str:
        return f"WebhookWithSecret(id={self.id!r})"


class AttemptSummary(msgspec.Struct, frozen=True):
    """The result of a delivery attempt.

    number: counts from 1.
    duration_ms: the time until the response, or until the request failed.
    status: the status code of the response; null when there was none.
    error: why there was no response; null when there was one.
    """

    number: int
    sent_at: Iso
    duration_ms: int
    status: int | None
    error: str | None


class DeliveryResponse(msgspec.Struct, frozen=True):
    """The delivery of one event to one endpoint.

    event_id: sent as webhook-id with every attempt.
    status: `failed` when all attempts of the schedule have failed.
    attempt_count: the number of attempts so far.
    next_attempt_at: the time of the next attempt; null when there is none.
    last_attempt: null before the first attempt.
    """

    id: Id
    event_id: Id
    event_type: str
    status: DeliveryStatus
    attempt_count: int
    next_attempt_at: Iso | None
    created_at: Iso
    last_attempt: AttemptSummary | None


class SentRequest(msgspec.Struct, frozen=True):
    """The request of an attempt; its body is the payload of the delivery."""

    url: str
    headers: dict[str, str]


class ReceivedAnswer(msgspec.Struct, frozen=True):
    """The response of the endpoint.

    body: as text, truncated at 2 KiB.
    """

    status: int
    headers: dict[str, str]
    body: str


class AttemptResponse(msgspec.Struct, frozen=True):
    """A delivery attempt: the request and its response.

    number: counts from 1.
    duration_ms: the time until the response, or until the request failed.
    response: null when there was none.
    error: why there was no response; null when there was one.
    """

    number: int
    sent_at: Iso
    duration_ms: int
    request: SentRequest
    response: ReceivedAnswer | None
    error: str | None


class DeliveryWithAttempts(DeliveryResponse, frozen=True):
    """A delivery with its attempts.

    payload: the exact body of each of its requests; null after the event is deleted.
    attempts: the last 100, or fewer when they are larger than 128 KiB; oldest first.
    """

    payload: str | None
    attempts: tuple[AttemptResponse, ...]


class ReplayResponse(msgspec.Struct, frozen=True):
    """A replay: the events of a time range are delivered again.

    delivery_count: the number of deliveries that it has created so far.
    finished_at: null while it is in progress.
    """

    id: Id
    since: Iso
    until: Iso
    delivery_count: int
    created_at: Iso
    finished_at: Iso | None


class Endpoint(msgspec.Struct, frozen=True):
    """A stored webhook endpoint.

    disabled_reason: why Sealdesk disabled it; None when it is active or was paused by a user.
    sealed_old_secret: also signs until old_secret_until.
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
    """The delivery of one event to one endpoint.

    attempt_count: all attempts. retry_count: how many of the schedule are used up.
    due_at: the time of the next attempt; None when there is none.
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
    """A delivery attempt: the request and its response.

    request_headers, answer_headers: JSON objects. status: None when there was no response; then
    error says why. answer_body: as text, truncated.
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
    """A replay of the events of a time range.

    until: exclusive. after_id: the last event that was handled.
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
