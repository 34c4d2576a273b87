"""Where a reader of the events feed is, and what it does next."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from sealdesk.client.errors import (
    ApiError,
    ConnectionFailed,
    RateLimited,
    SealdeskError,
    ServerFailed,
    UnexpectedResponse,
)
from sealdesk.client.operation import Operation
from sealdesk.client.results import Page

T = TypeVar("T")
MakeOperation = Callable[[str | None, int], Operation[Page[T]]]
OnFailure = Callable[[SealdeskError | None, float], None]
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# A service that is stopping responds at once, whatever the wait.
_LEAST_INTERVAL_S = 1.0


class FeedPosition(Generic[T]):
    """The position of a reader in the feed: it decides, and the reader sends and waits.

    cursor: the position after the last page whose events were all processed. Store it, and pass it
    on after a restart; None before the first page.
    """

    def __init__(
        self, make: MakeOperation[T], cursor: str | None, wait_s: int, on_failure: OnFailure | None
    ) -> None:
        self.cursor = cursor
        self._make = make
        self._wait_s = wait_s
        self._on_failure = on_failure
        self._failures = 0
        self._is_first = True

    def next_operation(self) -> Operation[Page[T]]:
        """Return the next request."""
        # Without a wait at first, to fix the position now and not when the first event arrives; and
        # after a failure, to notice at once that the service responds.
        self._is_first = self.cursor is None
        waits = not self._is_first and not self._failures
        return self._make(self.cursor, self._wait_s if waits else 0)

    def succeed(self) -> None:
        """Note that the service has responded."""
        if self._failures and self._on_failure:
            self._on_failure(None, 0.0)
        self._failures = 0

    def pause_s(self, error: SealdeskError) -> float:
        """Return the pause before the next attempt. Raises the error if none can help."""
        if not is_temporary(error):
            raise error
        pause_s = _PAUSES_S[min(self._failures, len(_PAUSES_S) - 1)]
        if isinstance(error, ApiError) and error.retry_after_s:
            pause_s = error.retry_after_s
        self._failures += 1
        if self._on_failure:
            self._on_failure(error, pause_s)
        return pause_s

    def idle_s(self, page: Page[T], began_s: float) -> float:
        """Return the pause after a page."""
        if page.data or self._is_first:
            return 0.0
        return max(0.0, _LEAST_INTERVAL_S - (time.monotonic() - began_s))


def is_temporary(error: SealdeskError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, UnexpectedResponse):
        return error.status >= 500
    return isinstance(error, ConnectionFailed | RateLimited | ServerFailed)
