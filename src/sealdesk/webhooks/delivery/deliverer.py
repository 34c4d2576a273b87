"""The deliverer: leases endpoints, sends their due deliveries and stores the results.

A lease covers the whole endpoint, so one process knows how many requests to it are in flight:
eight, or one while it fails. The process sends until nothing is due or its turn is over.
"""

import asyncio
import logging
from collections import Counter, deque
from functools import partial
from typing import Any

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.db.result_writer import ResultWriter
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import signed_post
from sealdesk.webhooks.delivery.results import BATCH, delivery_result, store_results
from sealdesk.webhooks.delivery.schedule import FAILING_US
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store.deliveries import Backlog, DueDelivery
from sealdesk.webhooks.types import Attempt, Endpoint

LEASE_US = 6_000_000
RENEW_EVERY_S = 2.0
_MIN_LEASE_US = 1_000_000  # no request begins when less of the lease is left
_MAX_HEALTHY, _MAX_FAILING = 200, 50  # endpoints
_MAX_REQUESTS = 8  # in flight to one endpoint
# In flight to all endpoints, and to those of one tenant; above it each endpoint may have one.
_MANY_REQUESTS, _MANY_OF_TENANT = 256, 64
_READ_AHEAD = 2 * _MAX_REQUESTS
_TURN_S = 5.0
_MAX_UNSTORED = 64  # results of one endpoint, above which nothing more is sent to it
# Limits the rate of requests to an endpoint that fails immediately.
_PAUSE_AFTER, _PAUSE_S = 3, 0.2
END_S = 3.0
_GIVE_UP_S = 1.0

log = logging.getLogger("sealdesk.webhooks")


class Deliverer:
    """Delivers for one process. in_flight: the number of requests, by tenant."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self.results = ResultWriter(state.database, state.clock, store_results, batch_size=BATCH)
        self.in_flight: Counter[str] = Counter()
        self.is_ending = False
        self._sessions: dict[str, _Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def lease_endpoints(self, backlog: Backlog) -> int:
        """Lease due endpoints and start sending to them; how many."""
        healthy, failing = self._free_slots(backlog)
        if not healthy and not failing:
            return 0
        now_us = self.state.clock.now_us()
        lease = now_us + LEASE_US
        endpoints = await self.state.database.write(
            lambda tx: delivery_store.lease_endpoints(
                tx, now_us, lease, healthy=healthy, failing=failing
            )
        )
        for endpoint in endpoints:
            self._begin(endpoint, lease)
        return len(endpoints)

    def _free_slots(self, backlog: Backlog) -> tuple[int, int]:
        failing = sum(one.failing_since is not None for one in self._sessions.values())
        healthy = len(self._sessions) - failing
        return (
            max(0, _MAX_HEALTHY - healthy) if backlog.has_healthy else 0,
            max(0, _MAX_FAILING - failing) if backlog.has_failing else 0,
        )

    def _begin(self, endpoint: Endpoint, lease: int) -> None:
        session = self._sessions.get(endpoint.id)
        if session is not None:
            session.lease = lease  # this process had leased it, and was late to renew the lease
            return
        self._sessions[endpoint.id] = _Session(self, endpoint, lease)
        task = asyncio.create_task(self._run(endpoint.id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, endpoint_id: str) -> None:
        # After any failure the lease runs out, and the endpoint is leased again.
        try:
            await self._sessions[endpoint_id].run()
        except ServiceUnavailable as error:
            cause = repr(error.__cause__)
            log.warning(
                "deliveries wait for the database",
                extra={"endpoint_id": endpoint_id, "cause": cause},
            )
        except Exception:
            log.exception("deliveries failed", extra={"endpoint_id": endpoint_id})
        finally:
            del self._sessions[endpoint_id]

    async def end(self) -> None:
        """Wait a short time for requests in flight, and end all leases."""
        self.is_ending = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_S)
        for session in self._sessions.values():
            session.cancel_requests()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GIVE_UP_S)


class _Session:
    """Sends to one endpoint while it is leased.

    lease: when it ends, as stored. failing_since: after the last response.
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
        self._failures = 0  # since the last success
        self._read_until = delivery_store.START
        self._may_have_more = True  # deliveries that were due when they were last read
        self._queue: deque[DueDelivery] = deque()
        self._unfinished: set[str] = set()  # deliveries in the queue, in flight or not yet stored
        self._sending: set[asyncio.Task[None]] = set()
        self._storing: set[asyncio.Future[bool]] = set()
        self._is_over = False  # nothing more may be sent
        self._is_broken = False  # and some results are unknown

    async def run(self) -> None:
        """Send until nothing is due or the turn is over, and end the lease.

        When the lease cannot be ended, it runs out.
        """
        try:
            await self._send_all()
            while not await self._release():
                self._read_until, self._may_have_more = delivery_store.START, True
                await self._send_all()
        finally:
            while self._sending or self._storing:
                await self._wait(None)

    def cancel_requests(self) -> None:
        for task in self._sending:
            task.cancel()

    async def _send_all(self) -> None:
        while True:
            await self._renew_lease_in_time()
            await self._read_due()
            while self._queue and self._has_room():
                self._begin(self._queue.popleft())
            if not self._sending and not self._storing:
                return
            await self._wait(max(0.0, self._renew_at_s - self._time_s()))

    async def _wait(self, timeout_s: float | None) -> None:
        """Wait until a request is done, or without requests until a result is stored."""
        unfinished: set[asyncio.Future[Any]] = {*(self._sending or self._storing)}
        await asyncio.wait(unfinished, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)

    async def _renew_lease_in_time(self) -> None:
        now_us = self._state.clock.now_us()
        if self._time_s() < self._renew_at_s and now_us < self.lease - _MIN_LEASE_US:
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
        # Changes of the endpoint apply from the next request on.
        self._endpoint = endpoint
        self._is_over |= not endpoint.is_active

    async def _read_due(self) -> None:
        if not self._may_send():
            self._unfinished.difference_update(due.delivery_id for due in self._queue)
            self._queue.clear()
        elif self._should_read():
            endpoint, due = await self._state.database.read(self._find_next)
            if endpoint is not None:
                self._adopt(endpoint)
            if due and not self._is_over:
                # A delivery that is redelivered while it is in flight is not sent twice at once.
                self._queue.extend(one for one in due if one.delivery_id not in self._unfinished)
                self._unfinished.update(one.delivery_id for one in due)
                self._read_until = due[-1].position

    def _should_read(self) -> bool:
        if self._queue or not self._has_room() or len(self._storing) >= _MAX_UNSTORED:
            return False
        # With nothing in flight, ending the lease finds out whether more is due.
        return self._may_have_more or bool(self._sending)

    async def _find_next(self, tx: Tx) -> tuple[Endpoint | None, list[DueDelivery]]:
        endpoint, now_us = self._endpoint, self._state.clock.now_us()
        limit = 1 if self._is_held_back() else _READ_AHEAD
        due = await delivery_store.list_due(tx, endpoint, self._read_until, now_us, limit)
        self._may_have_more = len(due) == limit
        return await delivery_store.find(tx, endpoint) if due else None, due

    def _may_send(self) -> bool:
        return not (
            self._is_over
            or self._is_broken
            or self._deliverer.is_ending
            or self._time_s() > self._end_at_s
            or self._state.clock.now_us() > self.lease - _MIN_LEASE_US
        )

    def _has_room(self) -> bool:
        return len(self._sending) < (1 if self._is_held_back() else _MAX_REQUESTS)

    def _is_held_back(self) -> bool:
        in_flight = self._deliverer.in_flight
        return (
            self.failing_since is not None
            or in_flight[self._endpoint.tenant_id] >= _MANY_OF_TENANT
            or in_flight.total() >= _MANY_REQUESTS
        )

    def _begin(self, due: DueDelivery) -> None:
        task = asyncio.create_task(self._send(due))
        self._sending.add(task)
        self._deliverer.in_flight[self._endpoint.tenant_id] += 1
        task.add_done_callback(self._on_sent)

    def _on_sent(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._deliverer.in_flight -= Counter([self._endpoint.tenant_id])
        if not task.cancelled() and (error := task.exception()):
            log.error("sending failed", exc_info=error, extra={"endpoint_id": self._endpoint.id})
            self._is_broken = True

    async def _send(self, due: DueDelivery) -> None:
        attempt = await self._attempt(due)
        now_us = self._state.clock.now_us() + due.clock_offset_us
        result = delivery_result(self._endpoint, self.failing_since, due, attempt, now_us)
        self.failing_since = result.failing_since
        self._is_over |= result.disabled_reason is not None
        label = "succeeded" if result.failing_since is None else "failed"
        self._state.metrics.count_attempt("disabled" if result.disabled_reason else label)
        is_stored = self._deliverer.results.add(result)
        self._storing.add(is_stored)
        is_stored.add_done_callback(partial(self._on_stored, due.delivery_id))
        self._failures = 0 if result.failing_since is None else self._failures + 1
        if self._failures >= _PAUSE_AFTER:
            await asyncio.sleep(_PAUSE_S)

    def _on_stored(self, delivery_id: str, is_stored: "asyncio.Future[bool]") -> None:
        self._storing.discard(is_stored)
        self._unfinished.discard(delivery_id)
        self._is_broken |= is_stored.cancelled() or not is_stored.result()

    async def _attempt(self, due: DueDelivery) -> Attempt:
        number = due.attempt_count + 1
        if due.event is None:
            return signed_post.expired_attempt(
                self._endpoint, number=number, clock=self._state.clock
            )
        attempt = await signed_post.send(
            self._state.http_client,
            self._state.key_ring,
            self._endpoint,
            due.event_id,
            events.payload(due.event),
            number=number,
            clock=self._state.clock,
        )
        # Its timestamp is the real one, because receivers compare it with their clocks.
        return msgspec.structs.replace(attempt, sent_at=attempt.sent_at + due.clock_offset_us)

    async def _release(self) -> bool:
        if self._is_broken:
            return True
        now_us, at_once = self._state.clock.now_us(), not self._may_send()
        return await self._state.database.write(
            lambda tx: delivery_store.release(
                tx, self._endpoint, self.lease, now_us, waits_us=FAILING_US, at_once=at_once
            )
        )
