"""Requests to the token endpoints of mail providers, and the access tokens that a process has."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk.http_client import HttpClient, RequestFailed
from sealdesk.oauth.providers import PROVIDERS, WITH_CONSENT, Provider, ProviderName
from sealdesk.settings import OAuthClient

_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
# Refreshed this long before they end, or after half of their life if that is later.
_MARGIN_S = 300.0
_MAX_CODE = 64


class TokenRefused(Exception):
    """The token endpoint refuses. code: of RFC 6749, 5.2, such as `invalid_grant`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Tokens(msgspec.Struct, frozen=True):
    """The response of a token endpoint."""

    access_token: str
    expires_in: float = 3600.0
    refresh_token: str | None = None
    id_token: str | None = None

    def __repr__(self) -> str:
        return "Tokens(***)"


class Application(msgspec.Struct, frozen=True):
    """A client of a mailbox's own. directory: where the provider knows it, by id or domain."""

    directory: str
    client: OAuthClient


class _Refusal(msgspec.Struct):
    error: str = ""


class _Cached(NamedTuple):
    access_token: str
    until_s: float


class AccessTokens:
    """Gets access tokens, and gives the same one until shortly before it ends."""

    def __init__(
        self,
        http_client: HttpClient,
        clients: Mapping[ProviderName, OAuthClient],
        monotonic_s: Callable[[], float],
    ) -> None:
        self._http_client = http_client
        self._clients = clients
        self._monotonic_s = monotonic_s
        self._cached: dict[str, _Cached] = {}

    async def exchange(self, name: ProviderName, **fields: str) -> Tokens:
        """The tokens for a code or a refresh token. Raises TokenRefused, RequestFailed."""
        client = self._clients.get(name)
        if client is None:
            raise TokenRefused("invalid_client")
        return await self._ask(PROVIDERS[name].token_url, client, fields)

    async def _ask(self, url: str, client: OAuthClient, fields: Mapping[str, str]) -> Tokens:
        form = {"client_id": client.id, "client_secret": client.secret, **fields}
        response = await self._http_client.post(url, _HEADERS, urlencode(form).encode())
        try:
            if response.status == 200:
                return msgspec.json.decode(response.body, type=Tokens, strict=False)
            refusal = msgspec.json.decode(response.body, type=_Refusal).error[:_MAX_CODE]
        except (msgspec.DecodeError, UnicodeDecodeError):
            refusal = ""
        if response.status < 500 and refusal.isprintable() and refusal:
            raise TokenRefused(refusal)
        raise RequestFailed("bad_answer", f"The log-in server responded {response.status}.")

    def find(self, key: str) -> str | None:
        """The access token under a key unless it ends soon."""
        cached = self._cached.get(key)
        if cached is None or self._monotonic_s() >= cached.until_s:
            self._cached.pop(key, None)
            return None
        return cached.access_token

    async def refresh(self, key: str, name: ProviderName, secret: str) -> Tokens:
        """New tokens, of which the access token is cached. Raises TokenRefused, RequestFailed.

        secret: the refresh token, or the JSON of an application.
        """
        scope = PROVIDERS[name].scope
        if name in WITH_CONSENT:
            tokens = await self.exchange(
                name, grant_type="refresh_token", refresh_token=secret, scope=scope
            )
        else:
            own = msgspec.json.decode(secret, type=Application)
            url = PROVIDERS[name].token_url.format(directory=own.directory)
            fields = {"grant_type": "client_credentials", "scope": scope}
            tokens = await self._ask(url, own.client, fields)
        life_s = max(tokens.expires_in - _MARGIN_S, tokens.expires_in / 2)
        self._cached[key] = _Cached(tokens.access_token, self._monotonic_s() + life_s)
        return tokens

    def forget(self, key: str) -> None:
        """Get a new access token the next time, as a server has refused this one."""
        self._cached.pop(key, None)


def account_of(provider: Provider, tokens: Tokens, client_id: str) -> str:
    """The address of the account that consented, "" if the ID token does not say it.

    The ID token came from the token endpoint by TLS, which proves who signed it (OpenID Connect
    Core, 3.1.3.7).
    """
    parts = (tokens.id_token or "").split(".")
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = msgspec.json.decode(payload, type=dict[str, Any])
    except (IndexError, ValueError, msgspec.DecodeError):
        return ""
    account = claims.get(provider.account_claim)
    is_ours = claims.get("aud") == client_id and claims.get("email_verified", True) is True
    return account if is_ours and isinstance(account, str) else ""
