"""Who is calling: the signature of a request, and the permissions of its key."""

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Header, HTTPException, Request, status
from sqlalchemy import select

from bench.conventional.database import Session
from bench.conventional.models import ApiKey

_MAX_SKEW_S = 300


async def get_api_key(
    request: Request,
    session: Session,
    x_api_key: Annotated[str, Header()] = "",
    x_api_timestamp: Annotated[str, Header()] = "",
    x_api_signature: Annotated[str, Header()] = "",
) -> ApiKey:
    """The key whose secret signed this request."""
    if not x_api_timestamp.isdigit() or abs(time.time() - int(x_api_timestamp)) > _MAX_SKEW_S:
        raise _unauthorized("timestamp_out_of_range")
    key_hash = hashlib.sha256(x_api_key.encode()).digest()
    key = await session.scalar(select(ApiKey).where(ApiKey.key_hash == key_hash))
    if key is None or key.revoked_at is not None:
        raise _unauthorized("invalid_api_key")
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        raise _unauthorized("api_key_expired")
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    body_hash = hashlib.sha256(await request.body()).hexdigest()
    message = f"{x_api_timestamp}{request.method}{target}{body_hash}"
    expected = hmac.new(key.secret.encode(), message.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, x_api_signature):
        raise _unauthorized("invalid_signature")
    return key


def require(permission: str) -> Callable[[ApiKey], Awaitable[ApiKey]]:
    """A dependency: a signed request whose key has this permission."""

    async def check(key: Annotated[ApiKey, Depends(get_api_key)]) -> ApiKey:
        if permission not in key.permissions:
            raise HTTPException(status.HTTP_403_FORBIDDEN, "insufficient_permissions")
        return key

    return check


def _unauthorized(code: str) -> HTTPException:
    return HTTPException(status.HTTP_401_UNAUTHORIZED, code)
