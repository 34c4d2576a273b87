"""The settings of e-mail."""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from sealdesk.oauth.providers import WITH_CONSENT, ProviderName
from sealdesk.settings.env_reader import EnvReader

_PREFIX = "SEALDESK_MAIL_"
_TLS = ("CERT", "KEY")
_MIB = 1024 * 1024
_ADDRESS = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):[0-9]{1,5}")
_PATH = re.compile(r"[^\0\n]{1,4096}")
_SENDER = re.compile(r"[^\s@]{1,64}@[^\s@]{1,253}")
_CLIENT = re.compile(r"[!-~]{1,512}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SERVERS = re.compile(r"[A-Za-z0-9._-]{1,253}(?:,[A-Za-z0-9._-]{1,253}){0,19}")


class OAuthClient(msgspec.Struct, frozen=True):
    """What a mail provider knows this installation by, or an application of a desk."""

    id: str
    secret: str

    def __repr__(self) -> str:
        return f"OAuthClient({self.id!r}, …)"


class MailSettings(NamedTuple):
    """How e-mail is received, and how mailboxes are connected with OAuth.

    host: where the receiver listens, "" if it does not. is_lmtp: otherwise it speaks SMTP.
    certificate, private_key: files in PEM form for STARTTLS, both or none. max_bytes: of a message.
    authserv_ids: the servers, in lower case, whose Authentication-Results are believed.
    seals_messages: whether raw messages are stored sealed. oauth_clients: by provider.
    public_url: scheme and host of the service as browsers see them; "" if it is not known.
    waiting_bytes: of raw messages that may wait for a person, for each tenant.
    sender: the address of the mailbox that sends what no desk sends; "" without one.
    """

    host: str
    port: int
    is_lmtp: bool
    certificate: Path | None
    private_key: Path | None
    max_bytes: int
    authserv_ids: frozenset[str]
    seals_messages: bool
    oauth_clients: dict[ProviderName, OAuthClient]
    public_url: str
    waiting_bytes: int = 512 * _MIB
    sender: str = ""


def read_mail(read: EnvReader) -> MailSettings:
    """The settings that begin with SEALDESK_MAIL_, and SEALDESK_PUBLIC_URL."""
    host, port = _read_address(read)
    certificate, private_key = (_read_file(read, f"{_PREFIX}TLS_{name}") for name in _TLS)
    if (certificate is None) != (private_key is None):
        read.refuse(f"{_PREFIX}TLS_CERT and {_PREFIX}TLS_KEY belong together")
    servers = read.text(
        f"{_PREFIX}AUTHSERV_IDS", _SERVERS, "names of mail servers, separated by commas"
    )
    return MailSettings(
        host,
        port,
        read.choice(f"{_PREFIX}PROTOCOL", "smtp", "lmtp") == "lmtp",
        certificate,
        private_key,
        _MIB * read.whole(f"{_PREFIX}MAX_MIB", default=25, low=1, high=25),
        frozenset(servers.lower().split(",")) - {""},
        read.is_accepted(f"{_PREFIX}SEAL_MESSAGES"),
        clients := _read_clients(read),
        _read_public_url(read, is_needed=bool(clients)),
        _MIB * read.whole(f"{_PREFIX}WAITING_MIB", default=512, low=1, high=10**6),
        read.text(f"{_PREFIX}SENDER", _SENDER, "the address of a mailbox, as in desk@example.com"),
    )


def _read_file(read: EnvReader, name: str) -> Path | None:
    text = read.text(name, _PATH, "the path of a file in PEM form")
    return read.path(name, text) if text else None


def _read_clients(read: EnvReader) -> dict[ProviderName, OAuthClient]:
    clients: dict[ProviderName, OAuthClient] = {}
    for provider in WITH_CONSENT:
        prefix = f"{_PREFIX}{provider.upper()}_CLIENT"
        client_id = read.text(f"{prefix}_ID", _CLIENT, "the id of an OAuth client")
        secret = read.text(f"{prefix}_SECRET", _CLIENT, "the secret of an OAuth client")
        if bool(client_id) != bool(secret):
            read.refuse(f"{prefix}_ID and {prefix}_SECRET belong together")
        elif client_id:
            clients[provider] = OAuthClient(client_id, secret)
    return clients


def _read_public_url(read: EnvReader, *, is_needed: bool) -> str:
    name = "SEALDESK_PUBLIC_URL"
    url = read.url(name, _is_public_url, "https://host or https://host:port")
    if is_needed and not url:
        read.refuse(f"{name} is missing: mail providers send browsers back to it")
    return url.rstrip("/")


def _is_public_url(url: str) -> bool:
    parts = urlsplit(url)
    is_bare = parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in url)
    # Providers accept http for development on the same machine alone.
    is_secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    return bool(parts.hostname) and (parts.port or 1) > 0 and is_bare and is_secure


def _read_address(read: EnvReader) -> tuple[str, int]:
    name = f"{_PREFIX}LISTEN"
    text = read.text(name, _ADDRESS, "an address and a port, as in 127.0.0.1:2525")
    host, _, port = text.rpartition(":")
    if not (host and port.isdigit()):
        return "", 0
    if int(port) > 65535:
        read.refuse(f"{name} must have a port from 0 to 65535")
    return host.strip("[]"), int(port)
