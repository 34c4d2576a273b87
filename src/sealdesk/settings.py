"""The settings: every `SEALDESK_*` environment variable, validated once at start-up."""

import difflib
import ipaddress
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from sealdesk.crypto import key_files
from sealdesk.crypto.sealing import KEY_BYTES
from sealdesk.errors import ConfigurationError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Name → meaning; `docs/settings.md` has the details, and a test compares the names.
NAMES: dict[str, str] = {
    "SEALDESK_DATA_DIR": "directory of the database and the generated keys",
    "SEALDESK_DATABASE_URL": "sqlite:///path or postgresql://…; default: in the data directory",
    "SEALDESK_OWNER_DATABASE_URL": "PostgreSQL as the owner of the tables: for `sealdesk migrate`",
    "SEALDESK_WORKER_DATABASE_URL": "PostgreSQL as the role of `sealdesk worker`",
    "SEALDESK_DATABASE_CONNECTIONS": "PostgreSQL connections of one process, 1 to 500",
    "SEALDESK_DATABASE_POOLER": "none, or transaction: pgbouncer in transaction mode is between",
    "SEALDESK_REDIS_URL": "redis://… or rediss://…: shares the rate limits between processes",
    "SEALDESK_EXPECTED_PROCESSES": "how many processes serve, on all hosts; 1 to 1000",
    "SEALDESK_PER_PROCESS_LIMITS": "refuse or accept: several processes without Redis",
    "SEALDESK_TENANT_LIMIT": "units of work a minute of one tenant, from 6000",
    "SEALDESK_DRAIN_NOTICE_S": "seconds of 503 from /readyz before the socket closes, 0 to 8",
    "SEALDESK_BYTES_IN_FLIGHT_MIB": "budget of bodies, and one of unread responses: 8 to 4096",
    "SEALDESK_MASTER_KEY": "seals secrets: base64 of 32 bytes; several, comma-separated, to rotate",
    "SEALDESK_JWT_SECRET": "signs log-ins: base64 of 32 bytes",
    "SEALDESK_MAX_SKEW_S": "allowed clock difference of signed requests, 30 to 900 seconds",
    "SEALDESK_EXTERNAL_PATH_PREFIX": "path that a proxy strips, put back before verifying",
    "SEALDESK_TRUSTED_PROXIES": "addresses or networks whose X-Forwarded-For is believed",
    "SEALDESK_WEBHOOK_ALLOWED_CIDRS": "networks of your own that webhooks may be sent to",
    "SEALDESK_WEBHOOK_ALLOW_HTTP": "refuse or accept: webhooks to http:// addresses",
    "SEALDESK_METRICS_TOKEN": "bearer token for /metrics",
    "SEALDESK_LOG_LEVEL": "debug, info, warning or error",
    "SEALDESK_API_URL": "`sealdesk call`: the service's address",
    "SEALDESK_API_KEY": "`sealdesk call` and `sign`: the API key",
    "SEALDESK_API_SECRET": "`sealdesk call` and `sign`: the API secret",
    "SEALDESK_WEBHOOK_SECRET": "`sealdesk webhooks`: the secret that signs",
}
_PREFIX = "SEALDESK_"
_LEVELS = ("debug", "info", "warning", "error")
_DATABASE_FILE = "sealdesk.db"
_SQLITE_PREFIX = "sqlite:///"
_POSTGRESQL = ("postgresql", "postgres")
_REDIS = ("redis", "rediss", "unix")
_KEY_FILES = {"SEALDESK_MASTER_KEY": key_files.MASTER, "SEALDESK_JWT_SECRET": "jwt.key"}
_URL_FORMS = {
    "SEALDESK_DATABASE_URL": "sqlite:///relative/path, sqlite:////absolute/path or"
    " postgresql://user:password@host/database",
    "SEALDESK_OWNER_DATABASE_URL": "postgresql://owner:password@host/database",
    "SEALDESK_WORKER_DATABASE_URL": "postgresql://worker:password@host/database",
    "SEALDESK_REDIS_URL": "redis://host:6379/0, rediss://… or unix://…",
}
_PLACEHOLDER_KEY = bytes(KEY_BYTES)  # replaces an invalid key until all faults are collected


class BadSettings(ConfigurationError):
    """The environment is not a valid and safe configuration; the text names every fault."""


class Settings(msgspec.Struct, frozen=True):
    """The validated settings. `repr` shows no secrets.

    database_url: of PostgreSQL; empty on SQLite, whose file is database_path.
    """

    data_dir: Path
    database_path: Path
    database_url: str
    owner_database_url: str
    worker_database_url: str
    database_connections: int
    database_pooler: str
    redis_url: str
    expected_processes: int
    per_process_limits: str
    tenant_limit: int
    drain_notice_s: int
    budget_mib: int
    master_keys: tuple[bytes, ...]
    jwt_secret: bytes
    max_skew_s: int
    path_prefix: str
    trusted_proxies: tuple[Network, ...]
    webhook_allowed_cidrs: tuple[Network, ...]
    webhook_allow_http: bool
    metrics_token: str
    log_level: str

    @property
    def has_worker_process(self) -> bool:
        """Whether `sealdesk worker` runs the background loop; on SQLite the server runs it."""
        return bool(self.database_url)

    def __repr__(self) -> str:
        return f"Settings(data_dir={str(self.data_dir)!r}, …)"


def from_env(env: Mapping[str, str], *, needs_keys: bool = True) -> Settings:
    """The settings of an environment; generates missing keys when SEALDESK_DATABASE_URL is unset.

    needs_keys: False for commands that only change the schema. Raises BadSettings with all faults.
    """
    names = [name for name in env if name.startswith(_PREFIX)]
    faults = [_describe_unknown(name) for name in names if name not in NAMES]
    read = _EnvReader(env, faults, needs_keys)
    settings = _read_settings(read, Path(env.get("SEALDESK_DATA_DIR") or "var").absolute())
    if faults:
        raise BadSettings("; ".join(faults))
    return settings


def _read_settings(read: "_EnvReader", data_dir: Path) -> Settings:
    return Settings(
        data_dir=data_dir,
        database_path=read.database_path(data_dir),
        database_url=read.server_url("SEALDESK_DATABASE_URL", _POSTGRESQL),
        owner_database_url=read.server_url("SEALDESK_OWNER_DATABASE_URL", _POSTGRESQL),
        worker_database_url=read.server_url("SEALDESK_WORKER_DATABASE_URL", _POSTGRESQL),
        database_connections=read.whole(
            "SEALDESK_DATABASE_CONNECTIONS", default=10, low=1, high=500
        ),
        database_pooler=read.choice("SEALDESK_DATABASE_POOLER", "none", "transaction"),
        redis_url=read.server_url("SEALDESK_REDIS_URL", _REDIS),
        expected_processes=read.whole("SEALDESK_EXPECTED_PROCESSES", default=1, low=1, high=1000),
        per_process_limits=read.choice("SEALDESK_PER_PROCESS_LIMITS", "refuse", "accept"),
        tenant_limit=read.whole("SEALDESK_TENANT_LIMIT", default=30_000, low=6_000, high=10**8),
        drain_notice_s=read.whole("SEALDESK_DRAIN_NOTICE_S", default=0, low=0, high=8),
        budget_mib=read.whole("SEALDESK_BYTES_IN_FLIGHT_MIB", default=64, low=8, high=4096),
        master_keys=read.keys("SEALDESK_MASTER_KEY", data_dir),
        jwt_secret=read.keys("SEALDESK_JWT_SECRET", data_dir)[0],
        max_skew_s=read.whole("SEALDESK_MAX_SKEW_S", default=300, low=30, high=900),
        path_prefix=read.path_prefix(),
        trusted_proxies=read.networks("SEALDESK_TRUSTED_PROXIES"),
        webhook_allowed_cidrs=read.networks("SEALDESK_WEBHOOK_ALLOWED_CIDRS"),
        webhook_allow_http=read.is_accepted("SEALDESK_WEBHOOK_ALLOW_HTTP"),
        metrics_token=read.metrics_token(),
        log_level=read.choice("SEALDESK_LOG_LEVEL", *_LEVELS, default="info"),
    )


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


class _EnvReader:
    """Reads one variable at a time and collects the faults."""

    def __init__(self, env: Mapping[str, str], faults: list[str], needs_keys: bool) -> None:
        self._env = env
        self._faults = faults
        self._needs_keys = needs_keys

    def whole(self, name: str, *, default: int, low: int, high: int) -> int:
        text = self._env.get(name, "")
        if not text:
            return default
        if text.isascii() and text.isdigit() and low <= int(text) <= high:
            return int(text)
        self._faults.append(f"{name} must be a whole number from {low} to {high}")
        return default

    def choice(self, name: str, *allowed: str, default: str = "") -> str:
        text = self._env.get(name, "") or default or allowed[0]
        if text not in allowed:
            self._faults.append(f"{name} must be one of {', '.join(allowed)}")
        return text

    def is_accepted(self, name: str) -> bool:
        return self.choice(name, "refuse", "accept") == "accept"

    def database_path(self, data_dir: Path) -> Path:
        path = self._file_path()
        return Path(path).absolute() if path else data_dir / _DATABASE_FILE

    def _file_path(self) -> str:
        url = self._env.get("SEALDESK_DATABASE_URL", "")
        return url.removeprefix(_SQLITE_PREFIX) if url.startswith(_SQLITE_PREFIX) else ""

    def server_url(self, name: str, schemes: tuple[str, ...]) -> str:
        """The URL unchanged; faults never show it, because it may hold a password."""
        url = self._env.get(name, "")
        if not url or (name == "SEALDESK_DATABASE_URL" and self._file_path()):
            return ""
        if not _is_server_url(url, schemes):
            self._faults.append(f"{name} must be {_URL_FORMS[name]}")
        return url

    def keys(self, name: str, data_dir: Path) -> tuple[bytes, ...]:
        if not self._needs_keys:
            return (_PLACEHOLDER_KEY,)
        text = self._env.get(name, "")
        if not text:
            return self._generate_key(name, data_dir)
        parts = text.split(",") if name == "SEALDESK_MASTER_KEY" else [text]
        keys = tuple(key_files.decode_key(part.strip()) for part in parts)
        if None in keys:
            self._faults.append(
                f"{name} must be base64 of {KEY_BYTES} random bytes;"
                " make one with: openssl rand -base64 32"
            )
            return (_PLACEHOLDER_KEY,)
        return tuple(key for key in keys if key is not None)

    def _generate_key(self, name: str, data_dir: Path) -> tuple[bytes, ...]:
        path = data_dir / _KEY_FILES[name]
        if self._env.get("SEALDESK_DATABASE_URL"):
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
            return (self._read_or_create_key(path),)
        return (_PLACEHOLDER_KEY,)

    def _read_or_create_key(self, path: Path) -> bytes:
        """The key in this file, which is created when it does not exist."""
        try:
            if not path.exists():
                make_private_dir(path.parent)
            key = key_files.decode_key(key_files.read_or_create(path))
        except OSError as error:
            self._faults.append(f"SEALDESK_DATA_DIR: {path} cannot be used: {error.strerror}")
            return _PLACEHOLDER_KEY
        if key is None:
            self._faults.append(f"{path} does not hold a key; restore it from your backup")
        return key or _PLACEHOLDER_KEY

    def path_prefix(self) -> str:
        prefix = self._env.get("SEALDESK_EXTERNAL_PATH_PREFIX", "")
        is_path = prefix.startswith("/") and not prefix.endswith("/") and prefix.isascii()
        if prefix and not (is_path and prefix.isprintable() and " " not in prefix):
            self._faults.append(
                "SEALDESK_EXTERNAL_PATH_PREFIX must begin with / and not end with it: /support"
            )
        return prefix

    def metrics_token(self) -> str:
        token = self._env.get("SEALDESK_METRICS_TOKEN", "")
        if token and len(token) < 16:
            self._faults.append("SEALDESK_METRICS_TOKEN must have at least 16 characters")
        return token

    def networks(self, name: str) -> tuple[Network, ...]:
        networks = []
        for part in filter(None, (p.strip() for p in self._env.get(name, "").split(","))):
            try:
                network = ipaddress.ip_network(part)
            except ValueError:
                self._faults.append(f"{name}: {part} is not an address or a network (CIDR)")
                continue
            if network.prefixlen == 0:
                self._faults.append(f"{name}: {part} would be everybody; name your own")
            networks.append(network)
        return tuple(networks)


def _describe_unknown(name: str) -> str:
    # Without the common prefix, which would make all names similar.
    endings = {known.removeprefix(_PREFIX): known for known in NAMES}
    nearest = difflib.get_close_matches(name.removeprefix(_PREFIX), endings, n=1)
    advice = f"is it {endings[nearest[0]]}?" if nearest else f"there are {', '.join(NAMES)}"
    return f"{name} is not a setting; {advice}"


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


def _is_key_lost(key_file: Path, database: Path) -> bool:
    """Whether the database exists without its key: a new key could not open its secrets."""
    return database.exists() and not key_file.exists()
