"""Proving a signed request, in the order of decisions 3."""

import ipaddress
import math
from functools import lru_cache
from typing import Literal

import structlog

from sealdesk import clock, ids
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.guard.headers import Claim, check_time, read_claim, replayed, unproven
from sealdesk.api_keys.rules import ApiKey
from sealdesk.api_keys.store import Refused
from sealdesk.caller import Actor, Caller
from sealdesk.crypto import signing
from sealdesk.crypto.sealing import Unsealable
from sealdesk.crypto.signing import Signed
from sealdesk.db.engine import Tx
from sealdesk.errors import Forbidden, Refusal, TooMany, Unavailable, Unproven
from sealdesk.rate_limits.limiter import RateState
from sealdesk.settings import Network
from sealdesk.telemetry.key_usage import KeyUse
from sealdesk.web.request import Call, Header, is_within

_WRITES = ("POST", "PATCH", "DELETE")
_FOUND_WITH_BODY = ("invalid_signature", "signature_replayed", "ip_not_allowed")
_FAILS = (
    "missing_credentials",
    "malformed_credentials",
    "timestamp_not_seconds",
    "timestamp_out_of_range",
    "invalid_api_key",
    "api_key_revoked",
    "api_key_expired",
    "invalid_signature",
    "ip_not_allowed",
    "rate_limit_exceeded",
    "body_too_large",
    "unsupported_media_type",
    "storage_unavailable",
)

log = structlog.get_logger("sealdesk.api_keys")


class SignedGuard:
    """The guard of external endpoints: a valid signature, and one of the permissions `needs`."""

    scheme: Literal["hmac"] = "hmac"

    def __init__(self, needs: tuple[str, ...]) -> None:
        self.needs = needs
        self.fails = (*_FAILS, "insufficient_permissions") if needs else _FAILS

    async def prove(self, call: Call) -> None:
        """Set the caller. Raises Unproven, Forbidden, TooMany, TooLarge, WrongType."""
        try:
            key = await _proven_key(call)
        except Unproven as refusal:
            raise await _helpful(call, refusal) from refusal
        call.key_use = KeyUse(key.tenant_id, key.id, "")
        await _note_use(call, key)
        if not _is_from_here(call, key):
            raise await _kept(call, key, _not_from_here(call.address))
        await _charge(call, key)
        self._admit(call, key)
        call.check_content_type()
        call.proof = self._prove_again

    def _admit(self, call: Call, key: ApiKey) -> None:
        used = next((need for need in self.needs if need in key.permissions), "")
        if self.needs and not used:
            raise _lacking(self.needs, key.permissions)
        call.key_use = KeyUse(key.tenant_id, key.id, used)
        actor = Actor("api_key", key.id, key.name)
        call.caller = Caller(key.tenant_id, actor, frozenset(key.permissions), call.address)

    async def _prove_again(self, call: Call) -> None:
        call.now_us = call.shared.clock.now_us()
        claim = read_claim(call)
        key = await _usable_key(call, claim)
        _check_signature(call, key, claim)
        if not _is_from_here(call, key):
            raise _not_from_here(call.address)
        self._admit(call, key)


def signed(*needs: str) -> SignedGuard:
    """A guard that any one of these permissions satisfies; none named: any valid key."""
    return SignedGuard(needs)


async def _proven_key(call: Call) -> ApiKey:
    """The key whose secret signed this request. Raises Unproven."""
    claim = read_claim(call)
    check_time(call, claim.timestamp)
    key = await _usable_key(call, claim)
    await call.read_body()
    if call.body_waited:
        # The key may have ended while the body arrived.
        call.now_us = call.shared.clock.now_us()
        key = await _usable_key(call, claim)
    _check_signature(call, key, claim)
    if key.replay_protection == "writes" and call.method in _WRITES:
        await _use_once(call, key, claim.signature.decode())
    return key


async def _usable_key(call: Call, claim: Claim) -> ApiKey:
    key_hash = rules.hash_of(claim.api_key)
    return _usable(
        await call.shared.database.read(lambda tx: store.find_by_hash(tx, key_hash)), call
    )


def _check_signature(call: Call, key: ApiKey, claim: Claim) -> None:
    parts = Signed(claim.timestamp, call.method.encode(), call.target, call.body)
    secret = _opened(call, key)
    if not signing.is_valid(secret, parts, claim.signature):
        raise _wrong_signature(parts)


def _usable(key: ApiKey | None, call: Call) -> ApiKey:
    if key is None:
        raise unproven("invalid_api_key", "There is no such API key.")
    if key.revoked_at is not None:
        raise unproven(
            "api_key_revoked", f"This API key was revoked at {clock.iso(key.revoked_at)}."
        )
    if key.expires_at is not None and rules.is_expired(key, call.now_us):
        raise unproven("api_key_expired", f"This API key expired at {clock.iso(key.expires_at)}.")
    return key


def _opened(call: Call, key: ApiKey) -> str:
    try:
        return call.shared.ring.open(key.sealed_secret or b"", rules.seal_context(key))
    except Unsealable as error:
        log.error("a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?", key_id=key.id)
        raise Unavailable(detail="The key's secret cannot be read by this server.") from error


def _wrong_signature(parts: Signed) -> Unproven:
    return unproven(
        "invalid_signature",
        "The signature does not fit what was received. Compare `received` with what you signed:"
        " timestamp + METHOD + path with query + hex SHA-256 of the body.",
        received={
            "method": parts.method.decode(),
            "request_target": parts.target.decode("latin-1"),
            "timestamp": parts.timestamp.decode(),
            "body_sha256": signing.body_sha256(parts.body).decode(),
            "body_bytes": len(parts.body),
        },
    )


async def _use_once(call: Call, key: ApiKey, signature: str) -> None:
    """Refuse a used signature; of two at once, the transaction of the effect refuses the second."""
    forget_at = call.now_us + 2 * call.shared.settings.max_skew_s * 1_000_000

    async def use(tx: Tx) -> None:
        if not await store.use_signature(tx, key.tenant_id, key.id, signature, forget_at):
            raise replayed()

    if await call.shared.database.read(
        lambda tx: store.is_signature_used(tx, key.tenant_id, key.id, signature), key.tenant_id
    ):
        raise replayed()
    call.within_write.append(use)


async def _helpful(call: Call, refusal: Unproven) -> Refusal:
    """The refusal with the mistake named, and kept for the tenant; bare for who fails too often."""
    if call.shared.failures.note(call.address):
        return unproven(refusal.code, "Too many failed requests come from this address.")
    api_key = call.headers.get(b"x-api-key", b"").strip(b" \t")
    if signing.API_KEY.fullmatch(api_key) is None:
        return refusal
    key_hash = rules.hash_of(api_key.decode())
    key = await call.shared.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    if key is None:
        return refusal
    call.key_use = KeyUse(key.tenant_id, key.id, "")
    if refusal.code == "invalid_signature":
        _diagnose(call, key, api_key.decode(), refusal)
    return await _kept(call, key, refusal)


def _diagnose(call: Call, key: ApiKey, api_key: str, refusal: Unproven) -> None:
    """Add `diagnosis` when the wrong signature comes from a known mistake."""
    if key.sealed_secret is None:
        return
    diagnosis = signing.diagnose(
        Signed(
            call.headers[b"x-api-timestamp"].strip(b" \t"),
            call.method.encode(),
            call.target,
            call.body,
        ),
        call.headers[b"x-api-signature"].strip(b" \t"),
        secret=_opened(call, key),
        api_key=api_key,
        host=call.headers.get(b"host", b""),
    )
    if diagnosis is not None:
        refusal.members["diagnosis"] = diagnosis


async def _kept(call: Call, key: ApiKey, refusal: Refusal) -> Refusal:
    """The same refusal, noted for the key's administrators as far as the storage allows."""
    has_body = refusal.code in _FOUND_WITH_BODY
    refused = Refused(
        id=ids.mint(call.now_us),
        code=refusal.code,
        diagnosis=refusal.members.get("diagnosis"),
        method=call.method,
        target=call.target.decode("latin-1")[:2048],
        timestamp=call.headers.get(b"x-api-timestamp", b"").decode("latin-1")[:32],
        body_sha256=signing.body_sha256(call.body).decode() if has_body else None,
        body_bytes=len(call.body) if has_body else None,
        refused_at=call.now_us,
    )
    try:
        await call.shared.database.write(
            lambda tx: store.add_refusal(tx, key.tenant_id, key.id, refused), key.tenant_id
        )
    except Unavailable:
        log.warning("a refusal was not kept", key_id=key.id)
    return refusal


async def _note_use(call: Call, key: ApiKey) -> None:
    """Best effort: a read must succeed even when nothing can be written."""
    if not rules.is_use_due(key, call.now_us):
        return
    try:
        await call.shared.database.write(
            lambda tx: store.note_use(tx, key.tenant_id, key.id, call.now_us), key.tenant_id
        )
    except Unavailable:
        log.warning("last_used_at was not written", key_id=key.id)


@lru_cache(maxsize=256)
def _networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(cidr) for cidr in cidrs)


def _is_from_here(call: Call, key: ApiKey) -> bool:
    return key.allowed_ips is None or is_within(call.address, _networks(key.allowed_ips))


def _not_from_here(address: str) -> Forbidden:
    return Forbidden(
        "ip_not_allowed", f"This API key may not be used from {address}; see its allowed_ips."
    )


async def _charge(call: Call, key: ApiKey) -> None:
    """Spend one request. Raises TooMany; either way the answer tells the budget."""
    state = await call.shared.limiter.take(key.id, key.rate_limit)
    call.rate = state
    call.answer_headers += _rate_headers(state, call.now_us)
    if not state.accepted:
        wait_s = max(1, _whole_seconds(state.retry_after_s))
        raise TooMany(
            "rate_limit_exceeded",
            f"The key may make {state.limit} requests a minute. Wait {wait_s} s.",
            headers=(("retry-after", str(wait_s)),),
        )


def _rate_headers(state: RateState, now_us: int) -> list[Header]:
    limit, remaining, full_in_s = state.limit, state.remaining, _whole_seconds(state.full_in_s)
    reset = -(-now_us // 1_000_000) + full_in_s
    return [
        (b"ratelimit-policy", b'"key";q=%d;w=60' % limit),
        (b"ratelimit", b'"key";r=%d;t=%d' % (remaining, full_in_s)),
        (b"x-ratelimit-limit", b"%d" % limit),
        (b"x-ratelimit-remaining", b"%d" % remaining),
        (b"x-ratelimit-reset", b"%d" % reset),
    ]


def _whole_seconds(seconds: float) -> int:
    """Rounded up, but not for what is only the arithmetic's: 1.000000000002 is 1."""
    return math.ceil(round(seconds, 6))


def _lacking(needs: tuple[str, ...], granted: tuple[str, ...]) -> Forbidden:
    return Forbidden(
        "insufficient_permissions",
        f"This needs the permission {' or '.join(needs)}. An administrator can change the key.",
        required=list(needs),
        granted=list(granted),
    )
