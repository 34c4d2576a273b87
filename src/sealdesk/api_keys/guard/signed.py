"""Proving a signed request, in the order of decisions 3."""

import ipaddress
import math
from functools import lru_cache
from typing import Literal

import structlog

from sealdesk import clock, ids
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.guard.headers import (
    SignatureHeaders,
    check_time,
    read_signature_headers,
    replayed,
    unproven,
)
from sealdesk.api_keys.rules import ApiKey
from sealdesk.api_keys.store import Refused
from sealdesk.caller import Actor, Caller
from sealdesk.crypto import signing
from sealdesk.crypto.sealing import UnsealError
from sealdesk.crypto.signing import Signed
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Forbidden, ServiceUnavailable, TooManyRequests, Unauthorized
from sealdesk.rate_limits.limiter import RateState
from sealdesk.settings import Network
from sealdesk.telemetry.key_usage import KeyUse
from sealdesk.web.request import Header, Request, is_within

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

    async def prove(self, request: Request) -> None:
        """Set the caller. Raises Unproven, Forbidden, TooMany, TooLarge, WrongType."""
        try:
            key = await _proven_key(request)
        except Unauthorized as refusal:
            raise await _helpful(request, refusal) from refusal
        request.key_use = KeyUse(key.tenant_id, key.id, "")
        await _note_use(request, key)
        if not _is_from_here(request, key):
            raise await _kept(request, key, _not_from_here(request.address))
        await _charge(request, key)
        self._admit(request, key)
        request.check_content_type()
        request.proof = self._prove_again

    def _admit(self, request: Request, key: ApiKey) -> None:
        used = next((need for need in self.needs if need in key.permissions), "")
        if self.needs and not used:
            raise _lacking(self.needs, key.permissions)
        request.key_use = KeyUse(key.tenant_id, key.id, used)
        actor = Actor("api_key", key.id, key.name)
        request.caller = Caller(key.tenant_id, actor, frozenset(key.permissions), request.address)

    async def _prove_again(self, request: Request) -> None:
        request.now_us = request.state.clock.now_us()
        claim = read_signature_headers(request)
        key = await _usable_key(request, claim)
        _check_signature(request, key, claim)
        if not _is_from_here(request, key):
            raise _not_from_here(request.address)
        self._admit(request, key)


def signed(*needs: str) -> SignedGuard:
    """A guard that any one of these permissions satisfies; none named: any valid key."""
    return SignedGuard(needs)


async def _proven_key(request: Request) -> ApiKey:
    """The key whose secret signed this request. Raises Unproven."""
    claim = read_signature_headers(request)
    check_time(request, claim.timestamp)
    key = await _usable_key(request, claim)
    await request.read_body()
    if request.body_waited:
        # The key may have ended while the body arrived.
        request.now_us = request.state.clock.now_us()
        key = await _usable_key(request, claim)
    _check_signature(request, key, claim)
    if key.replay_protection == "writes" and request.method in _WRITES:
        await _use_once(request, key, claim.signature.decode())
    return key


async def _usable_key(request: Request, claim: SignatureHeaders) -> ApiKey:
    key_hash = rules.hash_of(claim.api_key)
    return _usable(
        await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash)), request
    )


def _check_signature(request: Request, key: ApiKey, claim: SignatureHeaders) -> None:
    parts = Signed(claim.timestamp, request.method.encode(), request.target, request.body)
    secret = _opened(request, key)
    if not signing.is_valid(secret, parts, claim.signature):
        raise _wrong_signature(parts)


def _usable(key: ApiKey | None, request: Request) -> ApiKey:
    if key is None:
        raise unproven("invalid_api_key", "There is no such API key.")
    if key.revoked_at is not None:
        raise unproven(
            "api_key_revoked", f"This API key was revoked at {clock.iso(key.revoked_at)}."
        )
    if key.expires_at is not None and rules.is_expired(key, request.now_us):
        raise unproven("api_key_expired", f"This API key expired at {clock.iso(key.expires_at)}.")
    return key


def _opened(request: Request, key: ApiKey) -> str:
    try:
        return request.state.key_ring.open(key.sealed_secret or b"", rules.seal_context(key))
    except UnsealError as error:
        log.error("a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?", key_id=key.id)
        raise ServiceUnavailable(
            detail="The key's secret cannot be read by this server."
        ) from error


def _wrong_signature(parts: Signed) -> Unauthorized:
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


async def _use_once(request: Request, key: ApiKey, signature: str) -> None:
    """Refuse a used signature; of two at once, the transaction of the effect refuses the second."""
    forget_at = request.now_us + 2 * request.state.settings.max_skew_s * 1_000_000

    async def use(tx: Tx) -> None:
        if not await store.use_signature(tx, key.tenant_id, key.id, signature, forget_at):
            raise replayed()

    if await request.state.database.read(
        lambda tx: store.is_signature_used(tx, key.tenant_id, key.id, signature), key.tenant_id
    ):
        raise replayed()
    request.in_transaction.append(use)


async def _helpful(request: Request, refusal: Unauthorized) -> ApiError:
    """The refusal with the mistake named, and kept for the tenant; bare for who fails too often."""
    if request.state.failure_counter.note(request.address):
        return unproven(refusal.code, "Too many failed requests come from this address.")
    api_key = request.headers.get(b"x-api-key", b"").strip(b" \t")
    if signing.API_KEY.fullmatch(api_key) is None:
        return refusal
    key_hash = rules.hash_of(api_key.decode())
    key = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    if key is None:
        return refusal
    request.key_use = KeyUse(key.tenant_id, key.id, "")
    if refusal.code == "invalid_signature":
        _diagnose(request, key, api_key.decode(), refusal)
    return await _kept(request, key, refusal)


def _diagnose(request: Request, key: ApiKey, api_key: str, refusal: Unauthorized) -> None:
    """Add `diagnosis` when the wrong signature comes from a known mistake."""
    if key.sealed_secret is None:
        return
    diagnosis = signing.diagnose(
        Signed(
            request.headers[b"x-api-timestamp"].strip(b" \t"),
            request.method.encode(),
            request.target,
            request.body,
        ),
        request.headers[b"x-api-signature"].strip(b" \t"),
        secret=_opened(request, key),
        api_key=api_key,
        host=request.headers.get(b"host", b""),
    )
    if diagnosis is not None:
        refusal.members["diagnosis"] = diagnosis


async def _kept(request: Request, key: ApiKey, refusal: ApiError) -> ApiError:
    """The same refusal, noted for the key's administrators as far as the storage allows."""
    has_body = refusal.code in _FOUND_WITH_BODY
    refused = Refused(
        id=ids.mint(request.now_us),
        code=refusal.code,
        diagnosis=refusal.members.get("diagnosis"),
        method=request.method,
        target=request.target.decode("latin-1")[:2048],
        timestamp=request.headers.get(b"x-api-timestamp", b"").decode("latin-1")[:32],
        body_sha256=signing.body_sha256(request.body).decode() if has_body else None,
        body_bytes=len(request.body) if has_body else None,
        refused_at=request.now_us,
    )
    try:
        await request.state.database.write(
            lambda tx: store.add_refusal(tx, key.tenant_id, key.id, refused), key.tenant_id
        )
    except ServiceUnavailable:
        log.warning("a refusal was not kept", key_id=key.id)
    return refusal


async def _note_use(request: Request, key: ApiKey) -> None:
    """Best effort: a read must succeed even when nothing can be written."""
    if not rules.is_use_due(key, request.now_us):
        return
    try:
        await request.state.database.write(
            lambda tx: store.note_use(tx, key.tenant_id, key.id, request.now_us), key.tenant_id
        )
    except ServiceUnavailable:
        log.warning("last_used_at was not written", key_id=key.id)


@lru_cache(maxsize=256)
def _networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(cidr) for cidr in cidrs)


def _is_from_here(request: Request, key: ApiKey) -> bool:
    return key.allowed_ips is None or is_within(request.address, _networks(key.allowed_ips))


def _not_from_here(address: str) -> Forbidden:
    return Forbidden(
        "ip_not_allowed", f"This API key may not be used from {address}; see its allowed_ips."
    )


async def _charge(request: Request, key: ApiKey) -> None:
    """Spend one request. Raises TooMany; either way the answer tells the budget."""
    state = await request.state.limiter.take(key.id, key.rate_limit)
    request.rate = state
    request.response_headers += _rate_headers(state, request.now_us)
    if not state.accepted:
        wait_s = max(1, _whole_seconds(state.retry_after_s))
        raise TooManyRequests(
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
