"""The guard of signed requests, which checks them in the order of spec decision 3."""

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from sealdesk.api_keys import errors, rules, store
from sealdesk.api_keys.guard import refusals, replay
from sealdesk.api_keys.guard.known_keys import KnownKey, get_usable_key
from sealdesk.caller import Caller
from sealdesk.crypto import signing
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
from sealdesk.rate_limits.limiter import RateState, check_tenant, rate_headers, retry_after_s
from sealdesk.records import test_tenants
from sealdesk.telemetry.counters import KeyUse
from sealdesk.web.client_address import is_within
from sealdesk.web.proof import Proof
from sealdesk.web.request import Request

_HEADERS = (b"x-api-key", b"x-api-signature", b"x-api-timestamp")
_WRITES = ("POST", "PUT", "PATCH", "DELETE")
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

    api_key: bytes
    signature: bytes
    timestamp: bytes


class _Authenticated(msgspec.Struct, frozen=True):
    """The key that signed a request, and what protects the request from being replayed."""

    known: KnownKey
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
        known = authenticated.known
        if request.now_us >= known.record_use_from:
            await record_use(request, known)
        if not is_allowed_address(request, known):
            return await refusals.record(
                request, known.key, Forbidden(errors.IP_NOT_ALLOWED, address=request.address)
            )
        limiter = request.state.limits.limiter
        tenant_rate, rate = await limiter.take_both(known.tenant_budget, known.budget)
        permission, refusal = "", None
        try:
            check_tenant(tenant_rate)
            check_rate(rate)
            permission = self.get_permission(known)
            request.check_content_type()
        except ApiError as error:
            refusal = error
        proof = SignedProof(
            caller=caller_of(request, known),
            refusal=refusal,
            in_transaction=authenticated.in_transaction,
            prove_again=self._prove_again,
            response_headers=rate_headers(tenant_rate, rate, request.now_us),
            key_use=KeyUse(known.key.tenant_id, known.key.id, permission),
            key_budget=known.budget,
            rate=rate,
            skew_s=authenticated.skew_s,
        )
        await enter_tenant_time(request, known)
        return proof

    def get_permission(self, known: KnownKey) -> str:
        """The permission that allows the request, "" when none is needed. Raises Forbidden."""
        for need in self.needs:
            if need in known.permissions:
                return need
        if self.needs:
            raise refusals.insufficient_permissions(self.needs, known.key.permissions)
        return ""

    async def _prove_again(self, request: Request) -> Proof:
        request.now_us = request.real_now_us = request.state.clock.now_us()
        headers = read_signature_headers(request)
        known = await get_usable_key(request.state, headers.api_key, request.now_us)
        _check_signature(request, known, headers)
        if not is_allowed_address(request, known):
            raise Forbidden(errors.IP_NOT_ALLOWED, address=request.address)
        permission = self.get_permission(known)
        await enter_tenant_time(request, known)
        return msgspec.structs.replace(
            request.proof,
            caller=caller_of(request, known),
            key_use=KeyUse(known.key.tenant_id, known.key.id, permission),
        )


def signed(*needs: str) -> SignedGuard:
    """A guard that any one of these permissions satisfies; without one, any valid key does."""
    return SignedGuard(needs)


async def _authenticate(request: Request) -> _Authenticated:
    """Find the key whose secret signed this request, and read the body. Raises Unauthorized."""
    headers = read_signature_headers(request)
    skew_s = check_time(request, headers.timestamp)
    known = await get_usable_key(request.state, headers.api_key, request.now_us)
    if await request.read_body():
        # The key may have been revoked or have expired while the body arrived.
        request.now_us = request.real_now_us = request.state.clock.now_us()
        known = await get_usable_key(request.state, headers.api_key, request.now_us)
    _check_signature(request, known, headers)
    if known.key.replay_protection == "writes" and request.method in _WRITES:
        signature = headers.signature.decode()
        in_transaction = await replay.protect(request, known.key, signature)
        return _Authenticated(known, skew_s, in_transaction)
    return _Authenticated(known, skew_s, None)


def read_signature_headers(request: Request) -> SignatureHeaders:
    """Raises Unauthorized unless each of the three headers was sent once and is well formed."""
    find = request.headers.get
    api_key, signature, timestamp = (
        find(b"x-api-key", b"").strip(b" \t"),
        find(b"x-api-signature", b"").strip(b" \t"),
        find(b"x-api-timestamp", b"").strip(b" \t"),
    )
    headers = SignatureHeaders(api_key, signature, timestamp)
    is_well_formed = (
        signing.API_KEY.fullmatch(api_key)
        and signing.SIGNATURE.fullmatch(signature)
        and signing.TIMESTAMP.fullmatch(timestamp)
    )
    if not is_well_formed or len(request.headers) < len(request.raw_headers):
        _name_fault(request, headers)
    return headers


def _name_fault(request: Request, headers: SignatureHeaders) -> None:
    """Raises Unauthorized for the first fault, if there is one."""
    for name in _HEADERS:
        if name not in request.headers:
            if b"authorization" in request.headers:
                raise Unauthorized(errors.AUTHORIZATION_NOT_READ, header=name.decode())
            raise Unauthorized(errors.MISSING_CREDENTIALS, header=name.decode())
        if request.is_repeated(name):
            raise Unauthorized(errors.REPEATED_CREDENTIALS, header=name.decode())
    if signing.API_KEY.fullmatch(headers.api_key) is None:
        raise refusals.malformed_api_key(headers.api_key)
    if signing.SIGNATURE.fullmatch(headers.signature) is None:
        raise refusals.malformed_signature(headers.signature)
    if signing.TIMESTAMP.fullmatch(headers.timestamp) is None:
        raise refusals.malformed_timestamp(headers.timestamp)


def check_time(request: Request, timestamp: bytes) -> int:
    """How many seconds the client's clock is behind. Raises Unauthorized when it is too many."""
    max_skew_s = request.state.settings.max_skew_s
    server_time = request.now_us // 1_000_000
    skew_s = server_time - int(timestamp)
    if abs(skew_s) > max_skew_s:
        raise refusals.timestamp_out_of_range(
            skew_s, server_time=server_time, max_skew_s=max_skew_s
        )
    return skew_s


def _check_signature(request: Request, known: KnownKey, headers: SignatureHeaders) -> None:
    parts = Signed(headers.timestamp, request.method.encode(), request.target, request.body)
    if known.verifier.is_valid(parts, headers.signature):
        return
    # A `?` that no query follows may be signed as it is sent, or left out.
    as_sent = parts._replace(target=parts.target + b"?")
    if not (request.has_empty_query and known.verifier.is_valid(as_sent, headers.signature)):
        raise refusals.invalid_signature(parts, refusals.digest_of(parts.body))


async def record_use(request: Request, known: KnownKey) -> None:
    """Update `last_used_at`, if the storage is available: a read must succeed without it."""
    key, now_us = known.key, request.now_us
    try:
        await request.state.database.write(
            lambda tx: store.record_use(tx, key.tenant_id, key.id, now_us), key.tenant_id
        )
        known.record_use_from = rules.next_recorded_use(now_us)
    except ServiceUnavailable:
        log.warning("last_used_at was not written", extra={"key_id": key.id})


def is_allowed_address(request: Request, known: KnownKey) -> bool:
    return known.networks is None or is_within(request.address, known.networks)


def caller_of(request: Request, known: KnownKey) -> Caller:
    return Caller(
        known.key.tenant_id,
        known.actor,
        known.permissions,
        request.address,
        known.features.has_custom_fields,
        known.features.has_policies,
    )


async def enter_tenant_time(request: Request, known: KnownKey) -> None:
    """Let what follows happen at the time of a test tenant.

    Last in a guard: signatures, keys, rates and stored responses follow the real time.
    """
    if known.key.key_prefix.startswith(signing.TEST_PREFIX):
        tenant_id = known.key.tenant_id
        offset_us = await request.state.database.read(
            lambda tx: test_tenants.find_offset_us(tx, tenant_id), tenant_id
        )
        request.now_us = request.real_now_us + offset_us


def check_rate(rate: RateState) -> None:
    if not rate.accepted:
        raise TooManyRequests(
            errors.RATE_LIMIT_EXCEEDED, limit=rate.limit, wait_s=retry_after_s(rate)
        )
