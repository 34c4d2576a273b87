"""What webhook management takes and shows, as JSON."""

import difflib
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.errors import Fault
from sealdesk.event_log import events
from sealdesk.ids import Id

SUBSCRIBABLE = tuple(name for name in events.TYPES if name != "webhook.test")
URL_LENGTH = 2048

DisabledReason = Literal["gone", "failing"]
DeliveryStatus = Literal["pending", "succeeded", "failed"]
DELIVERY_STATUSES: tuple[str, ...] = get_args(DeliveryStatus)
_NOT_A_TIME = "This is not an ISO 8601 time, as in 2026-03-01T09:30:00Z."


def _check_events(names: list[str]) -> list[Fault]:
    if not names:
        return [Fault("", "too_few", "Name at least one event type.")]
    return [
        Fault(
            f"/{place}",
            "unknown_event_type",
            "%(name)s is not an event type. %(hint)s",
            {"name": ascii(name[:64]), "hint": _hint(name)},
        )
        for place, name in enumerate(names)
        if name not in SUBSCRIBABLE
    ]


def _hint(name: str) -> str:
    nearest = difflib.get_close_matches(name[:64], SUBSCRIBABLE, n=1)
    guess = f"Did you mean {nearest[0]}? " if nearest else ""
    return f"{guess}There are {', '.join(SUBSCRIBABLE)}."


def _check_instant(text: str) -> list[Fault]:
    if clock.parse_instant(text) is None:
        return [Fault("", "invalid_time", _NOT_A_TIME)]
    return []


Url = Annotated[str, Meta(min_length=1, max_length=URL_LENGTH, extra_json_schema={"format": "uri"})]
EventName = Annotated[str, Meta(extra_json_schema={"enum": list(SUBSCRIBABLE)})]
EventNames = Annotated[
    list[EventName],
    Meta(max_length=100, extra={"check": _check_events}, extra_json_schema={"minItems": 1}),
]
Description = Annotated[str, Meta(max_length=255)]
Instant = Annotated[
    str, Meta(extra={"check": _check_instant}, extra_json_schema={"format": "date-time"})
]


class NewWebhook(msgspec.Struct, frozen=True):
    """What creating an endpoint takes.

    url: https, at most 2048 characters, reachable now, and no address of a private network.
    """

    url: Url
    events: EventNames
    description: Description | None = None


class WebhookChange(msgspec.Struct, frozen=True):
    """What changing an endpoint takes; what is left out stays.

    is_active: false pauses; true also starts again what Sealdesk has disabled.
    """

    url: Url | UnsetType = UNSET
    events: EventNames | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


class NewReplay(msgspec.Struct, frozen=True):
    """Which events to deliver again.

    since: at most 30 days ago; an event of this very instant is one of them.
    until: behind since, and not in the future; an event of this very instant is none of them.
    """

    since: Instant
    until: Instant


class WebhookResponse(msgspec.Struct, frozen=True):
    """An endpoint as the API shows it.

    url: where its events are sent.
    events: the types that are sent there.
    description: for people.
    is_active: whether anything is sent.
    disabled_reason: why Sealdesk stopped: `gone` after the answer 410, `failing` after five days
    without a success; null when it sends, or when a person paused it.
    failing_since: of the first failure after the last success; null when the last one succeeded.
    old_secret_expires_at: until then the secret before the last rotation signs too; null, there is
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
    """An endpoint with its new secret, which is shown this once.

    secret: what deliveries are signed with; keep it where passwords are kept.
    """

    secret: str

    def __repr__(self) -> str:
        return f"WebhookWithSecret(id={self.id!r})"


class AttemptSummary(msgspec.Struct, frozen=True):
    """What came of an attempt.

    number: from 1.
    duration_ms: until the answer was there, or until it was given up.
    status: of the answer; null when there was none.
    error: why there was no answer; null when there was one.
    """

    number: int
    sent_at: Iso
    duration_ms: int
    status: int | None
    error: str | None


class DeliveryResponse(msgspec.Struct, frozen=True):
    """One event on its way to one endpoint.

    event_id: also what is sent as webhook-id, with every attempt.
    status: `failed` when all attempts of the schedule have failed.
    attempt_count: of all attempts so far.
    next_attempt_at: when it is sent next; null when it is not.
    last_attempt: null before the first one.
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
    """What was sent; its body is the delivery's payload."""

    url: str
    headers: dict[str, str]


class ReceivedAnswer(msgspec.Struct, frozen=True):
    """What was answered.

    body: as text, cut at 2 KiB.
    """

    status: int
    headers: dict[str, str]
    body: str


class AttemptResponse(msgspec.Struct, frozen=True):
    """One request to an endpoint, and what came of it.

    number: from 1.
    duration_ms: until the answer was there, or until it was given up.
    response: null when there was none.
    error: why there was no answer; null when there was one.
    """

    number: int
    sent_at: Iso
    duration_ms: int
    request: SentRequest
    response: ReceivedAnswer | None
    error: str | None


class DeliveryWithAttempts(DeliveryResponse, frozen=True):
    """A delivery with what was sent and answered.

    payload: the body of every one of its requests, byte by byte; null once the event is deleted.
    attempts: the last 100, oldest first.
    """

    payload: str | None
    attempts: tuple[AttemptResponse, ...]


class ReplayResponse(msgspec.Struct, frozen=True):
    """A range of time whose events are delivered again.

    delivery_count: how many deliveries it has made so far.
    finished_at: null while it is under way.
    """

    id: Id
    since: Iso
    until: Iso
    delivery_count: int
    created_at: Iso
    finished_at: Iso | None
