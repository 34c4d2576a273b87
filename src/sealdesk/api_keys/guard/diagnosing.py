"""Finds the mistake in a refused signature, with the secrets of its tenant (decision 0067)."""

import logging

from sealdesk.api_keys import rules, store
from sealdesk.api_keys.types import ApiKey
from sealdesk.crypto import diagnosis, signing
from sealdesk.crypto.sealing import UnsealError
from sealdesk.crypto.signing import Signed, Verifier
from sealdesk.resources.paging import PageRequest
from sealdesk.web.request import Request

# The keys that were used or created last, of the newest ones; each costs 10 µs.
_NEWEST_KEYS = PageRequest(50, None)
_OTHER_KEYS = 20

log = logging.getLogger("sealdesk.api_keys")


async def find_mistake(request: Request, key: ApiKey, api_key: str) -> str | None:
    """The name of the mistake; None when it is not looked for: the request is too large."""
    signature = request.headers[b"x-api-signature"].strip(b" \t")
    parts = Signed(
        request.headers[b"x-api-timestamp"].strip(b" \t"),
        request.method.encode(),
        request.target,
        request.body,
    )
    if key.sealed_secret is None or not diagnosis.is_small(parts):
        return None
    found = diagnosis.diagnose(
        parts,
        signature,
        secret=rules.open_secret(key, request.state.key_ring),
        api_key=api_key,
        host=request.headers.get(b"host", b""),
    )
    if found is not None:
        return found
    is_other = await _is_secret_of_another_key(request, key, parts, signature)
    return "secret_of_another_key" if is_other else "unknown"


async def _is_secret_of_another_key(
    request: Request, key: ApiKey, parts: Signed, signature: bytes
) -> bool:
    """Whether another key of the same tenant signed this request."""
    newest = await request.state.database.read(
        lambda tx: store.list_keys(tx, key.tenant_id, _NEWEST_KEYS), key.tenant_id
    )
    others = [each for each in newest if each.sealed_secret is not None and each.id != key.id]
    others.sort(key=lambda each: each.last_used_at or each.created_at, reverse=True)
    # Always as many, so that the time does not tell how many keys the tenant has.
    tried = (others + [key] * _OTHER_KEYS)[:_OTHER_KEYS]
    # Made once: the hash of a body of 64 KiB takes 40 µs.
    message = signing.message(parts)
    return sum(_has_signed(request, each, message, signature) for each in tried) > 0


def _has_signed(request: Request, key: ApiKey, message: bytes, signature: bytes) -> bool:
    try:
        secret = rules.open_secret(key, request.state.key_ring)
    except UnsealError:
        log.warning("a secret cannot be opened", extra={"key_id": key.id})
        return False
    return Verifier(secret).has_signed(message, signature)
