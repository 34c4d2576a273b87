"""Running a write under the Idempotency-Key of its request."""

from collections.abc import Awaitable, Callable

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.errors.general import IDEMPOTENCY_IN_FLIGHT
from sealdesk.records import idempotency
from sealdesk.records.idempotency import IdempotentRequest, StoredResponse
from sealdesk.web.request import Request, Response

_STORED_HEADERS = (b"location", b"etag")
REPLAYED = (b"idempotent-replayed", b"true")


async def idempotent(request: Request, work: Callable[[Tx], Awaitable[Response]]) -> Response:
    """The response of `work`, or the stored one of an earlier request with this Idempotency-Key.

    The response is stored in the transaction of `work`. Without the header this is a plain write.
    """
    once = _read_header(request)
    if once is None:
        return await request.write(work)
    return await request.write(lambda tx: _respond_once(tx, once, work, request.now_us))


def _read_header(request: Request) -> IdempotentRequest | None:
    if request.method != "POST":
        return None
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    return idempotency.read_key(
        request.caller.tenant_id,
        request.caller.actor.id,
        key=key,
        method=request.method,
        path=request.path,
        body=request.body,
    )


async def _respond_once(
    tx: Tx, once: IdempotentRequest, work: Callable[[Tx], Awaitable[Response]], now_us: int
) -> Response:
    if not await tx.try_lock(once.lock_name):
        raise Conflict(IDEMPOTENCY_IN_FLIGHT)
    stored = await idempotency.find(tx, once, now_us)
    if stored is not None:
        headers = [(name.encode(), value.encode()) for name, value in stored.headers]
        return Response(stored.status, stored.body, [*headers, REPLAYED])
    response = await work(tx)
    kept = [(n.decode(), v.decode()) for n, v in response.headers if n in _STORED_HEADERS]
    record = StoredResponse(response.status, response.body, kept)
    await idempotency.store(tx, once, record, now_us)
    return response
