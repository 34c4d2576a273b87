"""Access tokens: JWTs of one algorithm, made and read here only."""

from typing import Any, NamedTuple

from sealdesk.errors import Unauthorized
from sealdesk.identity import rules
from sealdesk.identity.rules import User
from sealdesk.web.request import Request

_ALGORITHM = "HS256"
_LATEST_S = 2**40
_REQUIRED = ["iss", "aud", "sub", "jti", "iat", "exp", "tenant_id", "role"]


class Token(NamedTuple):
    """What a valid token says. issued_at: microseconds, at the log-in; expires_at: too."""

    id: str
    user_id: str
    tenant_id: str
    role: str
    issued_at: int
    expires_at: int


def issue(user: User, secret: bytes, *, token_id: str, began_us: int, now_us: int) -> str:
    """A token of a log-in that began then, to be used from now on."""
    import jwt  # late: it would be a tenth of the time that the server needs to start

    claims = rules.claims(user, token_id=token_id, began_us=began_us, now_us=now_us)
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def read(request: Request) -> Token:
    """The bearer token of a call. Raises Unproven unless we issued it and it has not expired."""
    header = request.headers.get(b"authorization")
    if header is None or request.is_repeated(b"authorization"):
        raise refused(
            "jwt_required", "Log in with POST /api/v1/auth/login and send Authorization: Bearer …"
        )
    scheme, _, text = header.decode("latin-1").strip().partition(" ")
    if scheme.lower() != "bearer":
        raise refused("jwt_required", "Authorization must be Bearer and an access token.")
    return opened(text.strip(), request.state.settings.jwt_secret, request.now_us)


def opened(text: str, secret: bytes, now_us: int) -> Token:
    """What a token says. Raises Unproven unless we issued it and it has not expired."""
    import jwt

    try:
        claims = jwt.decode(
            text,
            secret,
            algorithms=[_ALGORITHM],
            audience="sealdesk-api",
            issuer="sealdesk",
            # The time is compared below, with the clock that everything else goes by.
            options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
        )
    # A header nested a thousand levels deep ends in a RecursionError.
    except (jwt.InvalidTokenError, RecursionError) as error:
        raise _not_ours() from error
    token = _token(claims)
    if token.expires_at <= now_us:
        raise refused("token_expired", "The access token has expired. Log in again.")
    return token


def _token(claims: dict[str, Any]) -> Token:
    texts = [claims[name] for name in ("jti", "sub", "tenant_id", "role")]
    times = [claims[name] for name in ("iat", "exp")]
    are_texts = all(isinstance(text, str) for text in texts)
    are_times = all(isinstance(at, int | float) and 0 <= at < _LATEST_S for at in times)
    if not (are_texts and are_times):
        raise _not_ours()
    return Token(*texts, *(round(at * 1_000_000) for at in times))


def _not_ours() -> Unauthorized:
    return refused("invalid_token", "The access token is not one of ours. Log in.")


def refused(code: str, detail: str) -> Unauthorized:
    return Unauthorized(code, detail, headers=(("www-authenticate", "Bearer"),))
