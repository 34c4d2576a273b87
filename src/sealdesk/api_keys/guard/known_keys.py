"""Keys as the guard needs them; on SQLite they stay known until any key changes."""

import ipaddress
import logging
import math
from functools import lru_cache

import msgspec

from sealdesk.api_keys import errors, rules, store
from sealdesk.api_keys.guard import refusals
from sealdesk.api_keys.store import Features
from sealdesk.api_keys.types import ApiKey
from sealdesk.caller import Actor
from sealdesk.crypto.sealing import UnsealError
from sealdesk.crypto.signing import Verifier
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.rate_limits.limiter import Budget
from sealdesk.settings import Network
from sealdesk.state import AppState

log = logging.getLogger("sealdesk.api_keys")


class KnownKey(msgspec.Struct):
    """A key that is neither revoked nor unconfirmed, with what each of its requests needs.

    networks: from which it may be used; None, from all.
    features: what its tenant uses; the stamp covers it as well.
    expires_at: infinite for a key that does not expire.
    record_use_from: when a use is due to be stored, as far as this process knows.
    """

    key: ApiKey
    verifier: Verifier
    actor: Actor
    permissions: frozenset[str]
    networks: tuple[Network, ...] | None
    features: Features
    tenant_budget: Budget
    budget: Budget
    expires_at: float
    record_use_from: int

    def __repr__(self) -> str:
        return f"KnownKey(id={self.key.id!r})"


async def get_usable_key(state: AppState, api_key: bytes, now_us: int) -> KnownKey:
    """The key of a request. Raises Unauthorized unless it may be used now, ServiceUnavailable."""
    stamp = await state.database.read_key_stamp()
    known: KnownKey | None = state.known_keys.find(api_key, stamp)
    if known is None:
        known = await _look_up(state, api_key, now_us)
        state.known_keys.add(api_key, known, stamp)
    elif known.expires_at <= now_us:
        raise refusals.unusable_key(known.key)
    return known


async def _look_up(state: AppState, api_key: bytes, now_us: int) -> KnownKey:
    key_hash = rules.hash_of(api_key.decode())
    key, features = await state.database.read(lambda tx: _find(tx, key_hash))
    if key is None or not rules.is_active(key, now_us):
        raise refusals.unusable_key(key)
    return KnownKey(
        key=key,
        verifier=Verifier(_open_secret(state, key)),
        actor=Actor("api_key", key.id, key.name),
        permissions=frozenset(key.permissions),
        networks=_networks(key.allowed_ips),
        features=features,
        tenant_budget=state.limits.tenant_budgets.of_keys(key.tenant_id),
        budget=Budget(key.id, key.rate_limit),
        expires_at=math.inf if key.expires_at is None else key.expires_at,
        record_use_from=rules.next_recorded_use(key.last_used_at),
    )


async def _find(tx: Tx, key_hash: bytes) -> tuple[ApiKey | None, Features]:
    key = await store.find_by_hash(tx, key_hash)
    if key is None:
        return None, Features(has_custom_fields=False, has_policies=False)
    return key, await store.read_features(tx, key.tenant_id)


@lru_cache(maxsize=256)
def _networks(cidrs: tuple[str, ...] | None) -> tuple[Network, ...] | None:
    return None if cidrs is None else tuple(ipaddress.ip_network(cidr) for cidr in cidrs)


def _open_secret(state: AppState, key: ApiKey) -> str:
    try:
        return rules.open_secret(key, state.key_ring)
    except UnsealError as error:
        log.error(
            "a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?",
            extra={"key_id": key.id},
        )
        raise ServiceUnavailable(errors.SECRET_UNREADABLE) from error
