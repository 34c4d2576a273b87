"""Signing webhooks as Standard Webhooks asks (decisions 11): pure, standard library only."""

import base64
import binascii
import hmac
import secrets

PREFIX = "whsec_"
_SECRET_BYTES = 32


def mint_secret() -> str:
    """`whsec_` and base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """The bytes that a secret stands for. Raises ValueError."""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("a webhook secret is whsec_ and base64") from error


def sign(key: bytes, webhook_id: str, timestamp: int, body: bytes) -> str:
    """One signature: `v1,` and base64. timestamp: of the sending, in seconds."""
    message = f"{webhook_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, message, "sha256")).decode()
