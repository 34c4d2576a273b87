"""Verifies webhooks that a program receives."""

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from sealdesk.client.errors import InvalidConfiguration, SealdeskError, without_frames
from sealdesk.client.results import Event
from sealdesk.client.webhook_mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import Captured, Mistake, find_mistake, find_mistake_of_secret

_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_decode = msgspec.json.Decoder(Event).decode


class WebhookVerificationError(SealdeskError):
    """The webhook was not signed with this secret, or too long ago. Respond with 400.

    mistake: its name in the documentation of webhooks.
    """

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(f"{mistake}: {MEANINGS[mistake]}")
        self.mistake = mistake


@without_frames
def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    now: Callable[[], float] = time.time,
) -> Event:
    """Return the event of a webhook.

    body: the bytes as received, before anything parses them. headers: any mapping; upper and lower
    case are alike. secret: of the endpoint, or several while it is rotated. Raises
    WebhookVerificationError, and InvalidConfiguration for a secret that cannot be one.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    for each in secrets:
        wrong = find_mistake_of_secret(each)
        if wrong:
            raise InvalidConfiguration(f"the secret of the webhook: {MEANINGS[wrong]}")
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    webhook_id, timestamp, signature = (lower.get(name, "") for name in _HEADERS)
    captured = Captured(webhook_id, timestamp, signature, bytes(body))
    mistakes = [find_mistake(each, captured, int(now())) for each in secrets]
    if None in mistakes:
        return _decode(captured.body)
    found = [mistake for mistake in mistakes if mistake]
    if not found:
        raise InvalidConfiguration("no secret of the webhook is given")
    # Another secret may just not be the one of this webhook.
    named = [mistake for mistake in found if mistake != "signature_mismatch"]
    raise WebhookVerificationError((named or found)[0])
