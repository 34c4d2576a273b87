"""The session of a browser: an access token in a cookie, and what its forms must carry."""

import hmac

from sealdesk.identity import tokens
from sealdesk.identity.tokens import Token
from sealdesk.web.call import Call, Header

_NAME = "sealdesk"
_FLAGS = "Path=/; HttpOnly; SameSite=Lax"


def find(call: Call) -> str | None:
    """The access token that the cookie holds, however good; None without one, or with two."""
    wanted = _name(call)
    lines = [value for name, value in call.raw_headers if name == b"cookie"]
    pairs = [part.strip().partition("=") for part in b"; ".join(lines).decode("latin-1").split(";")]
    found = [value for name, _, value in pairs if name == wanted and value]
    return found[0] if len(found) == 1 else None


def get(call: Call) -> Token:
    """The session's token. Raises Unproven unless there is one that has not expired."""
    text = find(call)
    if text is None:
        raise tokens.refused("jwt_required", "Log in.")
    return tokens.opened(text, call.shared.settings.jwt_secret, call.now_us)


def begin(call: Call, access_token: str) -> Header:
    """The header that begins a session; it ends with the browser or with the token."""
    return _header(call, access_token, "")


def end(call: Call) -> Header:
    """The header that makes a browser forget its session."""
    return _header(call, "", "; Max-Age=0")


def form_token(call: Call, token: Token) -> str:
    """What the forms of this session carry, and no other site can know."""
    secret = call.shared.settings.jwt_secret
    return hmac.digest(secret, f"sealdesk form {token.id}".encode(), "sha256").hex()


def _header(call: Call, value: str, further: str) -> Header:
    secure = "; Secure" if call.is_https else ""
    return b"set-cookie", f"{_name(call)}={value}; {_FLAGS}{secure}{further}".encode()


def _name(call: Call) -> str:
    # The prefix keeps other hosts of the domain from setting it; browsers take it on https only.
    return f"__Host-{_NAME}" if call.is_https else _NAME
