"""The last response of a connection: to a request that the application does not get."""

import asyncio

from sealdesk import ids
from sealdesk.clock import Clock
from sealdesk.errors import ApiError
from sealdesk.server import response_head

CLOSE_DELAY_S = 0.2
LINGER_S = 2.0


class LastResponse:
    """A response to an unreadable request, after which the connection is closed."""

    def __init__(self, error: ApiError) -> None:
        self._response = response_head.encode_problem(error, ids.mint_request_id(Clock().now_us()))
        self._discarded_at = 0.0

    def discard(self, now: float) -> None:
        """Note that the client still sends data, which nobody reads."""
        self._discarded_at = now

    def send(self, transport: asyncio.Transport) -> None:
        """Send it, and close the connection once the client has read it."""
        transport.write(self._response)
        loop = asyncio.get_running_loop()
        loop.call_later(CLOSE_DELAY_S, self._close_when_quiet, transport, loop.time() + LINGER_S)

    def _close_when_quiet(self, transport: asyncio.Transport, deadline: float) -> None:
        """Closing while data arrives would reset the connection before the client reads the
        response."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now < deadline and now - self._discarded_at < CLOSE_DELAY_S:
            loop.call_later(CLOSE_DELAY_S, self._close_when_quiet, transport, deadline)
        else:
            transport.close()
