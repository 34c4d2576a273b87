"""Keys that accept each signature of a POST, PUT, PATCH or DELETE only once."""

from collections.abc import Awaitable, Callable

from sealdesk.api_keys import errors, store
from sealdesk.api_keys.types import ApiKey
from sealdesk.db.engine import Tx
from sealdesk.errors import BadRequest, Unauthorized, ValidationFailed
from sealdesk.records import idempotency
from sealdesk.web.request import Request


async def protect(request: Request, key: ApiKey, signature: str) -> Callable[[Tx], Awaitable[None]]:
    """Refuse a used signature. Of two requests at once, the returned part of the transaction
    refuses the second. Raises Unauthorized.

    A retry that has its response stored is not refused: it changes nothing.
    """
    forget_at = request.now_us + 2 * request.state.settings.max_skew_s * 1_000_000

    async def use_signature(tx: Tx) -> None:
        if not await store.use_signature(tx, key.tenant_id, key.id, signature, forget_at):
            raise Unauthorized(errors.SIGNATURE_REPLAYED)

    async def is_refused(tx: Tx) -> bool:
        is_used = await store.is_signature_used(tx, key.tenant_id, key.id, signature)
        return is_used and not await _has_stored_response(tx, request, key)

    if await request.state.database.read(is_refused, key.tenant_id):
        raise Unauthorized(errors.SIGNATURE_REPLAYED)
    return use_signature


async def _has_stored_response(tx: Tx, request: Request, key: ApiKey) -> bool:
    try:
        once = request.idempotent_request(key.tenant_id, key.id)
        return once is not None and await idempotency.find(tx, once, request.now_us) is not None
    except (BadRequest, ValidationFailed):
        return False  # the Idempotency-Key is invalid, or belongs to another body
