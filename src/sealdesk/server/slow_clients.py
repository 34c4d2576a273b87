"""Whether a client reads the responses that it is sent."""

import array
import asyncio
import contextlib
import fcntl
import termios


class Progress:
    """How long nothing of what is unsent on a connection has been taken by the client."""

    def __init__(self) -> None:
        self._unsent_bytes = 0
        self._changed_at = 0.0

    def stalled_s(self, transport: asyncio.Transport, now: float) -> float:
        """Seconds since an earlier call found another number of unsent bytes; 0 without any."""
        buffered = transport.get_write_buffer_size()
        unsent_bytes = buffered + _count_in_kernel(transport) if buffered else 0
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._changed_at = unsent_bytes, now
        return now - self._changed_at if unsent_bytes else 0.0


def _count_in_kernel(transport: asyncio.Transport) -> int:
    """The bytes in the socket's buffer, which show that a slow client reads. Only on Linux."""
    count = array.array("i", [0])
    with contextlib.suppress(OSError, ValueError):
        fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, count)
    return count[0]
