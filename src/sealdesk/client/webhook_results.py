"""The results of the methods for webhooks, open to unknown members and values."""

from collections.abc import Sequence
from typing import Any

from sealdesk.client.results import Result


class Webhook(Result, frozen=True, kw_only=True):
    """An endpoint to which events are sent."""

    id: str
    url: str
    events: Sequence[str] = ()
    description: str | None = None
    is_active: bool = True
    disabled_reason: str | None = None
    failing_since: str | None = None
    old_secret_expires_at: str | None = None
    created_at: str = ""


class WebhookWithSecret(Webhook, frozen=True, kw_only=True):
    """A webhook right after its creation or rotation. secret: is never shown again."""

    secret: str

    def __repr__(self) -> str:
        return f"WebhookWithSecret(id={self.id!r}, url={self.url!r}, secret='***')"


class Delivery(Result, frozen=True, kw_only=True):
    """An event that is sent to a webhook. last_attempt: the last attempt, or None."""

    id: str
    event_id: str = ""
    event_type: str = ""
    status: str
    attempt_count: int = 0
    next_attempt_at: str | None = None
    created_at: str = ""
    last_attempt: dict[str, Any] | None = None


class DeliveryWithAttempts(Delivery, frozen=True, kw_only=True):
    """A delivery with what was sent and received. payload: the body; None when it is deleted."""

    payload: str | None = None
    attempts: Sequence[dict[str, Any]] = ()


class Restarted(Result, frozen=True):
    """How many deliveries will be sent now. has_more: call again for the others."""

    delivery_count: int
    has_more: bool = False


class Replay(Result, frozen=True, kw_only=True):
    """Events of a time span that are sent again. finished_at: None while it goes on."""

    id: str
    since: str = ""
    until: str = ""
    delivery_count: int = 0
    created_at: str = ""
    finished_at: str | None = None
