"""The session of a browser: an access token in a cookie, and what its forms must carry."""

import hmac

from sealdesk.identity import rules
from sealdesk.identity.auth import tokens
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import User
from sealdesk.web.request import Header, Request, Visitor

_NAME = "sealdesk"
_FLAGS = "Path=/; HttpOnly; SameSite=Lax"
_FRESH_US = 15 * 60 * 1_000_000  # docs/decisions/0019


def find(request: Request) -> str | None:
    """The access token that the cookie holds, however good; None without one, or with two."""
    return request.cookie(_name(request))


def get(request: Request) -> Token:
    """The session's token. Raises Unproven unless there is one that has not expired."""
    text = find(request)
    if text is None:
        raise tokens.refused("jwt_required", "Log in.")
    return tokens.opened(text, request.state.settings.jwt_secret, request.now_us)


def is_due(request: Request, token: Token) -> bool:
    """Whether to go on with a session: a person came to a page, and its token is half over.

    A page that asks by itself keeps no session alive; browsers say so where they say it at all.
    """
    is_visit = request.headers.get(b"sec-fetch-mode", b"navigate") == b"navigate"
    left_s = (token.expires_at - request.now_us) // 1_000_000
    is_longer = rules.expiry_s(token.issued_at, request.now_us) * 1_000_000 > token.expires_at
    return request.method == "GET" and is_visit and left_s < rules.TOKEN_LIFE_S // 2 and is_longer


def visitor(request: Request, user: User, token: Token, wrong: str = "") -> Visitor:
    """Who a session lets in. wrong: with the password that was asked for once more.

    A renewed token still says when the log-in was, so being renewed makes nobody fresh.
    """
    return Visitor(
        name=user.name,
        email=user.email,
        is_administrator=user.role in rules.ADMINISTRATORS,
        form_token=form_token(request, token),
        is_fresh=request.now_us - token.issued_at <= _FRESH_US,
        wrong=wrong,
    )


def begin(request: Request, access_token: str) -> Header:
    """The header that begins a session; it ends with the browser or with the token."""
    return _header(request, access_token, "")


def end(request: Request) -> Header:
    """The header that makes a browser forget its session."""
    return _header(request, "", "; Max-Age=0")


def form_token(request: Request, token: Token) -> str:
    """What the forms of this session carry, and no other site can know."""
    secret = request.state.settings.jwt_secret
    return hmac.digest(secret, f"sealdesk form {token.id}".encode(), "sha256").hex()


def _header(request: Request, value: str, further: str) -> Header:
    secure = "; Secure" if request.is_https else ""
    return b"set-cookie", f"{_name(request)}={value}; {_FLAGS}{secure}{further}".encode()


def _name(request: Request) -> str:
    # The prefix keeps other hosts of the domain from setting it; browsers take it on https only.
    return f"__Host-{_NAME}" if request.is_https else _NAME
