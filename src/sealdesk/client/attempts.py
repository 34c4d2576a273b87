"""Decides when a request is sent again: pure, so both clients share it."""

import random
from collections.abc import Callable, Generator
from typing import NamedTuple

import httpx

from sealdesk.client.responses import find_retry_after_s

# Statuses after which the same request may succeed. 409 only while the first one is in progress.
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


class RetryPolicy(NamedTuple):
    """How often, and after which pauses, a request is sent again.

    retries: attempts after the first one. The pause before the nth is random, between 0 and
    base_s · 2ⁿ, at most max_pause_s ("full jitter"). max_wait_s: a longer Retry-After is not waited
    for, but raised.
    """

    retries: int = 4
    base_s: float = 0.25
    max_pause_s: float = 8.0
    max_wait_s: float = 60.0

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


class Pause(NamedTuple):
    """Wait before the next attempt."""

    seconds: float


Step = httpx.Request | Pause
Outcome = httpx.Response | httpx.RequestError | None


def attempts(
    make_request: Callable[[], httpx.Request],
    policy: RetryPolicy,
    draw: Callable[[], float] = random.random,
) -> Generator[Step, Outcome, httpx.Response]:
    """Yield requests to send and pauses to make; return the response.

    Raises the httpx.RequestError of the last attempt.
    """
    failures = 0
    while True:
        request = make_request()
        outcome = yield request
        failures += 1
        pause_s = _find_pause_s(request, outcome, failures, policy, draw())
        if pause_s is not None:
            yield Pause(pause_s)
        elif isinstance(outcome, httpx.Response):
            return outcome
        elif outcome is not None:
            raise outcome


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
