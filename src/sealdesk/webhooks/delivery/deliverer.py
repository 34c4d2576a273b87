"""Delivering: endpoints are leased, what is due to them is sent, what came of it is noted.

An endpoint is leased as a whole, so one process knows how many requests to it are under way:
eight, or one while it fails. Whoever holds it sends until nothing is due or its turn is over.
"""

import asyncio
from collections import deque
from functools import partial
from typing import Any

import structlog

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import signed_post
from sealdesk.webhooks.delivery.results import Results, delivery_result
from sealdesk.webhooks.rules import Attempt, Endpoint
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store.deliveries import Backlog, Due

LEASE_US = 6_000_000
RENEW_EVERY_S = 2.0
_SAFE_US = 1_000_000  # so much of a lease has to be left to begin a request
_HEALTHY_AT_ONCE, _FAILING_AT_ONCE = 200, 50  # endpoints
_OF_ONE = 8  # requests under way to one endpoint
_MANY = 256  # requests under way in all, above which each endpoint may have one
_READ_AHEAD = 2 * _OF_ONE
_TURN_S = 5.0
_UNNOTED = 64  # of one endpoint, above which nothing more is sent to it
# An endpoint that fails at once would otherwise be tried as fast as it refuses.
_PAUSE_AFTER, _PAUSE_S = 3, 0.2
END_S = 3.0
_GIVE_UP_S = 1.0

log = structlog.get_logger("sealdesk.webhooks")


class Deliverer:
    """Delivers for one process.

    under_way: requests, to all endpoints.
    """

    def __init__(self, state: AppState) -> None:
        self.state = state
        self.results = Results(state)
        self.under_way = 0
        self.is_ending = False
        self._sessions: dict[str, _Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def take(self, backlog: Backlog) -> int:
        """Begin to send to endpoints to which something is due; how many."""
        healthy, failing = self._room(backlog)
        if not healthy and not failing:
            return 0
        now_us = self.state.clock.now_us()
        lease = now_us + LEASE_US
        endpoints = await self.state.database.write(
            lambda tx: delivery_store.claim(tx, now_us, lease, healthy=healthy, failing=failing)
        )
        for endpoint in endpoints:
            self._begin(endpoint, lease)
        return len(endpoints)

    def _room(self, backlog: Backlog) -> tuple[int, int]:
        """For how many more endpoints there is room: healthy ones, and ones that fail."""
        failing = sum(one.failing_since is not None for one in self._sessions.values())
        healthy = len(self._sessions) - failing
        return (
            max(0, _HEALTHY_AT_ONCE - healthy) if backlog.has_healthy else 0,
            max(0, _FAILING_AT_ONCE - failing) if backlog.has_failing else 0,
        )

    def _begin(self, endpoint: Endpoint, lease: int) -> None:
        session = self._sessions.get(endpoint.id)
        if session is not None:
            session.lease = lease  # this process had it, and was late to renew it
            return
        self._sessions[endpoint.id] = _Session(self, endpoint, lease)
        task = asyncio.create_task(self._run(endpoint.id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, endpoint_id: str) -> None:
        # Whatever goes wrong: the lease runs out, and then it is tried again.
        try:
            await self._sessions[endpoint_id].run()
        except ServiceUnavailable as error:
            cause = repr(error.__cause__)
            log.warning("deliveries have to wait", endpoint_id=endpoint_id, cause=cause)
        except Exception:
            log.exception("deliveries failed", endpoint_id=endpoint_id)
        finally:
            del self._sessions[endpoint_id]

    async def end(self) -> None:
        """Give requests that are under way a short time, and let go of all endpoints."""
        self.is_ending = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_S)
        for session in self._sessions.values():
            session.cut()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GIVE_UP_S)


class _Session:
    """Sends to one endpoint while it is leased.

    lease: until when, as the database has it. failing_since: after the last answer.
    """

    def __init__(self, deliverer: Deliverer, endpoint: Endpoint, lease: int) -> None:
        self.lease = lease
        self.failing_since = endpoint.failing_since
        self._deliverer = deliverer
        self._state = deliverer.state
        self._endpoint = endpoint
        self._time_s = asyncio.get_running_loop().time
        self._renew_at_s = self._time_s() + RENEW_EVERY_S
        self._end_at_s = self._time_s() + _TURN_S
        self._failures = 0  # one after the other
        self._read_until = delivery_store.START
        self._queue: deque[Due] = deque()
        self._taken: set[str] = set()  # what is in the queue, under way or not yet noted
        self._sending: set[asyncio.Task[None]] = set()
        self._noting: set[asyncio.Future[bool]] = set()
        self._is_over = False  # nothing more is to be sent
        self._is_broken = False  # nor is it known what has been

    async def run(self) -> None:
        """Send until nothing is due or the turn is over, and let go of the endpoint.

        When that cannot be, the lease runs out.
        """
        try:
            await self._send_all()
            while not await self._release():
                self._read_until = delivery_store.START
                await self._send_all()
        finally:
            while self._sending or self._noting:
                await self._wait(None)

    def cut(self) -> None:
        """Give up the requests that are under way."""
        for task in self._sending:
            task.cancel()

    async def _send_all(self) -> None:
        while True:
            await self._keep_lease()
            await self._read()
            while self._queue and self._has_room():
                self._begin(self._queue.popleft())
            if not self._sending and not self._noting:
                return
            await self._wait(max(0.0, self._renew_at_s - self._time_s()))

    async def _wait(self, timeout_s: float | None) -> None:
        """Until a request, or else a result, is done."""
        under_way: set[asyncio.Future[Any]] = {*(self._sending or self._noting)}
        await asyncio.wait(under_way, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)

    async def _keep_lease(self) -> None:
        now_us = self._state.clock.now_us()
        if self._time_s() < self._renew_at_s and now_us < self.lease - _SAFE_US:
            return
        before, until = self.lease, now_us + LEASE_US
        endpoint = await self._state.database.write(
            lambda tx: delivery_store.renew(tx, self._endpoint, before, until)
        )
        self._renew_at_s = self._time_s() + RENEW_EVERY_S
        if endpoint is None:
            self._is_over = True
        else:
            self.lease = until
            self._adopt(endpoint)

    def _adopt(self, endpoint: Endpoint) -> None:
        """The endpoint as it is by now: what was changed holds from the next request on."""
        self._endpoint = endpoint
        self._is_over |= not endpoint.is_active

    async def _read(self) -> None:
        if not self._may_send():
            self._taken.difference_update(due.delivery_id for due in self._queue)
            self._queue.clear()
        elif not self._queue and self._has_room() and len(self._noting) < _UNNOTED:
            endpoint, due = await self._state.database.read(self._next)
            if endpoint is not None:
                self._adopt(endpoint)
            if due and not self._is_over:
                # One that is asked for again while it is under way is not sent beside itself.
                self._queue.extend(one for one in due if one.delivery_id not in self._taken)
                self._taken.update(one.delivery_id for one in due)
                self._read_until = due[-1].place

    async def _next(self, tx: Tx) -> tuple[Endpoint | None, list[Due]]:
        endpoint, now_us = self._endpoint, self._state.clock.now_us()
        limit = 1 if self._is_held_back() else _READ_AHEAD
        due = await delivery_store.list_due(tx, endpoint, self._read_until, now_us, limit)
        return await delivery_store.find(tx, endpoint), due

    def _may_send(self) -> bool:
        return not (
            self._is_over
            or self._is_broken
            or self._deliverer.is_ending
            or self._time_s() > self._end_at_s
            or self._state.clock.now_us() > self.lease - _SAFE_US
        )

    def _has_room(self) -> bool:
        return len(self._sending) < (1 if self._is_held_back() else _OF_ONE)

    def _is_held_back(self) -> bool:
        return self.failing_since is not None or self._deliverer.under_way >= _MANY

    def _begin(self, due: Due) -> None:
        task = asyncio.create_task(self._send(due))
        self._sending.add(task)
        self._deliverer.under_way += 1
        task.add_done_callback(self._sent)

    def _sent(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._deliverer.under_way -= 1
        if not task.cancelled() and (error := task.exception()):
            log.error("sending failed", endpoint_id=self._endpoint.id, exc_info=error)
            self._is_broken = True

    async def _send(self, due: Due) -> None:
        attempt = await self._attempt(due)
        now_us = self._state.clock.now_us()
        outcome = delivery_result(self._endpoint, self.failing_since, due, attempt, now_us)
        self.failing_since = outcome.failing_since
        self._is_over |= outcome.disables is not None
        result = "succeeded" if outcome.failing_since is None else "failed"
        self._state.metrics.note_attempt("disabled" if outcome.disables else result)
        noted = self._deliverer.results.add(outcome)
        self._noting.add(noted)
        noted.add_done_callback(partial(self._noted, due.delivery_id))
        self._failures = 0 if outcome.failing_since is None else self._failures + 1
        if self._failures >= _PAUSE_AFTER:
            await asyncio.sleep(_PAUSE_S)

    def _noted(self, delivery_id: str, noted: "asyncio.Future[bool]") -> None:
        self._noting.discard(noted)
        self._taken.discard(delivery_id)
        self._is_broken |= noted.cancelled() or not noted.result()

    async def _attempt(self, due: Due) -> Attempt:
        number = due.attempt_count + 1
        if due.event is None:
            return signed_post.unsendable(self._endpoint, number=number, clock=self._state.clock)
        return await signed_post.send(
            self._state.http_client,
            self._state.key_ring,
            self._endpoint,
            due.event_id,
            events.payload(due.event),
            number=number,
            clock=self._state.clock,
        )

    async def _release(self) -> bool:
        if self._is_broken:
            return True
        now_us, at_once = self._state.clock.now_us(), not self._may_send()
        return await self._state.database.write(
            lambda tx: delivery_store.release(
                tx, self._endpoint, self.lease, now_us, at_once=at_once
            )
        )
