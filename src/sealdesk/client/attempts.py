"""Decides when a request is sent again: pure, so both clients share it."""

import logging
import math
import random
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

import httpx

from sealdesk.client.responses import find_retry_after_s

# Statuses after which the same request may succeed. 409 only while the first one is in progress.
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
_log = logging.getLogger("sealdesk.client")


class RetryPolicy(NamedTuple):
    """How often, and after which pauses, a request is sent again.

    retries: attempts after the first one. The pause before the nth is random, between 0 and
    base_s · 2ⁿ, at most max_pause_s ("full jitter"). max_wait_s: a longer Retry-After is not waited
    for, but raised. max_limited_s: how long a call waits in all while a rate limit is used up,
    which costs no retries.
    """

    retries: int = 4
    base_s: float = 0.25
    max_pause_s: float = 8.0
    max_wait_s: float = 60.0
    max_limited_s: float = 300.0

    def pause_s(self, failures: int, retry_after_s: float | None, share: float) -> float | None:
        """Return the pause after so many failures, or None to give up.

        share: a random number from 0 to 1.
        """
        if failures > self.retries:
            return None
        jitter_s = share * min(self.max_pause_s, self.base_s * 2.0 ** min(failures, 30))
        if retry_after_s is None:
            return jitter_s
        return None if retry_after_s > self.max_wait_s else retry_after_s + jitter_s


DEFAULT_POLICY = RetryPolicy()


class Retry(NamedTuple):
    """A request that is sent again. reason: 503, ConnectError or the like."""

    method: str
    path: str
    reason: str
    pause_s: float


class Limiter:
    """When a desk may send again after a rate limit was used up: its threads wait together."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until_s = 0.0

    @property
    def pause_s(self) -> float:
        """How long from now."""
        return max(0.0, self._until_s - self._now())

    def hold(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._until_s = max(self._until_s, self._now() + seconds)


class Terms(NamedTuple):
    """How a desk sends. deadline_s: of a call with all its attempts. on_retry: is told of each."""

    policy: RetryPolicy
    limiter: Limiter
    deadline_s: float | None = None
    on_retry: Callable[[Retry], None] | None = None


class Pause(NamedTuple):
    """Wait before the next attempt."""

    seconds: float


Step = httpx.Request | Pause
Outcome = httpx.Response | httpx.RequestError | None


def attempts(
    make_request: Callable[[], httpx.Request],
    terms: Terms,
    draw: Callable[[], float] = random.random,
    now: Callable[[], float] = time.monotonic,
) -> Generator[Step, Outcome, httpx.Response]:
    """Yield requests to send and pauses to make; return the response.

    Raises the httpx.RequestError of the last attempt.
    """
    call = _Call(terms, draw, now)
    held_s = terms.limiter.pause_s
    if held_s and call.waits_for_limit(held_s):
        yield Pause(held_s)
    while True:
        request = make_request()
        call.bound(request)
        outcome = yield request
        pause_s = call.find_pause_s(request, outcome)
        if pause_s is not None:
            _tell(terms, Retry(request.method, request.url.path, _reason(outcome), pause_s))
            yield Pause(pause_s)
        elif isinstance(outcome, httpx.Response):
            return outcome
        elif outcome is not None:
            raise outcome


class _Call:
    """What a call has used of its retries, of its wait for a limit, and of its time."""

    def __init__(self, terms: Terms, draw: Callable[[], float], now: Callable[[], float]) -> None:
        self._policy, self._limiter = terms.policy, terms.limiter
        self._draw, self._now = draw, now
        self._ends_s = math.inf if terms.deadline_s is None else now() + terms.deadline_s
        self._failures = 0
        self._limited_s = 0.0

    def waits_for_limit(self, pause_s: float) -> bool:
        """Whether the call may pause for a limit that is used up; the pause is counted."""
        waited_s = self._limited_s + pause_s
        is_short = pause_s <= self._policy.max_wait_s and waited_s <= self._policy.max_limited_s
        if not is_short or self._is_behind_end(pause_s):
            return False
        self._limited_s = waited_s
        return True

    def bound(self, request: httpx.Request) -> None:
        """Let no part of the request take longer than is left of the call."""
        if math.isinf(self._ends_s):
            return
        left_s = max(0.001, self._find_left_s())
        timeout = request.extensions["timeout"]
        request.extensions["timeout"] = {name: min(s, left_s) for name, s in timeout.items()}
        # A response may arrive in many parts, each in time.
        request.extensions["find_left_s"] = self._find_left_s

    def find_pause_s(self, request: httpx.Request, outcome: Outcome) -> float | None:
        """The pause before the next attempt, or None to give up."""
        limit_s = _find_limit_s(outcome)
        if limit_s is not None:
            self._limiter.hold(limit_s)
            # The more often threads were refused together, the wider they are spread.
            spread_s = self._draw() * self._policy.base_s * (1.0 + self._limited_s)
            return limit_s + spread_s if self.waits_for_limit(limit_s + spread_s) else None
        self._failures += 1
        pause_s = _find_pause_s(request, outcome, self._failures, self._policy, self._draw())
        return None if pause_s is None or self._is_behind_end(pause_s) else pause_s

    def _is_behind_end(self, pause_s: float) -> bool:
        return pause_s >= self._find_left_s()

    def _find_left_s(self) -> float:
        return self._ends_s - self._now()


def _find_limit_s(outcome: Outcome) -> float | None:
    """After how many seconds a limit that was used up permits another request."""
    if isinstance(outcome, httpx.Response) and outcome.status_code == 429:
        return find_retry_after_s(outcome)
    return None


def _tell(terms: Terms, retry: Retry) -> None:
    _log.info(
        "%s %s is sent again in %.1f s: %s", retry.method, retry.path, retry.pause_s, retry.reason
    )
    if terms.on_retry is not None:
        terms.on_retry(retry)


def _reason(outcome: Outcome) -> str:
    return (
        str(outcome.status_code) if isinstance(outcome, httpx.Response) else type(outcome).__name__
    )


def _find_pause_s(
    request: httpx.Request, outcome: Outcome, failures: int, policy: RetryPolicy, share: float
) -> float | None:
    if isinstance(outcome, httpx.Response):
        if not _is_temporary(request, outcome):
            return None
        return policy.pause_s(failures, find_retry_after_s(outcome), share)
    if isinstance(outcome, _HOPELESS):
        return None
    if not isinstance(outcome, _NOT_SENT) and not is_repeatable(request):
        return None
    return policy.pause_s(failures, None, share)


def _is_temporary(request: httpx.Request, response: httpx.Response) -> bool:
    if response.status_code == 409:
        return b'"idempotency_in_flight"' in response.content
    if response.status_code not in _TEMPORARY:
        return False
    return response.status_code == 429 or is_repeatable(request)


def is_repeatable(request: httpx.Request) -> bool:
    """Whether sending it twice has the effect of sending it once.

    A merge patch sets the same values again. With If-Match, the second one would be refused
    although the first one had its effect, as a PATCH whose operation says so.
    """
    if not request.extensions.get("is_repeatable", True):
        return False
    if request.method == "POST":
        return "idempotency-key" in request.headers
    return request.method in ("GET", "HEAD", "PUT") or (
        request.method == "PATCH" and "if-match" not in request.headers
    )
