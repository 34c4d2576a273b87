"""The rules of API keys; no IO."""

import hashlib
import secrets
from typing import Any

from sealdesk import clock
from sealdesk.api_keys.types import ApiKey, Mode
from sealdesk.crypto.sealing import KeyRing
from sealdesk.crypto.signing import LIVE_PREFIX, TEST_PREFIX

DEFAULT_RATE_LIMIT = 1000
MAX_ACTIVE_KEYS = 100
# As many as may be active, so that all of them can be created at once.
MAX_NEW_KEYS_PER_HOUR = 100
REFUSALS_KEPT = 50
LAST_USED_STEP_US = 60_000_000


def mint_key(mode: Mode) -> str:
    """A new API key: 160 random bits in hex behind the prefix of its mode."""
    return (TEST_PREFIX if mode == "test" else LIVE_PREFIX) + secrets.token_hex(20)


def mode_of(api_key: str) -> Mode:
    """The mode of a key, or of the visible part of one."""
    return "test" if api_key.startswith(TEST_PREFIX) else "live"


def mint_secret() -> str:
    """A new API secret: 256 random bits in hex."""
    return secrets.token_hex(32)


def prefix_of(api_key: str) -> str:
    """The visible part of a key."""
    return api_key[: len(LIVE_PREFIX) + 8]


def hash_of(api_key: str) -> bytes:
    """The hash by which a key is looked up. Without a salt: a key has 160 random bits."""
    return hashlib.sha256(api_key.encode()).digest()


def seal_context(key: ApiKey) -> str:
    """The AEAD context of a key's secret, so that it cannot be opened in another row."""
    return seal_context_of(key.tenant_id, key.id, key.secret_version)


def seal_context_of(tenant_id: str, key_id: str, secret_version: int) -> str:
    """As `seal_context`, without the whole key."""
    return f"api_secret {tenant_id} {key_id} {secret_version}"


def open_secret(key: ApiKey, key_ring: KeyRing) -> str:
    """The secret of a key that is not revoked. Raises UnsealError."""
    return key_ring.open(key.sealed_secret or b"", seal_context(key))


def settings_hash(key: ApiKey) -> str:
    """A short hash of the settings that can be edited, to notice concurrent changes."""
    edited = (key.name, key.permissions, key.rate_limit, key.expires_at)
    text = repr((*edited, key.allowed_ips, key.replay_protection))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_expired(key: ApiKey, now_us: int) -> bool:
    return key.expires_at is not None and key.expires_at <= now_us


def is_active(key: ApiKey, now_us: int) -> bool:
    return key.revoked_at is None and not is_expired(key, now_us) and key.unconfirmed_since is None


def next_recorded_use(last_used_at: int | None) -> int:
    """From when on a use updates `last_used_at`: at the first use, then once a minute."""
    return 0 if last_used_at is None else last_used_at + LAST_USED_STEP_US


def shown(key: ApiKey, now_us: int) -> dict[str, Any]:
    """The fields of ApiKeyResponse."""
    return {
        "id": key.id,
        "name": key.name,
        "key_prefix": key.key_prefix,
        "mode": mode_of(key.key_prefix),
        "permissions": key.permissions,
        "rate_limit": key.rate_limit,
        "allowed_ips": key.allowed_ips,
        "replay_protection": key.replay_protection,
        "is_active": is_active(key, now_us),
        "last_used_at": clock.iso_or_none(key.last_used_at),
        "expires_at": clock.iso_or_none(key.expires_at),
        "revoked_at": clock.iso_or_none(key.revoked_at),
        "created_at": clock.iso(key.created_at),
        "unconfirmed_since": clock.iso_or_none(key.unconfirmed_since),
    }
