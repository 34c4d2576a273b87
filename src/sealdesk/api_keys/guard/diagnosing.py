"""Finds the mistake in a refused signature, with the secrets of its tenant (decision 0067)."""

from typing import NamedTuple

from sealdesk.api_keys import rules
from sealdesk.api_keys.guard import other_secrets
from sealdesk.api_keys.types import ApiKey
from sealdesk.crypto import diagnosis, signing
from sealdesk.crypto.diagnosis import signed_message
from sealdesk.crypto.diagnosis.signed_message import Difference
from sealdesk.crypto.signing import Signed, Verifier
from sealdesk.web.proof import BodyDigest
from sealdesk.web.request import Request

_SIGNED_MESSAGE = b"x-api-signed-message"


class Diagnosed(NamedTuple):
    """The name of a mistake, and what differs if the client has sent the message it signed."""

    diagnosis: str
    difference: Difference | None = None


class _Refused(NamedTuple):
    """A refused request, and the key that it names."""

    request: Request
    key: ApiKey
    api_key: str
    signature: bytes
    parts: Signed
    host: bytes


async def find_mistake(
    request: Request, key: ApiKey, api_key: str, body: BodyDigest | None
) -> Diagnosed | None:
    """The mistake; None when it is not looked for: the request is too large.

    body: of a request whose body was streamed, which is compared with x-api-signed-message only.
    """
    if key.sealed_secret is None:
        return None
    refused = _Refused(
        request,
        key,
        api_key,
        request.headers[b"x-api-signature"].strip(b" \t"),
        Signed(
            request.headers[b"x-api-timestamp"].strip(b" \t"),
            request.method.encode(),
            request.target,
            request.body,
        ),
        request.headers.get(b"host", b""),
    )
    secret = rules.open_secret(key, request.state.key_ring)
    sent = request.headers.get(_SIGNED_MESSAGE)
    signed = None if sent is None else _read_message(request, sent)
    if signed is not None and _is_recent(request, signed):
        return await _compare(refused, secret, signed, body)
    found = await _search(refused, secret) if body is None else None
    if sent is not None and (found is None or found.diagnosis == "unknown"):
        return Diagnosed("signed_message_malformed" if signed is None else "signed_message_old")
    return found


def _read_message(request: Request, sent: bytes) -> bytes | None:
    return None if request.is_repeated(_SIGNED_MESSAGE) else signed_message.decode(sent.strip())


def _is_recent(request: Request, signed: bytes) -> bool:
    now_s = request.real_now_us // 1_000_000
    return signed_message.is_recent(signed, now_s, request.state.settings.max_skew_s)


async def _compare(
    refused: _Refused, secret: str, signed: bytes, body: BodyDigest | None
) -> Diagnosed:
    """The mistake in the message, or in the key if the signature is not that of the message."""
    parts = refused.parts
    if Verifier(secret).has_signed(signed, refused.signature):
        digest = signing.body_sha256(parts.body) if body is None else body.sha256.encode()
        difference = signed_message.first_difference(signed, parts, digest)
        name = signed_message.MISTAKE_OF_PART[difference.part]
        if body is None:
            name = diagnosis.name_difference(signed, parts, difference, refused.host)
        return Diagnosed(name, difference)
    known = diagnosis.find_in_keys(signed, refused.signature, secret, refused.api_key)
    if known is None:
        known = await other_secrets.find_owner(
            refused.request, refused.key, signed, refused.signature
        )
    return Diagnosed(known or "secret_or_algorithm_differs")


async def _search(refused: _Refused, secret: str) -> Diagnosed | None:
    """The mistake, found by trying each known one."""
    parts = refused.parts
    if not diagnosis.is_small(parts):
        return None
    name = diagnosis.diagnose(
        parts,
        refused.signature,
        secret=secret,
        api_key=refused.api_key,
        host=refused.host,
    )
    # Made once: the hash of a body of 64 KiB takes 40 µs.
    if name is None:
        name = await other_secrets.find_owner(
            refused.request, refused.key, signing.message(parts), refused.signature
        )
    return Diagnosed(name or "unknown")
