"""The guard of signed requests whose body is streamed: the signature is checked at its end."""

import msgspec

from sealdesk.api_keys import errors
from sealdesk.api_keys.guard import refusals, replay, signed
from sealdesk.api_keys.guard.known_keys import KnownKey, get_usable_key
from sealdesk.api_keys.guard.signed import SignatureHeaders, SignedGuard, SignedProof
from sealdesk.crypto import signing
from sealdesk.crypto.signing import Signed
from sealdesk.errors import ApiError, Forbidden, InternalError, Unauthorized
from sealdesk.rate_limits.limiter import check_tenant, rate_headers
from sealdesk.telemetry.counters import KeyUse
from sealdesk.web.proof import BodyDigest, Proof
from sealdesk.web.request import Request


class _Begun(msgspec.Struct, frozen=True):
    """A request whose headers were checked, while its body arrives."""

    request: Request
    headers: SignatureHeaders
    known: KnownKey
    skew_s: int


class UploadGuard(SignedGuard):
    """A known key with one of the permissions `needs`, then the signature over a streamed body.

    Until the handler has called `prove_body`, the request cannot write.
    """

    async def prove(self, request: Request) -> Proof:
        """Check what needs no body. Raises ServiceUnavailable."""
        try:
            headers = signed.read_signature_headers(request)
            skew_s = signed.check_time(request, headers.timestamp)
            known = await get_usable_key(request.state, headers.api_key, request.now_us)
        except Unauthorized as error:
            return await refusals.explain(request, error)
        if not signed.is_allowed_address(request, known):
            return await refusals.record(
                request, known.key, Forbidden(errors.IP_NOT_ALLOWED, address=request.address)
            )
        refusal: ApiError | None = None
        try:
            self.get_permission(known)
            request.declared_size()
        except ApiError as error:
            refusal = error
        begun = _Begun(request, headers, known, skew_s)
        return Proof(
            caller=signed.caller_of(request, known),
            refusal=refusal,
            pending_refusal=InternalError(),
            prove_body=lambda digest: self._prove_body(begun, digest),
        )

    async def _prove_body(self, begun: _Begun, digest: BodyDigest) -> Proof:
        """Check the signature, and all else again, as the body may have taken minutes."""
        request, headers = begun.request, begun.headers
        request.now_us = request.real_now_us = request.state.clock.now_us()
        try:
            known = await get_usable_key(request.state, headers.api_key, request.now_us)
            permission = self.get_permission(known)
            _check_signature(request, known, headers, digest)
            in_transaction = None
            if known.key.replay_protection == "writes":
                signature = headers.signature.decode()
                in_transaction = await replay.protect(request, known.key, signature)
        except Unauthorized as error:
            request.proof = await refusals.explain(request, error, digest)
            raise request.proof.refusal or error from error
        if request.now_us >= known.record_use_from:
            await signed.record_use(request, known)
        limiter = request.state.limits.limiter
        tenant_rate, rate = await limiter.take_both(known.tenant_budget, known.budget)
        request.proof = proof = SignedProof(
            caller=signed.caller_of(request, known),
            in_transaction=in_transaction,
            response_headers=rate_headers(tenant_rate, rate, request.now_us),
            key_use=KeyUse(known.key.tenant_id, known.key.id, permission),
            rate=rate,
            skew_s=begun.skew_s,
        )
        check_tenant(tenant_rate)
        signed.check_rate(rate)
        await signed.enter_tenant_time(request, known)
        return proof


def signed_upload(*needs: str) -> UploadGuard:
    """A guard of streamed bodies that any one of these permissions satisfies."""
    return UploadGuard(needs)


def _check_signature(
    request: Request, known: KnownKey, headers: SignatureHeaders, digest: BodyDigest
) -> None:
    parts = Signed(headers.timestamp, request.method.encode(), request.target, b"")
    text = signing.head(parts) + digest.sha256.encode()
    if not known.verifier.has_signed(text, headers.signature):
        raise refusals.invalid_signature(parts, digest)
