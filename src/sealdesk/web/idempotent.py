"""Running a write: one transaction that holds all that belongs to a request's effect."""

from collections.abc import Awaitable, Callable

from sealdesk.db.engine import Tx
from sealdesk.errors import Clash
from sealdesk.records import idempotency
from sealdesk.records.idempotency import Once, Stored
from sealdesk.web.request import Answer, Call

_KEPT_HEADERS = (b"location", b"etag")
REPLAYED = (b"idempotent-replayed", b"true")


async def effect(call: Call, work: Callable[[Tx], Awaitable[Answer]]) -> Answer:
    """The answer of `work`, once its transaction is durable.

    What the guard wants to hold inside the transaction comes first, then a stored answer for the
    request's Idempotency-Key, if there is one.
    """
    once = _once(call)

    async def all_of_it(tx: Tx) -> Answer:
        for claim in call.within_write:
            await claim(tx)
        if once is None:
            return await work(tx)
        return await _answer_once(tx, once, work, call.now_us)

    return await call.write(all_of_it)


def _once(call: Call) -> Once | None:
    if call.method != "POST" or call.caller.actor.kind != "api_key":
        return None
    key = call.header(b"idempotency-key")
    if key is None:
        return None
    caller = call.caller
    return idempotency.once(
        caller.tenant_id,
        caller.actor.id,
        key=key,
        method=call.method,
        path=call.path,
        body=call.body,
    )


async def _answer_once(
    tx: Tx, once: Once, work: Callable[[Tx], Awaitable[Answer]], now_us: int
) -> Answer:
    if not await tx.try_lock(once.lock_name):
        raise _in_flight()
    stored = await idempotency.find(tx, once, now_us)
    if stored is not None:
        headers = [(name.encode(), value.encode()) for name, value in stored.headers]
        return Answer(stored.status, stored.body, [*headers, REPLAYED])
    answer = await work(tx)
    kept = [(n.decode(), v.decode()) for n, v in answer.headers if n in _KEPT_HEADERS]
    await idempotency.store(tx, once, Stored(answer.status, answer.body, kept), now_us)
    return answer


def _in_flight() -> Clash:
    return Clash(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is being answered just now. Ask again in a second.",
        headers=(("retry-after", "1"),),
    )
