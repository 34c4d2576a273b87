"""A receiver of webhooks accepts what the service signs, and nothing else."""

import pytest

from sealdesk.client import InvalidConfiguration, WebhookVerificationError, verify_webhook
from sealdesk.crypto.webhook_signing import key_of, mint_secret, sign

BODY = b'{"id":"e","type":"ticket.dreamt","timestamp":"2026-03-02T09:15:41.556301Z","new":1}'
NOW = 1_767_225_600


def _headers(secret: str, body: bytes = BODY, at: int = NOW) -> dict[str, str]:
    return {
        "Webhook-Id": "e",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": sign(key_of(secret), "e", at, body),
    }


def test_a_signed_webhook_is_an_event_even_while_secrets_rotate() -> None:
    old, new = mint_secret(), mint_secret()
    event = verify_webhook(BODY, _headers(old), [new, old], now=lambda: NOW)
    assert (event.id, event.type) == ("e", "ticket.dreamt")


def test_a_changed_late_or_foreign_webhook_is_refused() -> None:
    secret = mint_secret()
    refused = {
        "signature_mismatch": (BODY.replace(b"e", b"f"), _headers(secret)),
        "timestamp_too_old": (BODY, _headers(secret, at=NOW - 301)),
        "timestamp_in_future": (BODY, _headers(secret, at=NOW + 301)),
        "body_newline": (BODY + b"\n", _headers(secret)),
        "id_missing": (BODY, {}),
    }
    for mistake, (body, headers) in refused.items():
        with pytest.raises(WebhookVerificationError) as error:
            verify_webhook(body, headers, [mint_secret(), secret], now=lambda: NOW)
        assert error.value.mistake == mistake
    with pytest.raises(WebhookVerificationError, match="signature_mismatch"):
        verify_webhook(BODY, _headers(mint_secret()), secret, now=lambda: NOW)
    with pytest.raises(InvalidConfiguration, match="the given secret belongs to an API key"):
        verify_webhook(BODY, _headers(secret), "a" * 64, now=lambda: NOW)
    with pytest.raises(InvalidConfiguration, match="no secret"):
        verify_webhook(BODY, _headers(secret), [], now=lambda: NOW)
