"""Refusals of signed requests: their errors, the mistake that led to them, and their records."""

import logging

import msgspec

from sealdesk import clock, ids
from sealdesk.api_keys import errors, journal, rules, store
from sealdesk.api_keys.guard import diagnosing
from sealdesk.api_keys.guard.diagnosing import Diagnosed
from sealdesk.api_keys.types import ApiKey, StoredRefusal
from sealdesk.crypto import signing
from sealdesk.crypto.diagnosis import forms
from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.crypto.signing import Signed
from sealdesk.errors import ApiError, Forbidden, ServiceUnavailable, Unauthorized
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS
from sealdesk.telemetry.counters import KeyUse
from sealdesk.web.client_address import networks_of
from sealdesk.web.proof import BodyDigest, Proof
from sealdesk.web.request import Request

_REFUSED_AFTER_BODY = tuple(
    each.code
    for each in (errors.INVALID_SIGNATURE, errors.SIGNATURE_REPLAYED, errors.IP_NOT_ALLOWED)
)

# The secret before a rotation is not stored, so nothing tells it from any other text.
_MAYBE_AN_OLD_SECRET = ("unknown", "secret_or_algorithm_differs")

log = logging.getLogger("sealdesk.api_keys")


async def explain(request: Request, error: Unauthorized, body: BodyDigest | None = None) -> Proof:
    """A refusal that names the mistake, recorded for the tenant of the key.

    body: of a request whose body was streamed.

    After too many failures from a network, the response has only the code.
    """
    if request.state.limits.failure_counter.note(networks_of(request.address)):
        bare = error.problem_type.variant(errors.TOO_MANY_FAILURES)
        return Proof(refusal=Unauthorized(bare))
    api_key = request.headers.get(b"x-api-key", b"").strip(b" \t")
    if signing.API_KEY.fullmatch(api_key) is None:
        return Proof(refusal=error)
    key_hash = rules.hash_of(api_key.decode())
    key = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    if key is None:
        return Proof(refusal=error)
    if error.code == errors.INVALID_SIGNATURE.code:
        found = await diagnosing.find_mistake(request, key, api_key.decode(), body)
        if found is not None:
            error = _diagnosed(error, found, _rotation_of(request, key, found))
    return await record(request, key, error, body)


async def record(
    request: Request, key: ApiKey, error: ApiError, body: BodyDigest | None = None
) -> Proof:
    """The refusal, stored for the tenant's administrators if the storage is available."""
    body = body or digest_of(request.body)
    has_body = error.code in _REFUSED_AFTER_BODY
    refusal = StoredRefusal(
        id=ids.mint(request.now_us),
        code=error.code,
        diagnosis=error.members.get("diagnosis"),
        method=request.method,
        target=request.target.decode("latin-1")[:2048],
        timestamp=request.headers.get(b"x-api-timestamp", b"").decode("latin-1")[:32],
        body_sha256=body.sha256 if has_body else None,
        body_bytes=body.size if has_body else None,
        refused_at=request.now_us,
    )
    try:
        await request.state.database.write(
            lambda tx: store.add_refusal(tx, key.tenant_id, key.id, refusal), key.tenant_id
        )
    except ServiceUnavailable:
        log.warning("a refusal was not stored", extra={"key_id": key.id})
    return Proof(refusal=error, key_use=KeyUse(key.tenant_id, key.id, ""))


def _rotation_of(request: Request, key: ApiKey, found: Diagnosed) -> str:
    """That the secret may be an old one; "" where it cannot be."""
    if key.secret_version == 1 or found.diagnosis not in _MAYBE_AN_OLD_SECRET:
        return ""
    at = journal.find_rotation(request.state.settings.data_dir, key.id)
    return errors.ROTATED % {"when": f" at {at}" if at else ""} + " "


def _diagnosed(error: Unauthorized, found: Diagnosed, rotation: str) -> Unauthorized:
    mistake = MISTAKES[found.diagnosis]
    difference = found.difference
    return Unauthorized(
        errors.INVALID_SIGNATURE,
        received=error.values["received"],
        diagnosis=found.diagnosis,
        fault=mistake.fault,
        remedy=rotation + mistake.remedy,
        **({} if difference is None else {"difference": msgspec.structs.asdict(difference)}),
    )


def malformed(diagnosis: str) -> Unauthorized:
    """The refusal of a header in a wrong form."""
    mistake = MISTAKES[diagnosis]
    return Unauthorized(
        errors.MALFORMED_CREDENTIALS,
        diagnosis=diagnosis,
        fault=mistake.fault,
        remedy=mistake.remedy,
    )


def malformed_api_key(api_key: bytes) -> Unauthorized:
    diagnosis = forms.find_key_mistake(api_key)
    return malformed(diagnosis) if diagnosis else Unauthorized(errors.MALFORMED_API_KEY)


def malformed_signature(signature: bytes) -> Unauthorized:
    text = "".join(signature.decode("latin-1").split())
    return malformed(forms.find_signature_mistake(text) or "signature_not_hex")


def malformed_timestamp(timestamp: bytes) -> Unauthorized:
    diagnosis = forms.find_timestamp_mistake(timestamp) or "timestamp_not_seconds"
    if diagnosis != "timestamp_milliseconds":
        return malformed(diagnosis)
    mistake = MISTAKES[diagnosis]
    return Unauthorized(
        errors.TIMESTAMP_NOT_SECONDS,
        diagnosis=diagnosis,
        fault=mistake.fault,
        remedy=mistake.remedy,
    )


def timestamp_out_of_range(skew_s: int, *, server_time: int, max_skew_s: int) -> Unauthorized:
    return Unauthorized(
        errors.TIMESTAMP_OUT_OF_RANGE,
        skew_s=abs(skew_s),
        way="behind" if skew_s > 0 else "ahead of",
        server_time=server_time,
        max_skew_seconds=max_skew_s,
    )


def unusable_key(key: ApiKey | None) -> Unauthorized:
    """The refusal of a key that does not exist, is revoked, has expired or is unconfirmed."""
    if key is None:
        return Unauthorized(errors.INVALID_API_KEY)
    if key.revoked_at is not None:
        return Unauthorized(errors.API_KEY_REVOKED, revoked_at=clock.iso(key.revoked_at))
    if key.unconfirmed_since is not None:
        return Unauthorized(
            errors.API_KEY_UNCONFIRMED, unconfirmed_since=clock.iso(key.unconfirmed_since)
        )
    return Unauthorized(errors.API_KEY_EXPIRED, expired_at=clock.iso(key.expires_at or 0))


def digest_of(body: bytes) -> BodyDigest:
    return BodyDigest(signing.body_sha256(body).decode(), len(body))


def invalid_signature(parts: Signed, body: BodyDigest) -> Unauthorized:
    return Unauthorized(
        errors.UNDIAGNOSED_SIGNATURE,
        received={
            "method": parts.method.decode(),
            "request_target": parts.target.decode("latin-1"),
            "timestamp": parts.timestamp.decode(),
            "body_sha256": body.sha256,
            "body_bytes": body.size,
        },
    )


def insufficient_permissions(needs: tuple[str, ...], granted: tuple[str, ...]) -> Forbidden:
    return Forbidden(
        INSUFFICIENT_PERMISSIONS,
        needs=" or ".join(needs),
        required=list(needs),
        granted=list(granted),
    )
