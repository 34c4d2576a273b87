"""Running a write: one transaction that holds all that belongs to a request's effect."""

from collections.abc import Awaitable, Callable

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.records import idempotency
from sealdesk.records.idempotency import Once, Stored
from sealdesk.web.request import Request, Response

_KEPT_HEADERS = (b"location", b"etag")
REPLAYED = (b"idempotent-replayed", b"true")


async def effect(request: Request, work: Callable[[Tx], Awaitable[Response]]) -> Response:
    """The answer of `work`, once its transaction is durable.

    What the guard wants to hold inside the transaction comes first, then a stored answer for the
    request's Idempotency-Key, if there is one.
    """
    once = _once(request)

    async def all_of_it(tx: Tx) -> Response:
        for claim in request.in_transaction:
            await claim(tx)
        if once is None:
            return await work(tx)
        return await _answer_once(tx, once, work, request.now_us)

    return await request.write(all_of_it)


def _once(request: Request) -> Once | None:
    if request.method != "POST" or request.caller.actor.kind != "api_key":
        return None
    key = request.header(b"idempotency-key")
    if key is None:
        return None
    caller = request.caller
    return idempotency.once(
        caller.tenant_id,
        caller.actor.id,
        key=key,
        method=request.method,
        path=request.path,
        body=request.body,
    )


async def _answer_once(
    tx: Tx, once: Once, work: Callable[[Tx], Awaitable[Response]], now_us: int
) -> Response:
    if not await tx.try_lock(once.lock_name):
        raise _in_flight()
    stored = await idempotency.find(tx, once, now_us)
    if stored is not None:
        headers = [(name.encode(), value.encode()) for name, value in stored.headers]
        return Response(stored.status, stored.body, [*headers, REPLAYED])
    response = await work(tx)
    kept = [(n.decode(), v.decode()) for n, v in response.headers if n in _KEPT_HEADERS]
    await idempotency.store(tx, once, Stored(response.status, response.body, kept), now_us)
    return response


def _in_flight() -> Conflict:
    return Conflict(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is being answered just now. Ask again in a second.",
        headers=(("retry-after", "1"),),
    )
