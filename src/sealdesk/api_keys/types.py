"""The structs of API keys: as requested, as stored, and as shown."""

import ipaddress
import re
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.api_keys.permissions import Permissions
from sealdesk.clock import Iso
from sealdesk.crypto.mistakes import DIAGNOSES
from sealdesk.errors import Fault, gettext_noop
from sealdesk.ids import Id
from sealdesk.resources.representation import Instant, check_visible

# ipaddress also takes netmasks for lengths, and IPv6 zones, which are of one machine only.
_CIDR = re.compile(r"[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?", re.ASCII)
ReplayProtection = Literal["off", "writes"]
Mode = Literal["live", "test"]
_NAME_LENGTH = gettext_noop("This must have 1 to 100 characters.")
_NOT_A_NETWORK = gettext_noop("This is not an address or a network, as in 203.0.113.0/24.")


def _check_name(name: str) -> list[Fault]:
    if not 1 <= len(name.strip()) <= 100:
        return [Fault("", "invalid_length", _NAME_LENGTH)]
    return check_visible(name)


def _check_networks(cidrs: list[str]) -> list[Fault]:
    return [
        Fault(f"/{place}", "invalid_network", _NOT_A_NETWORK)
        for place, cidr in enumerate(cidrs)
        if not _is_network(cidr)
    ]


def _is_network(text: str) -> bool:
    if _CIDR.fullmatch(text) is None:
        return False
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


Name = Annotated[
    str, Meta(extra={"check": _check_name}, extra_json_schema={"minLength": 1, "maxLength": 100})
]
RateLimit = Annotated[int, Meta(ge=1, le=100_000)]
Networks = Annotated[list[str], Meta(max_length=20, extra={"check": _check_networks})]
Diagnosis = Annotated[str, Meta(extra_json_schema={"enum": list(DIAGNOSES)})]


# A field → other names of it; or advice → names of what no field is for.
_OTHER_NAMES = {
    "A key is active until `expires_at`, or until DELETE revokes it permanently.": (
        "active inactive enabled disabled paused suspended status revoked revokedat"
    ),
    "Sealdesk makes it and shows it once; POST to …/rotate makes a new secret.": (
        "key apikey secret apisecret keyprefix"
    ),
    "POST to …/confirm confirms a key.": "confirmed unconfirmed unconfirmedsince",
    "permissions": "permission scope scopes role roles access grants privileges rights",
    "expires_at": "expires expiry expiration validuntil validto notafter lifetime ttl",
    "allowed_ips": "ips ipwhitelist ipallowlist whitelist allowlist networks cidrs",
    "rate_limit": "rate limit rpm",
    "replay_protection": "replay",
    "mode": "test live livemode sandbox environment",
}
_MISTAKEN = {name: field for field, names in _OTHER_NAMES.items() for name in names.split()}


class NewApiKey(msgspec.Struct, frozen=True):
    """The body of a request that creates a key.

    permissions: left out or null, those of tickets, replies and customers; `[]`, none.
    rate_limit: requests a minute; left out or null, 1000.
    expires_at: in the future; without an offset it is UTC; null, never.
    mode: `test` for a key of the test tenant, which has data and a clock of its own.
    """

    # A key that may more, or for longer, than was meant is worse than a request that fails.
    IS_CLOSED: ClassVar[bool] = True
    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN

    name: Name
    permissions: Permissions | None = None
    rate_limit: RateLimit | None = None
    expires_at: Instant | None = None
    allowed_ips: Networks | None = None
    replay_protection: ReplayProtection = "off"
    mode: Mode = "live"


class ApiKeyChange(msgspec.Struct, frozen=True):
    """The body of a change of a key; fields that are left out keep their values."""

    IS_CLOSED: ClassVar[bool] = True
    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN | dict.fromkeys(
        f"mode {_OTHER_NAMES['mode']}".split(),
        "A key keeps its mode; POST creates a key of the other one.",
    )

    name: Name | UnsetType = UNSET
    permissions: Permissions | UnsetType = UNSET
    rate_limit: RateLimit | UnsetType = UNSET
    expires_at: Instant | UnsetType | None = UNSET
    allowed_ips: Networks | UnsetType | None = UNSET
    replay_protection: ReplayProtection | UnsetType = UNSET


class ApiKey(msgspec.Struct, frozen=True):
    """A key as it is stored: its secret is sealed, and its hash is in the key directory."""

    tenant_id: str
    id: str
    name: str
    key_prefix: str
    permissions: tuple[str, ...]
    rate_limit: int
    allowed_ips: tuple[str, ...] | None
    replay_protection: ReplayProtection
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None
    sealed_secret: bytes | None
    secret_version: int
    created_at: int
    unconfirmed_since: int | None = None

    def __repr__(self) -> str:
        return f"ApiKey(id={self.id!r})"


class ApiKeyResponse(msgspec.Struct, frozen=True):
    """A key as the API shows it.

    name: for people; need not be unique.
    key_prefix: the visible part of the key, which tells keys apart.
    mode: `test` for a key of the test tenant.
    permissions: what the key may; write does not imply read.
    rate_limit: requests a minute.
    allowed_ips: addresses and networks that may use the key; null, all of them.
    replay_protection: with `writes` a signature is good for one POST, PUT, PATCH or DELETE.
    is_active: neither revoked nor expired nor unconfirmed.
    last_used_at: time of the last request with a valid signature, to the minute.
    expires_at: the key is refused from then on; null, never.
    unconfirmed_since: when the service was restored from a backup with this key, which is refused
    until an administrator confirms it; null, it needs no confirmation.
    """

    id: Id
    name: str
    key_prefix: str
    mode: Mode
    permissions: tuple[str, ...]
    rate_limit: int
    allowed_ips: tuple[str, ...] | None
    replay_protection: ReplayProtection
    is_active: bool
    last_used_at: Iso | None
    expires_at: Iso | None
    revoked_at: Iso | None
    created_at: Iso
    unconfirmed_since: Iso | None


class CreatedApiKey(ApiKeyResponse, frozen=True):
    """A new key. The key itself and its secret are shown only in this response.

    api_key: the value of the header x-api-key.
    api_secret: the key of the HMAC that signs requests; store it like a password.
    """

    api_key: str
    api_secret: str

    def __repr__(self) -> str:
        return f"CreatedApiKey(id={self.id!r})"


class RotatedApiKey(ApiKeyResponse, frozen=True):
    """A key after rotation. The new secret is shown only in this response.

    api_secret: the old one has already stopped working.
    """

    api_secret: str

    def __repr__(self) -> str:
        return f"RotatedApiKey(id={self.id!r})"


class RefusalResponse(msgspec.Struct, frozen=True):
    """A refused request of a key, as its tenant's administrators see it; without its body.

    diagnosis: the mistake that leads to this signature; null if it was not looked for.
    target: path and query as they were received.
    timestamp: x-api-timestamp as it was sent.
    """

    id: Id
    code: str
    diagnosis: Diagnosis | None
    method: str
    target: str
    timestamp: str
    body_sha256: str | None
    body_bytes: int | None
    refused_at: Iso


class StoredRefusal(msgspec.Struct, frozen=True):
    """A refused request."""

    id: str
    code: str
    diagnosis: str | None
    method: str
    target: str
    timestamp: str
    body_sha256: str | None
    body_bytes: int | None
    refused_at: int
