"""The settings of receiving e-mail."""

import re
from pathlib import Path
from typing import NamedTuple

from sealdesk.settings.env_reader import EnvReader

_PREFIX = "SEALDESK_MAIL_"
_MIB = 1024 * 1024
_ADDRESS = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):[0-9]{1,5}")
_PATH = re.compile(r"[^\0\n]{1,4096}")
_SERVERS = re.compile(r"[A-Za-z0-9._-]{1,253}(?:,[A-Za-z0-9._-]{1,253}){0,19}")


class MailSettings(NamedTuple):
    """How e-mail is received.

    host: where the receiver listens, "" if it does not. is_lmtp: otherwise it speaks SMTP.
    certificate, private_key: files in PEM form for STARTTLS, both or none. max_bytes: of a message.
    authserv_ids: the servers, in lower case, whose Authentication-Results are believed.
    seals_messages: whether raw messages are stored sealed.
    """

    host: str
    port: int
    is_lmtp: bool
    certificate: Path | None
    private_key: Path | None
    max_bytes: int
    authserv_ids: frozenset[str]
    seals_messages: bool


def read_mail(read: EnvReader) -> MailSettings:
    """The settings that begin with SEALDESK_MAIL_."""
    host, port = _read_address(read)
    paths = [
        read.text(f"{_PREFIX}TLS_{name}", _PATH, "the path of a file in PEM form")
        for name in ("CERT", "KEY")
    ]
    certificate, private_key = (Path(path) if path else None for path in paths)
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
    )


def _read_address(read: EnvReader) -> tuple[str, int]:
    name = f"{_PREFIX}LISTEN"
    text = read.text(name, _ADDRESS, "an address and a port, as in 127.0.0.1:2525")
    host, _, port = text.rpartition(":")
    if not (host and port.isdigit()):
        return "", 0
    if int(port) > 65535:
        read.refuse(f"{name} must have a port from 0 to 65535")
    return host.strip("[]"), int(port)
