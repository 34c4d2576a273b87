"""The settings: every `SEALDESK_*` environment variable, validated once at start-up."""

import difflib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from sealdesk.errors import ConfigurationError
from sealdesk.settings.bucket import BucketSettings, read_bucket
from sealdesk.settings.env_reader import (
    BadSettings,
    EnvReader,
    FileTypes,
    Network,
    make_private_dir,
)
from sealdesk.settings.mail import MailSettings, OAuthClient, read_mail

__all__ = [
    "BadSettings",
    "BucketSettings",
    "FileTypes",
    "MailSettings",
    "Network",
    "OAuthClient",
    "Settings",
    "from_env",
    "known_names",
    "make_private_dir",
]

_PREFIX = "SEALDESK_"
# What Kubernetes gives every pod beside a Service whose name begins with "sealdesk": NAME=value.
_OF_KUBERNETES = re.compile(
    r"SEALDESK_(?:\w+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)=|PORT=\w+://"
    r"|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?=)"
)
# Quotes, spaces and line ends of an .env file, and $HOME or systemd's %h that nothing replaces.
_NOT_REPLACED = re.compile(r"[\"'\0-\x1f]|^ | $|\$[A-Za-z{(]|%[a-zA-Z]/")
_MIB = 1024 * 1024
_LEVELS = ("debug", "info", "warning", "error")
_POSTGRESQL = ("postgresql", "postgres")
_REDIS = ("redis", "rediss", "unix")
# Those that are not a member of Settings: the client, the command line and `data_dir_of` read them.
_OTHERS = ("DATA_DIR", "API_URL", "API_KEY", "API_SECRET", "WEBHOOK_SECRET")
_NOWHERE = Path("/dev/null")


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
    per_process_limits: bool
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
    mail_allowed_cidrs: tuple[Network, ...]
    attachment_max_bytes: int
    attachment_quota_bytes: int
    attachment_types: FileTypes
    attachment_bucket: BucketSettings | None
    mail: MailSettings
    metrics_token: str
    log_level: str

    @property
    def has_worker_process(self) -> bool:
        """Whether `sealdesk worker` runs the background loop; on SQLite the server runs it."""
        return bool(self.database_url)

    @property
    def is_on_postgres(self) -> bool:
        """Whether the data is on PostgreSQL, also where only the owner of the tables connects."""
        return bool(self.database_url or self.owner_database_url)

    def get_owner_url(self, why: str) -> str:
        """The URL with the role that owns the tables. Raises ConfigurationError, which says why."""
        if not self.owner_database_url:
            raise ConfigurationError(f"SEALDESK_OWNER_DATABASE_URL is missing: {why}")
        return self.owner_database_url

    def __repr__(self) -> str:
        return f"Settings(data_dir={str(self.data_dir)!r}, …)"


def find_fault_of(data_dir: Path) -> list[str]:
    """Whether a data directory is one that nobody means."""
    if not _NOT_REPLACED.search(str(data_dir)):
        return []
    return [
        f"SEALDESK_DATA_DIR: {str(data_dir)!r} has quotes, a line end or a variable that"
        " nothing has replaced; write the path itself"
    ]


def from_env(env: Mapping[str, str], *, needs_keys: bool = True) -> Settings:
    """The settings of an environment; generates missing keys when SEALDESK_DATABASE_URL is unset.

    needs_keys: False for commands that only change the schema. Raises BadSettings with all faults.
    """
    names = [name for name in env if name.startswith(_PREFIX) and name not in known_names()]
    faults = [
        _describe_unknown(each) for each in names if not _OF_KUBERNETES.match(f"{each}={env[each]}")
    ]
    read = EnvReader(env, faults, needs_keys)
    try:
        data_dir = data_dir_of(env)
    except RuntimeError:
        data_dir = Path("var")
        faults.append(f"SEALDESK_DATA_DIR: {env['SEALDESK_DATA_DIR']} names an unknown user's home")
    faults += find_fault_of(data_dir)
    settings = _read_settings(read, data_dir.absolute())
    if faults:
        raise BadSettings("; ".join(faults))
    return settings


@cache
def known_names() -> tuple[str, ...]:
    """The variables that are read; docs/settings.md describes each."""
    read = EnvReader({}, [], needs_keys=False)
    _read_settings(read, _NOWHERE)
    return (*(f"{_PREFIX}{name}" for name in _OTHERS), *read.names)


def data_dir_of(env: Mapping[str, str]) -> Path:
    """The data directory. Raises RuntimeError for the home of an unknown user."""
    # systemd, Compose and .env files hand on a tilde as it is.
    return Path(env.get("SEALDESK_DATA_DIR") or "var").expanduser()


def _read_settings(read: EnvReader, data_dir: Path) -> Settings:
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
        per_process_limits=read.is_accepted("SEALDESK_PER_PROCESS_LIMITS"),
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
        mail_allowed_cidrs=read.networks("SEALDESK_MAIL_ALLOWED_CIDRS"),
        attachment_max_bytes=_MIB
        * read.whole("SEALDESK_ATTACHMENT_MAX_MIB", default=25, low=1, high=25),
        attachment_quota_bytes=_MIB
        * read.whole("SEALDESK_ATTACHMENT_QUOTA_MIB", default=10_240, low=1, high=10**9),
        attachment_types=read.file_types(),
        attachment_bucket=read_bucket(read, data_dir),
        mail=read_mail(read),
        metrics_token=read.metrics_token(),
        log_level=read.choice("SEALDESK_LOG_LEVEL", *_LEVELS, default="info"),
    )


def _describe_unknown(name: str) -> str:
    # Without the common prefix, which would make all names similar.
    endings = {known.removeprefix(_PREFIX): known for known in known_names()}
    nearest = difflib.get_close_matches(name.removeprefix(_PREFIX), endings, n=1)
    advice = f"is it {endings[nearest[0]]}?" if nearest else f"there are {', '.join(known_names())}"
    return f"{name} is not a setting; {advice}"
