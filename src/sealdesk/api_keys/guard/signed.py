"""The guard of signed requests, which checks them in the order of decisions 3."""

import ipaddress
import logging
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Literal

import msgspec

from sealdesk.api_keys import errors, rules, store
from sealdesk.api_keys.guard import refusals, replay
from sealdesk.api_keys.rules import ApiKey
from sealdesk.caller import Actor, Caller
from sealdesk.crypto import signing
from sealdesk.crypto.sealing import UnsealError
from sealdesk.crypto.signing import Signed
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Forbidden, ServiceUnavailable, TooManyRequests, Unauthorized
from sealdesk.errors.general import (
    INSUFFICIENT_PERMISSIONS,
    STORAGE_UNAVAILABLE,
    TENANT_RATE_LIMIT_EXCEEDED,
    TOO_MANY_BYTES,
)
from sealdesk.errors.requests import BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
from sealdesk.rate_limits.limiter import (
    RateState,
    budget_of,
    check_tenant,
    rate_headers,
    retry_after_s,
)
from sealdesk.settings import Network
from sealdesk.telemetry.counters import KeyUse
from sealdesk.web.client_address import is_within
from sealdesk.web.proof import Proof
from sealdesk.web.request import Request

_HEADERS = (b"x-api-key", b"x-api-signature", b"x-api-timestamp")
_WRITES = ("POST", "PATCH", "DELETE")
_FAILS = (
    errors.MISSING_CREDENTIALS,
    errors.MALFORMED_CREDENTIALS,
    errors.TIMESTAMP_NOT_SECONDS,
    errors.TIMESTAMP_OUT_OF_RANGE,
    errors.INVALID_API_KEY,
    errors.API_KEY_REVOKED,
    errors.API_KEY_EXPIRED,
    errors.API_KEY_UNCONFIRMED,
    errors.INVALID_SIGNATURE,
    errors.IP_NOT_ALLOWED,
    errors.RATE_LIMIT_EXCEEDED,
    TENANT_RATE_LIMIT_EXCEEDED,
    BODY_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    STORAGE_UNAVAILABLE,
    TOO_MANY_BYTES,
)

log = logging.getLogger("sealdesk.api_keys")


class SignedProof(Proof, frozen=True, kw_only=True):
    """The proof of a signed request.

    rate: the state of the key's rate limit after this request.
    skew_s: how many seconds the client's clock is behind the server's.
    """

    rate: RateState
    skew_s: int


class SignatureHeaders(msgspec.Struct, frozen=True):
    """The three headers of a signed request, well formed."""

    api_key: str
    signature: bytes
    timestamp: bytes


class _Authenticated(msgspec.Struct, frozen=True):
    """The key that signed a request, and what protects the request from being replayed."""

    key: ApiKey
    skew_s: int
    in_transaction: Callable[[Tx], Awaitable[None]] | None


class SignedGuard:
    """The guard of the external API: a valid signature, and one of the permissions `needs`."""

    scheme: Literal["hmac"] = "hmac"
    write_fails = (errors.SIGNATURE_REPLAYED,)

    def __init__(self, needs: tuple[str, ...]) -> None:
        self.needs = needs
        self.fails = (*_FAILS, INSUFFICIENT_PERMISSIONS) if needs else _FAILS

    async def prove(self, request: Request) -> Proof:
        """Raises ContentTooLarge, UnsupportedMediaType, ServiceUnavailable."""
        try:
            authenticated = await _authenticate(request)
        except Unauthorized as error:
            return await refusals.explain(request, error)
        key = authenticated.key
        await _record_use(request, key)
        if not _is_allowed_address(request, key):
            return await refusals.record(
                request, key, Forbidden(errors.IP_NOT_ALLOWED, address=request.address)
            )
        tenant_rate, rate = await _take(request, key)
        permission, refusal = "", None
        try:
            check_tenant(tenant_rate)
            _check_rate(rate)
            permission = self._get_permission(key)
            request.check_content_type()
        except ApiError as error:
            refusal = error
        return SignedProof(
            caller=_caller(request, key),
            refusal=refusal,
            in_transaction=authenticated.in_transaction,
            prove_again=lambda: self._prove_again(request),
            response_headers=rate_headers(tenant_rate, rate, request.now_us),
            key_use=KeyUse(key.tenant_id, key.id, permission),
            rate=rate,
            skew_s=authenticated.skew_s,
        )

    def _get_permission(self, key: ApiKey) -> str:
        """The permission that allows the request, "" when none is needed. Raises Forbidden."""
        for need in self.needs:
            if need in key.permissions:
                return need
        if self.needs:
            raise refusals.insufficient_permissions(self.needs, key.permissions)
        return ""

    async def _prove_again(self, request: Request) -> Proof:
        request.now_us = request.state.clock.now_us()
        headers = read_signature_headers(request)
        key = await _get_usable_key(request, headers)
        _check_signature(request, key, headers)
        if not _is_allowed_address(request, key):
            raise Forbidden(errors.IP_NOT_ALLOWED, address=request.address)
        permission = self._get_permission(key)
        return msgspec.structs.replace(
            request.proof,
            caller=_caller(request, key),
            key_use=KeyUse(key.tenant_id, key.id, permission),
        )


def signed(*needs: str) -> SignedGuard:
    """A guard that any one of these permissions satisfies; without one, any valid key does."""
    return SignedGuard(needs)


async def _authenticate(request: Request) -> _Authenticated:
    """Find the key whose secret signed this request, and read the body. Raises Unauthorized."""
    headers = read_signature_headers(request)
    skew_s = _check_time(request, headers.timestamp)
    key = await _get_usable_key(request, headers)
    if await request.read_body():
        # The key may have been revoked or have expired while the body arrived.
        request.now_us = request.state.clock.now_us()
        key = await _get_usable_key(request, headers)
    _check_signature(request, key, headers)
    if key.replay_protection == "writes" and request.method in _WRITES:
        signature = headers.signature.decode()
        return _Authenticated(key, skew_s, await replay.protect(request, key, signature))
    return _Authenticated(key, skew_s, None)


def read_signature_headers(request: Request) -> SignatureHeaders:
    """Raises Unauthorized unless each of the three headers was sent once and is well formed."""
    values = []
    for name in _HEADERS:
        value = request.headers.get(name)
        if value is None:
            raise Unauthorized(errors.MISSING_CREDENTIALS, header=name.decode())
        if request.is_repeated(name):
            raise Unauthorized(errors.REPEATED_CREDENTIALS, header=name.decode())
        values.append(value.strip(b" \t"))
    api_key, signature, timestamp = values
    if signing.API_KEY.fullmatch(api_key) is None:
        raise Unauthorized(errors.MALFORMED_API_KEY)
    if signing.SIGNATURE.fullmatch(signature) is None:
        raise refusals.malformed_signature(signature)
    if signing.TIMESTAMP.fullmatch(timestamp) is None:
        raise refusals.malformed_timestamp(timestamp)
    return SignatureHeaders(api_key.decode(), signature, timestamp)


def _check_time(request: Request, timestamp: bytes) -> int:
    """How many seconds the client's clock is behind. Raises Unauthorized when it is too many."""
    max_skew_s = request.state.settings.max_skew_s
    server_time = request.now_us // 1_000_000
    skew_s = server_time - int(timestamp)
    if abs(skew_s) > max_skew_s:
        raise refusals.timestamp_out_of_range(
            skew_s, server_time=server_time, max_skew_s=max_skew_s
        )
    return skew_s


async def _get_usable_key(request: Request, headers: SignatureHeaders) -> ApiKey:
    key_hash = rules.hash_of(headers.api_key)
    key = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    if key is None or not rules.is_active(key, request.now_us):
        raise refusals.unusable_key(key)
    return key


def _check_signature(request: Request, key: ApiKey, headers: SignatureHeaders) -> None:
    parts = Signed(headers.timestamp, request.method.encode(), request.target, request.body)
    secret = _open_secret(request, key)
    if not signing.is_valid(secret, parts, headers.signature):
        raise refusals.invalid_signature(parts)


def _open_secret(request: Request, key: ApiKey) -> str:
    try:
        return rules.open_secret(key, request.state.key_ring)
    except UnsealError as error:
        log.error(
            "a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?",
            extra={"key_id": key.id},
        )
        raise ServiceUnavailable(errors.SECRET_UNREADABLE) from error


async def _record_use(request: Request, key: ApiKey) -> None:
    """Update `last_used_at`, if the storage is available: a read must succeed without it."""
    if not rules.must_record_use(key, request.now_us):
        return
    try:
        await request.state.database.write(
            lambda tx: store.record_use(tx, key.tenant_id, key.id, request.now_us), key.tenant_id
        )
    except ServiceUnavailable:
        log.warning("last_used_at was not written", extra={"key_id": key.id})


@lru_cache(maxsize=256)
def _networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(cidr) for cidr in cidrs)


def _is_allowed_address(request: Request, key: ApiKey) -> bool:
    return key.allowed_ips is None or is_within(request.address, _networks(key.allowed_ips))


def _caller(request: Request, key: ApiKey) -> Caller:
    actor = Actor("api_key", key.id, key.name)
    return Caller(key.tenant_id, actor, frozenset(key.permissions), request.address)


async def _take(request: Request, key: ApiKey) -> tuple[RateState, RateState]:
    tenant = request.state.tenant_budgets.of_keys(key.tenant_id)
    return await request.state.limiter.take_both(tenant, budget_of(key.id, key.rate_limit))


def _check_rate(rate: RateState) -> None:
    if not rate.accepted:
        raise TooManyRequests(
            errors.RATE_LIMIT_EXCEEDED, limit=rate.limit, wait_s=retry_after_s(rate)
        )
