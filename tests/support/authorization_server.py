"""An authorisation server (RFC 6749, RFC 7636) on loopback, in place of a mail provider's."""

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import structs

from sealdesk.oauth.providers import MailServer, Provider
from tests.support.receiver import Got, Receiver, Reply, receiving

CLIENT_ID, CLIENT_SECRET = "sealdesk-client", "client-secret"
# An application of a mailbox's own, and the directory that knows it.
DIRECTORY, OWN_ID, OWN_SECRET = "acme.example", "own-client", "own-secret"
PUBLIC_URL = "https://desk.acme.test"
# Where a mail server asks whose an access token is (RFC 7662).
INTROSPECTION_PATH = "/introspect"
# The settings of an installation with a client at this server.
ENV = {
    "SEALDESK_WEBHOOK_ALLOWED_CIDRS": "127.0.0.0/8",
    "SEALDESK_WEBHOOK_ALLOW_HTTP": "accept",
    "SEALDESK_PUBLIC_URL": PUBLIC_URL,
    "SEALDESK_MAIL_GOOGLE_CLIENT_ID": CLIENT_ID,
    "SEALDESK_MAIL_GOOGLE_CLIENT_SECRET": CLIENT_SECRET,
}


class AuthorizationServer:
    """Gives tokens to whoever consents.

    access_tokens: those that mail servers accept, with their accounts. life_s: of access tokens.
    failure: the response to everything, if there is one.
    rotates: whether each refresh gives a new refresh token, and the old one ends.
    application_of: the account that the application of its own may use.
    """

    def __init__(self, receiver: Receiver) -> None:
        self.url = f"http://127.0.0.1:{receiver.port}"
        self.access_tokens: dict[str, str] = {}
        self.refresh_tokens: dict[str, str] = {}
        self.refresh_count = 0
        self.life_s = 3600
        self.rotates = False
        self.application_of = ""
        self.failure: Reply | None = None
        self._codes: dict[str, tuple[str, dict[str, str]]] = {}
        receiver.answer = self._answer

    def provider(self, imap_port: int, smtp_port: int) -> Provider:
        """A provider with this server, and mail servers with TLS on these ports."""
        return Provider(
            "Google",
            f"{self.url}/authorize",
            f"{self.url}/token",
            scope="mail openid email",
            parameters={},
            account_claim="email",
            imap=MailServer("localhost", imap_port, "tls"),
            smtp=MailServer("localhost", smtp_port, "tls"),
        )

    def application(self, imap_port: int, smtp_port: int) -> Provider:
        """The same for applications, each in its directory."""
        of_people = self.provider(imap_port, smtp_port)
        return structs.replace(of_people, token_url=f"{self.url}/{{directory}}/token")

    def consent(self, url: str, account: str) -> str:
        """Log in as `account` at the page that a browser was sent to; where it is sent back."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(f"{self.url}/authorize?")
        assert (asked["client_id"], asked["response_type"]) == (CLIENT_ID, "code")
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self._codes[code] = (account, asked)
        back = urlsplit(asked["redirect_uri"])
        assert f"{back.scheme}://{back.netloc}" == PUBLIC_URL
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state']})}"

    def give_refresh_token(self, account: str) -> str:
        """The refresh token of an account that has consented."""
        token = secrets.token_urlsafe()
        self.refresh_tokens[token] = account
        return token

    def withdraw(self) -> None:
        """End every consent, as the owner of an account can."""
        self.refresh_tokens.clear()
        self.access_tokens.clear()

    def _answer(self, got: Got) -> Reply:
        if self.failure is not None:
            return self.failure
        form = dict(parse_qsl(got.body.decode()))
        if got.path == INTROSPECTION_PATH:
            account = self.access_tokens.get(form["token"])
            known = {"active": account is not None, "username": account}
            return Reply(200, json.dumps(known).encode())
        client = form.pop("client_id", ""), form.pop("client_secret", "")
        if form["grant_type"] == "client_credentials":
            is_known = (got.path, client) == (f"/{DIRECTORY}/token", (OWN_ID, OWN_SECRET))
            return self._give(self.application_of) if is_known else _refuse("invalid_client")
        if client != (CLIENT_ID, CLIENT_SECRET):
            return _refuse("invalid_client")
        if form["grant_type"] == "authorization_code":
            return self._exchange(form)
        self.refresh_count += 1
        refreshed = self.refresh_tokens.get(form["refresh_token"])
        if refreshed is None:
            return _refuse("invalid_grant")
        if self.rotates:
            del self.refresh_tokens[form["refresh_token"]]
        return self._give(refreshed, has_refresh_token=self.rotates)

    def _exchange(self, form: dict[str, str]) -> Reply:
        account, asked = self._codes.pop(form["code"], ("", {}))
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        is_asked = asked.get("code_challenge") == _base64(challenge)
        if not is_asked or form["redirect_uri"] != asked["redirect_uri"]:
            return _refuse("invalid_grant")
        return self._give(account, has_refresh_token=True)

    def _give(self, account: str, *, has_refresh_token: bool = False) -> Reply:
        given: dict[str, object] = {"token_type": "Bearer", "expires_in": self.life_s}
        given["access_token"] = access_token = secrets.token_urlsafe()
        self.access_tokens[access_token] = account
        claims = {"aud": CLIENT_ID, "email": account, "email_verified": True}
        given["id_token"] = f"e30.{_base64(json.dumps(claims).encode())}.unsigned"
        if has_refresh_token:
            given["refresh_token"] = self.give_refresh_token(account)
        return Reply(200, json.dumps(given).encode())


@contextmanager
def authorizing() -> Iterator[AuthorizationServer]:
    with receiving() as receiver:
        yield AuthorizationServer(receiver)


def _refuse(code: str) -> Reply:
    return Reply(400, json.dumps({"error": code}).encode())


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
