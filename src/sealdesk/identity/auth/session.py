"""The session of a browser: an access token in a cookie, and the token that its forms carry."""

import hmac

from sealdesk.errors import Unauthorized
from sealdesk.identity import rules
from sealdesk.identity.auth import tokens
from sealdesk.identity.errors import SESSION_REQUIRED
from sealdesk.identity.types import ADMINISTRATORS, Token, User
from sealdesk.web.proof import Visitor
from sealdesk.web.request import Header, Request

_NAME = "sealdesk"
_FLAGS = "Path=/; HttpOnly; SameSite=Lax"
_RECENT_LOGIN_US = 15 * 60 * 1_000_000  # docs/decisions/0019


def find(request: Request) -> str | None:
    """The access token in the cookie, valid or not; None without one, or with two."""
    return request.cookie(_name(request))


def get(request: Request) -> Token:
    """The session's token. Raises Unauthorized unless there is one that has not expired."""
    access_token = find(request)
    if access_token is None:
        raise Unauthorized(SESSION_REQUIRED)
    return tokens.decode(access_token, request.state.settings.jwt_secret, request.now_us)


def is_renewal_due(request: Request, token: Token) -> bool:
    """Whether to renew a session: a user navigates to a page, and half of the token's life is over.

    Requests of scripts do not renew a session; the header `sec-fetch-mode` identifies them.
    """
    is_navigation = request.headers.get(b"sec-fetch-mode", b"navigate") == b"navigate"
    left_s = (token.expires_at - request.now_us) // 1_000_000
    would_extend = rules.expiry_s(token.issued_at, request.now_us) * 1_000_000 > token.expires_at
    return (
        request.method == "GET"
        and is_navigation
        and left_s < rules.TOKEN_LIFE_S // 2
        and would_extend
    )


def is_recent_login(request: Request, token: Token) -> bool:
    """Whether the log-in was in the last 15 minutes; renewing the token does not count as one."""
    return request.now_us - token.issued_at <= _RECENT_LOGIN_US


def visitor(
    request: Request, user: User, token: Token, *, desk: str, password_error: str = ""
) -> Visitor:
    """The user of a session. password_error: what is wrong with the password of a form."""
    return Visitor(
        name=user.name,
        email=user.email,
        desk=desk,
        is_administrator=user.role in ADMINISTRATORS,
        is_super_admin=user.role == "super_admin",
        form_token=form_token(request, token),
        has_recent_login=is_recent_login(request, token),
        password_error=password_error,
    )


def begin(request: Request, access_token: str) -> Header:
    """The header that begins a session; it ends with the browser or with the token."""
    return _header(request, access_token, "")


def end(request: Request) -> Header:
    """The header that deletes the session's cookie."""
    return _header(request, "", "; Max-Age=0")


def form_token(request: Request, token: Token) -> str:
    """The CSRF token of this session's forms."""
    secret = request.state.settings.jwt_secret
    return hmac.digest(secret, f"sealdesk form {token.id}".encode(), "sha256").hex()


def _header(request: Request, value: str, attributes: str) -> Header:
    secure = "; Secure" if request.is_https else ""
    return b"set-cookie", f"{_name(request)}={value}; {_FLAGS}{secure}{attributes}".encode()


def _name(request: Request) -> str:
    # The prefix prevents other hosts of the domain from setting it; it is valid on https only.
    return f"__Host-{_NAME}" if request.is_https else _NAME
