"""The deadline of a request: how long all its database work together may wait."""

from contextvars import ContextVar

REQUEST_S = 4.5  # with the rest of the request, a response within 5 s
CONNECTION_WAIT_S = 1.5


class Deadline:
    """Seconds that remain: in total, and for waiting until a connection is free."""

    __slots__ = ("connection_wait_s", "total_s")

    def __init__(self) -> None:
        self.total_s = REQUEST_S
        self.connection_wait_s = CONNECTION_WAIT_S


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def start() -> None:
    """Start the deadline of a request, which runs in a task of its own."""
    _deadline.set(Deadline())


def current() -> Deadline:
    """The deadline of the current request; outside a request each call gets a new one."""
    return _deadline.get() or Deadline()
