"""The deadline of a request: how long all its database work together may wait, and its cost."""

from contextvars import ContextVar

import msgspec

REQUEST_S = 4.5  # with the rest of the request, a response within 5 s
CONNECTION_WAIT_S = 1.5
UNINDEXED_READ_UNITS = 50  # of its tenant's budget


class Deadline(msgspec.Struct):
    """Seconds that remain: in total, and for waiting until a connection is free.

    unindexed_reads: how many the request has made, which its tenant is charged for. connections:
    how many it holds now, which others may wait for. beside_ns: processor time of its work in
    threads and child processes. payer: whom the request's work is charged to, "" outside a request.
    """

    total_s: float = REQUEST_S
    connection_wait_s: float = CONNECTION_WAIT_S
    unindexed_reads: int = 0
    connections: int = 0
    beside_ns: int = 0
    payer: str = ""


# Each request, which runs in a task of its own, starts with a new one.
deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current() -> Deadline:
    """The deadline of the current request; outside a request each call gets a new one."""
    return deadline.get() or Deadline()
