"""Reads environment variables one at a time, and collects what is wrong with them."""

import ipaddress
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from sealdesk.crypto import key_files
from sealdesk.crypto.sealing import KEY_BYTES
from sealdesk.errors import ConfigurationError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_DATABASE_FILE = "sealdesk.db"
_SQLITE_PREFIX = "sqlite:///"
_KEY_FILES = {"SEALDESK_MASTER_KEY": key_files.MASTER, "SEALDESK_JWT_SECRET": "jwt.key"}
_URL_FORMS = {
    "SEALDESK_DATABASE_URL": "sqlite:///relative/path, sqlite:////absolute/path or"
    " postgresql://user:password@host/database",
    "SEALDESK_OWNER_DATABASE_URL": "postgresql://owner:password@host/database",
    "SEALDESK_WORKER_DATABASE_URL": "postgresql://worker:password@host/database",
    "SEALDESK_REDIS_URL": "redis://host:6379/0, rediss://… or unix://…",
}
# What runs when it is opened on Windows, the desk of most people who receive files.
_DENIED_BY_DEFAULT = (
    "deny:bat,cmd,com,cpl,dll,exe,hta,jar,js,jse,lnk,msi,ps1,reg,scr,vbe,vbs,wsf,wsh"
)
_ENDINGS = re.compile(r"(allow|deny):([a-z0-9]{1,16}(?:,[a-z0-9]{1,16}){0,199})")
_ACCEPTED = ("accept", "true", "1", "yes")
_REFUSED = ("refuse", "false", "0", "no")
_PLACEHOLDER_KEY = bytes(KEY_BYTES)  # replaces an invalid key until all faults are collected


class FileTypes(NamedTuple):
    """Which files may be attached, by the endings of their names in lower case."""

    is_allow_list: bool
    endings: frozenset[str]

    def has(self, ending: str) -> bool:
        """Whether files with this ending, "" for none, may be attached."""
        return (ending.lower() in self.endings) == self.is_allow_list


class BadSettings(ConfigurationError):
    """The environment is not a valid and safe configuration; the text names every fault."""


def make_private_dir(path: Path) -> None:
    """Create a directory that only its owner can access. Raises BadSettings, OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = path.stat().st_mode
    if mode & stat.S_ISVTX:
        raise BadSettings(
            f"SEALDESK_DATA_DIR: {path} is shared by all users; name a directory of its own"
        )
    if mode & 0o077:
        path.chmod(0o700)


class EnvReader:
    """Reads one variable at a time and collects the faults. names: what was asked for."""

    def __init__(self, env: Mapping[str, str], faults: list[str], needs_keys: bool) -> None:
        self._env = env
        self._faults = faults
        self._needs_keys = needs_keys
        self.names: dict[str, None] = {}

    def _get(self, name: str) -> str:
        self.names[name] = None
        return self._env.get(name, "")

    def whole(self, name: str, *, default: int, low: int, high: int) -> int:
        text = self._get(name)
        if not text:
            return default
        if text.isascii() and text.isdigit() and low <= int(text) <= high:
            return int(text)
        self._faults.append(f"{name} must be a whole number from {low} to {high}")
        return default

    def choice(self, name: str, *allowed: str, default: str = "") -> str:
        text = self._get(name) or default or allowed[0]
        if text not in allowed:
            self._faults.append(f"{name} must be one of {', '.join(allowed)}")
        return text

    def text(
        self, name: str, pattern: re.Pattern[str], meaning: str, *, file: Path | None = None
    ) -> str:
        """A text of this pattern, "" when it is not set. file: holds it when the variable does not.

        Faults do not show the text, because it may be a secret.
        """
        text = self._get(name)
        if not text and file is not None:
            text = self._read_file(name, file)
        if text and not pattern.fullmatch(text):
            self.refuse(f"{name} must be {meaning}")
        return text

    def _read_file(self, name: str, file: Path) -> str:
        try:
            return file.read_text("utf-8-sig").strip() if file.is_file() else ""
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", "it is not text")
            self.refuse(f"{name}: {file} cannot be read: {reason}")
            return ""

    def path(self, name: str, text: str) -> Path:
        """A path in which ~ is a home: systemd and Compose hand it on as it is."""
        try:
            return Path(text).expanduser()
        except RuntimeError:
            self.refuse(f"{name}: {text} names an unknown user's home")
            return Path(text)

    def url(self, name: str, is_right: Callable[[str], bool], form: str) -> str:
        """A URL of a form, "" when it is not set."""
        url = self._get(name)
        try:
            is_fault = bool(url) and not is_right(url)
        except ValueError:  # of a port, or of brackets
            is_fault = True
        if is_fault:
            self.refuse(f"{name} must be {form}")
        return url

    def refuse(self, fault: str) -> None:
        """Note a fault that concerns several variables."""
        self._faults.append(fault)

    def is_accepted(self, name: str) -> bool:
        text = self._get(name).lower() or "refuse"
        if text not in (*_ACCEPTED, *_REFUSED):
            self.refuse(f"{name} must be accept or refuse; true, 1, yes and false, 0, no also work")
        return text in _ACCEPTED

    def database_path(self, data_dir: Path) -> Path:
        path = self._file_path()
        if not path:
            return data_dir / _DATABASE_FILE
        return self.path("SEALDESK_DATABASE_URL", path).absolute()

    def _file_path(self) -> str:
        url = self._get("SEALDESK_DATABASE_URL")
        return url.removeprefix(_SQLITE_PREFIX) if url.startswith(_SQLITE_PREFIX) else ""

    def server_url(self, name: str, schemes: tuple[str, ...]) -> str:
        """The URL unchanged; faults never show it, because it may hold a password."""
        url = self._get(name)
        if not url or (name == "SEALDESK_DATABASE_URL" and self._file_path()):
            return ""
        if not _is_server_url(url, schemes):
            self._faults.append(f"{name} must be {_URL_FORMS[name]}")
        return url

    def keys(self, name: str, data_dir: Path) -> tuple[bytes, ...]:
        text = self._get(name)
        if not self._needs_keys:
            return (_PLACEHOLDER_KEY,)
        if not text:
            return self._generate_key(name, data_dir)
        keys = _decode_keys(name, text)
        if not keys:
            self._faults.append(
                f"{name} must be base64 of {KEY_BYTES} random bytes;"
                " make one with: openssl rand -base64 32"
            )
        return keys or (_PLACEHOLDER_KEY,)

    def _generate_key(self, name: str, data_dir: Path) -> tuple[bytes, ...]:
        path = data_dir / _KEY_FILES[name]
        if self._get("SEALDESK_DATABASE_URL"):
            self._faults.append(
                f"{name} is missing; with SEALDESK_DATABASE_URL set it must be given:"
                " make one with: openssl rand -base64 32"
            )
        elif name == "SEALDESK_MASTER_KEY" and _is_key_lost(path, data_dir / _DATABASE_FILE):
            self._faults.append(
                f"{path} is missing, and the database was sealed with it;"
                f" restore it from your backup, or set {name}"
            )
        elif not self._faults:
            return self._read_or_create_keys(name, path)
        return (_PLACEHOLDER_KEY,)

    def _read_or_create_keys(self, name: str, path: Path) -> tuple[bytes, ...]:
        """The keys in this file, which is created when it does not exist."""
        try:
            if not path.exists():
                make_private_dir(path.parent)
            keys = _decode_keys(name, key_files.read_or_create(path))
        except OSError as error:
            self._faults.append(f"SEALDESK_DATA_DIR: {path} cannot be used: {error.strerror}")
            return (_PLACEHOLDER_KEY,)
        if not keys:
            self._faults.append(f"{path} does not hold a key; restore it from your backup")
        return keys or (_PLACEHOLDER_KEY,)

    def path_prefix(self) -> str:
        prefix = self._get("SEALDESK_EXTERNAL_PATH_PREFIX")
        is_path = prefix.startswith("/") and not prefix.endswith("/") and prefix.isascii()
        if prefix and not (is_path and prefix.isprintable() and " " not in prefix):
            self._faults.append(
                "SEALDESK_EXTERNAL_PATH_PREFIX must begin with / and not end with it: /support"
            )
        return prefix

    def file_types(self) -> FileTypes:
        found = _ENDINGS.fullmatch(self._get("SEALDESK_ATTACHMENT_TYPES") or _DENIED_BY_DEFAULT)
        if found is None:
            self._faults.append(
                "SEALDESK_ATTACHMENT_TYPES must be allow: or deny: and endings of file names, as in"
                " deny:exe,js"
            )
            return FileTypes(True, frozenset())
        return FileTypes(found[1] == "allow", frozenset(found[2].split(",")))

    def metrics_token(self) -> str:
        token = self._get("SEALDESK_METRICS_TOKEN")
        if token and len(token) < 16:
            self._faults.append("SEALDESK_METRICS_TOKEN must have at least 16 characters")
        return token

    def networks(self, name: str) -> tuple[Network, ...]:
        networks = []
        for part in filter(None, (p.strip() for p in self._get(name).split(","))):
            try:
                network = ipaddress.ip_network(part)
            except ValueError:
                self._faults.append(f"{name}: {part} is not an address or a network (CIDR)")
                continue
            if network.prefixlen == 0:
                self._faults.append(f"{name}: {part} would be everybody; name your own")
            networks.append(network)
        return tuple(networks)


def _is_server_url(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether it can be the URL of a server; a PostgreSQL URL may name several hosts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ports = [host.rpartition(":")[2] for host in hosts if ":" in host and not host.endswith("]")]
    are_ports = all(port.isascii() and port.isdigit() and int(port) < 65536 for port in ports)
    return parts.scheme in schemes and are_ports


def _decode_keys(name: str, text: str) -> tuple[bytes, ...]:
    """The keys in a text: of master keys several, separated by commas. None if one is no key."""
    parts = text.split(",") if name == "SEALDESK_MASTER_KEY" else [text]
    keys = [key_files.decode_key(part.strip()) for part in parts]
    return () if None in keys else tuple(key for key in keys if key is not None)


def _is_key_lost(key_file: Path, database: Path) -> bool:
    """Whether the database exists without its key: a new key could not open its secrets."""
    return database.exists() and not key_file.exists()
