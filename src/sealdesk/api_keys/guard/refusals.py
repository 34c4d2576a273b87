"""Refusals of signed requests: their errors, the mistake that led to them, and their records."""

from typing import Any

import structlog

from sealdesk import clock, ids
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.rules import ApiKey
from sealdesk.api_keys.store import StoredRefusal
from sealdesk.crypto import signing
from sealdesk.crypto.signing import Signed
from sealdesk.errors import ApiError, Forbidden, ServiceUnavailable, TooManyRequests, Unauthorized
from sealdesk.telemetry.key_usage import KeyUse
from sealdesk.web.proof import Proof
from sealdesk.web.request import Request

_REFUSED_AFTER_BODY = ("invalid_signature", "signature_replayed", "ip_not_allowed")

log = structlog.get_logger("sealdesk.api_keys")


async def explain(request: Request, error: Unauthorized) -> Proof:
    """The refusal with the mistake named, recorded for the tenant of the key.

    An address that fails too often learns only the code.
    """
    if request.state.failure_counter.note(request.address):
        detail = "Too many failed requests come from this address."
        return Proof(refusal=unauthorized(error.code, detail))
    api_key = request.headers.get(b"x-api-key", b"").strip(b" \t")
    if signing.API_KEY.fullmatch(api_key) is None:
        return Proof(refusal=error)
    key_hash = rules.hash_of(api_key.decode())
    key = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    if key is None:
        return Proof(refusal=error)
    if error.code == "invalid_signature":
        _add_diagnosis(request, key, api_key.decode(), error)
    return await record(request, key, error)


async def record(request: Request, key: ApiKey, error: ApiError) -> Proof:
    """The refusal, stored for the tenant's administrators as far as the storage is available."""
    has_body = error.code in _REFUSED_AFTER_BODY
    refusal = StoredRefusal(
        id=ids.mint(request.now_us),
        code=error.code,
        diagnosis=error.members.get("diagnosis"),
        method=request.method,
        target=request.target.decode("latin-1")[:2048],
        timestamp=request.headers.get(b"x-api-timestamp", b"").decode("latin-1")[:32],
        body_sha256=signing.body_sha256(request.body).decode() if has_body else None,
        body_bytes=len(request.body) if has_body else None,
        refused_at=request.now_us,
    )
    try:
        await request.state.database.write(
            lambda tx: store.add_refusal(tx, key.tenant_id, key.id, refusal), key.tenant_id
        )
    except ServiceUnavailable:
        log.warning("a refusal was not stored", key_id=key.id)
    return Proof(refusal=error, key_use=KeyUse(key.tenant_id, key.id, ""))


def _add_diagnosis(request: Request, key: ApiKey, api_key: str, error: Unauthorized) -> None:
    """Name the known mistake that leads to this wrong signature, if it is one."""
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
        secret=rules.open_secret(key, request.state.key_ring),
        api_key=api_key,
        host=request.headers.get(b"host", b""),
    )
    if diagnosis is not None:
        error.members["diagnosis"] = diagnosis


def unauthorized(code: str, detail: str, **members: Any) -> Unauthorized:
    """A 401 that names the scheme of signatures."""
    return Unauthorized(code, detail, headers=(("www-authenticate", "HMAC-SHA256"),), **members)


def missing_header(name: bytes) -> Unauthorized:
    return unauthorized(
        "missing_credentials",
        f"The header {name.decode()} is missing; a signed request carries x-api-key,"
        " x-api-timestamp and x-api-signature.",
    )


def repeated_header(name: bytes) -> Unauthorized:
    return _malformed(f"The header {name.decode()} was sent more than once.")


def malformed_api_key() -> Unauthorized:
    return _malformed("x-api-key must be tk_live_ and 40 lower-case hex characters.")


def malformed_signature(signature: bytes) -> Unauthorized:
    detail = "x-api-signature must be 64 lower-case hex characters."
    if signing.SIGNATURE.fullmatch(signature.lower()) is not None:
        return _malformed(f"{detail} Yours is in upper case.", diagnosis="uppercase_hex")
    return _malformed(detail)


def malformed_timestamp(timestamp: bytes) -> Unauthorized:
    if len(timestamp) == 13 and timestamp.isdigit():
        return unauthorized(
            "timestamp_not_seconds",
            "x-api-timestamp has 13 digits: it is in milliseconds. Send whole seconds, and sign"
            " the same text.",
            diagnosis="timestamp_milliseconds",
        )
    return _malformed("x-api-timestamp must be the Unix time in seconds: ten ASCII digits.")


def _malformed(detail: str, **members: Any) -> Unauthorized:
    return unauthorized("malformed_credentials", detail, **members)


def timestamp_out_of_range(skew_s: int, *, server_time: int, max_skew_s: int) -> Unauthorized:
    way = "behind" if skew_s > 0 else "ahead of"
    return unauthorized(
        "timestamp_out_of_range",
        f"x-api-timestamp is {abs(skew_s)} s {way} the server's time; up to"
        f" {max_skew_s} s is accepted. Set the clock, or ask GET /api/v1/time.",
        server_time=server_time,
        max_skew_seconds=max_skew_s,
    )


def unusable_key(key: ApiKey | None) -> Unauthorized:
    """The refusal of a key that does not exist, is revoked or has expired."""
    if key is None:
        return unauthorized("invalid_api_key", "There is no such API key.")
    if key.revoked_at is not None:
        at = clock.iso(key.revoked_at)
        return unauthorized("api_key_revoked", f"This API key was revoked at {at}.")
    at = clock.iso(key.expires_at or 0)
    return unauthorized("api_key_expired", f"This API key expired at {at}.")


def invalid_signature(parts: Signed) -> Unauthorized:
    return unauthorized(
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


def signature_replayed() -> Unauthorized:
    return unauthorized(
        "signature_replayed",
        "This signature has had its effect, and the key accepts each one once. Sign again with a"
        " new timestamp.",
    )


def address_not_allowed(address: str) -> Forbidden:
    return Forbidden(
        "ip_not_allowed", f"This API key may not be used from {address}; see its allowed_ips."
    )


def rate_limit_exceeded(limit: int, wait_s: int) -> TooManyRequests:
    return TooManyRequests(
        "rate_limit_exceeded",
        f"The key may make {limit} requests a minute. Wait {wait_s} s.",
        headers=(("retry-after", str(wait_s)),),
    )


def insufficient_permissions(needs: tuple[str, ...], granted: tuple[str, ...]) -> Forbidden:
    return Forbidden(
        "insufficient_permissions",
        f"This needs the permission {' or '.join(needs)}. An administrator can change the key.",
        required=list(needs),
        granted=list(granted),
    )
