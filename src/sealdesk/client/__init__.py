"""The Python client of Sealdesk: signs, pages, retries and follows events by itself.

from sealdesk.client import Desk

desk = Desk.from_environment()
for ticket in desk.tickets.list(status="open"):
    print(ticket.number, ticket.subject)
"""

from sealdesk.client import error_codes
from sealdesk.client.aio.desk import AsyncDesk
from sealdesk.client.attempts import RetryPolicy
from sealdesk.client.errors import (
    ApiError,
    ConnectionFailed,
    InvalidConfiguration,
    SealdeskError,
    UnexpectedResponse,
)
from sealdesk.client.signing import SignatureAuth
from sealdesk.client.sync.desk import Desk
from sealdesk.client.webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "ApiError",
    "AsyncDesk",
    "ConnectionFailed",
    "Desk",
    "InvalidConfiguration",
    "RetryPolicy",
    "SealdeskError",
    "SignatureAuth",
    "UnexpectedResponse",
    "WebhookVerificationError",
    "error_codes",
    "verify_webhook",
]
