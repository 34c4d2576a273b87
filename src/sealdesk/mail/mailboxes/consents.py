"""Asks a provider for consent (authorisation code with PKCE), and takes what comes of it."""

import base64
import hashlib
import hmac
import secrets
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk.crypto.sealing import UnsealError
from sealdesk.errors import Conflict
from sealdesk.http_client import RequestFailed
from sealdesk.mail.connections import quote
from sealdesk.mail.mailboxes.errors import CONSENT_NOT_GIVEN, CONSENT_UNKNOWN
from sealdesk.mail.mailboxes.types import Consent, Mailbox
from sealdesk.oauth.providers import PROVIDERS, ProviderName
from sealdesk.oauth.tokens import TokenRefused, account_of
from sealdesk.web.form import Form
from sealdesk.web.request import Header, Request

CALLBACK_PATH = "/settings/email/callback"
_COOKIE = "sealdesk_consent"
_LIFE_S = 600


class _Asked(msgspec.Struct, array_like=True):
    """What a browser was sent to a provider with; sealed in its cookie, for its user alone."""

    state: str
    verifier: str
    provider: ProviderName
    mailbox_id: str
    until_us: int


class Began(NamedTuple):
    """Where to send the browser, and the cookie that it comes back with."""

    url: str
    cookie: Header


def begin(request: Request, mailbox: Mailbox, name: ProviderName) -> Began:
    """Ask the provider for the log-in of a mailbox."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    asked = _Asked(state, verifier, name, mailbox.id, request.now_us + _LIFE_S * 1_000_000)
    sealed = request.state.key_ring.seal_token(msgspec.json.encode(asked), _about(request))
    provider = PROVIDERS[name]
    challenge = hashlib.sha256(verifier.encode()).digest()
    query = {
        "client_id": request.state.settings.mail.oauth_clients[name].id,
        "response_type": "code",
        "redirect_uri": _redirect_uri(request),
        "scope": provider.scope,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
        "code_challenge_method": "S256",
        "login_hint": mailbox.address,
        **provider.parameters,
    }
    value = base64.urlsafe_b64encode(sealed).decode()
    return Began(f"{provider.authorization_url}?{urlencode(query)}", _cookie(request, value))


def end(request: Request) -> Header:
    """The header that deletes the cookie, so that an answer is taken once."""
    return _cookie(request, "", 0)


def asked_mailbox(request: Request, answer: Form) -> str:
    """The id of the mailbox that an answer is for. Raises Conflict."""
    return _asked(request, answer).mailbox_id


async def take(request: Request, answer: Form) -> Consent:
    """The consent in the answer of a provider. Raises Conflict."""
    asked = _asked(request, answer)
    provider, client = PROVIDERS[asked.provider], request.state.settings.mail.oauth_clients
    if not answer.text("code") or asked.provider not in client:
        raise _not_given(asked, quote(answer.text("error")) or "no code")
    try:
        tokens = await request.state.access_tokens.exchange(
            asked.provider,
            grant_type="authorization_code",
            code=answer.text("code"),
            redirect_uri=_redirect_uri(request),
            code_verifier=asked.verifier,
        )
    except TokenRefused as error:
        raise _not_given(asked, error.code) from None
    except RequestFailed as error:
        raise _not_given(asked, error.text.rstrip(".")) from None
    if not tokens.refresh_token:
        raise _not_given(asked, "no refresh token")
    account = account_of(provider, tokens, client[asked.provider].id)
    return Consent(asked.provider, account, tokens.refresh_token)


def _asked(request: Request, answer: Form) -> _Asked:
    try:
        sealed = base64.urlsafe_b64decode(request.cookie(_COOKIE) or "")
        opened = request.state.key_ring.open_token(sealed, _about(request))
        asked = msgspec.json.decode(opened, type=_Asked)
    except (ValueError, UnsealError, msgspec.DecodeError):
        raise Conflict(CONSENT_UNKNOWN) from None
    is_same = hmac.compare_digest(asked.state.encode(), answer.text("state").encode())
    if not is_same or request.now_us >= asked.until_us:
        raise Conflict(CONSENT_UNKNOWN)
    return asked


def _not_given(asked: _Asked, reason: str) -> Conflict:
    return Conflict(CONSENT_NOT_GIVEN, provider=PROVIDERS[asked.provider].title, reason=reason)


def _about(request: Request) -> bytes:
    caller = request.caller
    return f"consent {caller.tenant_id} {caller.actor.id}".encode()


def _redirect_uri(request: Request) -> str:
    settings = request.state.settings
    return f"{settings.mail.public_url}{settings.path_prefix}{CALLBACK_PATH}"


def _cookie(request: Request, value: str, life_s: int = _LIFE_S) -> Header:
    # Lax: the browser comes back from the site of the provider.
    secure = "; Secure" if request.is_https else ""
    path = f"{request.state.settings.path_prefix}{CALLBACK_PATH}"
    flags = f"Path={path}; HttpOnly; SameSite=Lax; Max-Age={life_s}{secure}"
    return b"set-cookie", f"{_COOKIE}={value}; {flags}".encode()
