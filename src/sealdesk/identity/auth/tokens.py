"""Access tokens: JWTs of one algorithm, encoded and decoded here only."""

import re
from typing import Any

from sealdesk.errors import Unauthorized
from sealdesk.identity import rules
from sealdesk.identity.errors import (
    FOREIGN_TOKEN,
    JWT_REQUIRED,
    NOT_A_BEARER_TOKEN,
    SIGNATURE_NOT_ACCEPTED,
    TOKEN_EXPIRED,
)
from sealdesk.identity.types import Token, User
from sealdesk.web.request import Request

_ALGORITHM = "HS256"
_MAX_TIME_S = 2**40
# Base64url as we encode it: no padding, no other characters, and no unused bits in the last of the
# 43 characters of the signature. The signature itself protects the spelling of the other parts.
_CANONICAL = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
_REQUIRED = ["iss", "aud", "sub", "jti", "iat", "exp", "tenant_id", "role", "version"]


def encode(user: User, secret: bytes, *, token_id: str, login_at: int, now_us: int) -> str:
    """A token that is valid from now on, of a log-in at `login_at` (microseconds)."""
    import jwt  # late: 22 ms of the start (2026-11-22)

    claims = rules.claims(user, token_id=token_id, login_at=login_at, now_us=now_us)
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def read(request: Request) -> Token:
    """The bearer token of a request. Raises Unauthorized unless it is valid."""
    header = request.headers.get(b"authorization")
    if header is None or request.is_repeated(b"authorization"):
        is_signed = b"x-api-key" in request.headers
        raise Unauthorized(SIGNATURE_NOT_ACCEPTED if is_signed else JWT_REQUIRED)
    scheme, _, text = header.decode("latin-1").strip(" \t").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized(NOT_A_BEARER_TOKEN)
    return decode(text.lstrip(" "), request.state.settings.jwt_secret, request.now_us)


def decode(text: str, secret: bytes, now_us: int) -> Token:
    """Raises Unauthorized unless we issued the token and it has not expired."""
    import jwt  # late, as above

    if _CANONICAL.fullmatch(text) is None:
        raise Unauthorized(FOREIGN_TOKEN)
    try:
        claims = jwt.decode(
            text,
            secret,
            algorithms=[_ALGORITHM],
            audience="sealdesk-api",
            issuer="sealdesk",
            # Expiry is checked below, against the service's own clock.
            options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
        )
    # A header nested a thousand levels deep ends in a RecursionError.
    except (jwt.InvalidTokenError, RecursionError) as error:
        raise Unauthorized(FOREIGN_TOKEN) from error
    token = _token(claims)
    # A clock that was ahead must not have made a token that outlives the others.
    if token.expires_at <= now_us or token.issued_at > now_us + rules.MAX_CLOCK_SKEW_US:
        raise Unauthorized(TOKEN_EXPIRED)
    return token


def _token(claims: dict[str, Any]) -> Token:
    texts = [claims[name] for name in ("jti", "sub", "tenant_id", "role")]
    times = [claims[name] for name in ("iat", "exp")]
    are_texts = all(isinstance(text, str) for text in texts)
    are_times = all(isinstance(at, int | float) and 0 <= at < _MAX_TIME_S for at in times)
    if not (are_texts and are_times and type(claims["version"]) is int):
        raise Unauthorized(FOREIGN_TOKEN)
    return Token._make([*texts, *(round(at * 1_000_000) for at in times), claims["version"]])
