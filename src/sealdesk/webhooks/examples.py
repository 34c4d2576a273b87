"""Example values of webhooks for the documentation; no secret is real."""

import msgspec

from sealdesk.webhooks.types import (
    AttemptResponse,
    AttemptSummary,
    DeliveryResponse,
    DeliveryWithAttempts,
    ReceivedAnswer,
    ReplayResponse,
    Restarted,
    SentRequest,
    WebhookResponse,
    WebhookWithSecret,
)

_URL = "https://hooks.acme.test/sealdesk"
_EVENT_ID = "0199c0df-7b52-7a90-8b21-3c4d5e6f7081"
_SENT_AT = "2026-03-02T09:15:41.903114Z"
WEBHOOK = WebhookResponse(
    id="0199b0c4-2d3e-7f4a-9b5c-6d7e8f901a2b",
    url=_URL,
    events=("ticket.created", "ticket.status_changed", "reply.created"),
    description="Orders: keeps the shop's view of a ticket current",
    is_active=True,
    disabled_reason=None,
    failing_since=None,
    old_secret_expires_at=None,
    created_at="2026-03-01T08:20:00.000000Z",
)
_SECRET = "whsec_" + "AAEC" * 10 + "AwQ="
CREATED_WEBHOOK = WebhookWithSecret(**msgspec.structs.asdict(WEBHOOK), secret=_SECRET)
_TOMORROW = "2026-03-03T10:00:00.000000Z"
ROTATED_WEBHOOK = msgspec.structs.replace(CREATED_WEBHOOK, old_secret_expires_at=_TOMORROW)
NEW_WEBHOOK = {
    "url": _URL,
    "events": ["ticket.created", "ticket.status_changed", "reply.created"],
    "description": WEBHOOK.description,
}
WEBHOOK_CHANGE = {"events": ["ticket.created"], "is_active": True}
DELIVERY = DeliveryResponse(
    id="0199c0df-7c01-7b2d-8c3e-4f5061728394",
    event_id=_EVENT_ID,
    event_type="ticket.created",
    status="succeeded",
    attempt_count=1,
    next_attempt_at=None,
    created_at="2026-03-02T09:15:41.873021Z",
    last_attempt=AttemptSummary(1, _SENT_AT, 84, 204, None),
)
REDELIVERY = msgspec.structs.replace(
    DELIVERY, status="pending", next_attempt_at="2026-03-02T10:30:00.000000Z"
)
_PAYLOAD = (
    f'{{"id":"{_EVENT_ID}","type":"ticket.created","timestamp":"2026-03-02T09:15:41.842000Z",'
    '"data":{"object":{"id":"0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a"},"changes":{}}}'
)
_HEADERS = {
    "content-type": "application/json",
    "webhook-id": _EVENT_ID,
    "webhook-timestamp": "1772442941",
    "webhook-signature": "v1,3q2+7w1u0r4x8z6k5j9h7g6f5d4s3a2q1w0e9r8t7y8=",
}
DELIVERY_WITH_ATTEMPTS = DeliveryWithAttempts(
    **msgspec.structs.asdict(DELIVERY),
    payload=_PAYLOAD,
    attempts=(
        AttemptResponse(
            1,
            _SENT_AT,
            84,
            SentRequest(_URL, _HEADERS),
            ReceivedAnswer(204, {"date": "Mon, 02 Mar 2026 09:15:41 GMT"}, ""),
            None,
        ),
    ),
)
NEW_REPLAY = {"since": "2026-03-02T06:00:00Z", "until": "2026-03-02T09:00:00Z"}
REPLAY = ReplayResponse(
    id="0199c120-55aa-7c1d-9e2f-30415263748a",
    since="2026-03-02T06:00:00.000000Z",
    until="2026-03-02T09:00:00.000000Z",
    delivery_count=0,
    created_at="2026-03-02T10:30:00.000000Z",
    finished_at=None,
)
NEW_REDELIVERY = {"since": "2026-03-02T06:00:00Z"}
RESTARTED = Restarted(delivery_count=42, has_more=False)
