"""Requests with several items: each is written in a transaction of its own, with its own result."""

import msgspec

from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ApiError, Unauthorized
from sealdesk.errors.general import IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED
from sealdesk.records import idempotency
from sealdesk.records.idempotency import StoredResponse
from sealdesk.web import envelope
from sealdesk.web.request import Request, Response, find_refusal, respond_once

_OF_WHOLE_REQUEST = (IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED)


class ItemResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one item. status: as a request of its own would have. data: what was made.

    etag: of what was made. problem: why it was refused.
    """

    status: int
    etag: str | None = None
    data: msgspec.Raw | None = None
    problem: msgspec.Raw | None = None


class ItemWriter:
    """Writes the items of a request one after the other, so that requests of others come between.

    With an Idempotency-Key the response to each item is stored with it: a request that is sent
    again gets the stored ones, and continues behind them.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        caller = request.caller
        self._once = request.idempotent_request(caller.tenant_id, caller.actor.id)
        # A signature is used up once: by the first item that is written.
        self._is_proven = request.proof.in_transaction is None
        # That no other body had the Idempotency-Key is checked before the first item is written.
        self._has_begun = self._once is None

    async def write(self, place: int, work: Work[Response]) -> Response:
        """The response of `work`, or the stored one. Raises ApiError."""
        request = self._request
        if request.proof.pending_refusal is not None:
            raise request.proof.pending_refusal
        refusal: Unauthorized | None = None

        async def guarded(tx: Tx) -> Response:
            nonlocal refusal
            refusal = None if self._is_proven else await find_refusal(request, tx)
            if not self._has_begun:
                await self._begin(tx)
            if self._once is not None:
                once = self._once._replace(scope=f"{self._once.scope} #{place}")
                return await respond_once(tx, once, refusal, work, request)
            if refusal is not None:
                raise refusal
            return await work(tx)

        request.write_count += 1
        response = await request.state.database.write(guarded, request.caller.tenant_id)
        self._is_proven = self._is_proven or refusal is None
        self._has_begun = True
        return response

    async def _begin(self, tx: Tx) -> None:
        """Store the key with the whole body. Raises ValidationFailed if it had another one."""
        if self._once is not None:
            whole = self._once._replace(scope=f"{self._once.scope} #")
            await idempotency.lock(tx, whole)
            if await idempotency.find(tx, whole, self._request.real_now_us) is None:
                record = StoredResponse(200, b"", [])
                await idempotency.store(tx, whole, record, self._request.real_now_us)


def refused(request: Request, error: ApiError) -> ItemResult:
    """The result of an item that was refused. Raises what refuses the whole request."""
    if isinstance(error, Unauthorized) or error.problem_type in _OF_WHOLE_REQUEST:
        raise error
    problem = envelope.problem(error, request.path, request.request_id)
    return ItemResult(problem.status, problem=msgspec.Raw(problem.body))


def written(response: Response, *, is_shown: bool) -> ItemResult:
    """The result of an item that was written. is_shown: otherwise its data is left out."""
    etag = next((value.decode() for name, value in response.headers if name == b"etag"), None)
    data = msgspec.Raw(response.body) if is_shown else None
    return ItemResult(response.status, etag, data)
