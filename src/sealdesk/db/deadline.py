"""For how long a request waits for a storage that does not answer: all its work together."""

from contextvars import ContextVar

IN_ALL_S = 4.5  # with the rest of a request, an answer within 5 s
FOR_CONNECTIONS_S = 1.5


class Patience:
    """What is left of it, in seconds: in all, and for waiting until a connection is free."""

    __slots__ = ("for_connections_s", "in_all_s")

    def __init__(self) -> None:
        self.in_all_s = IN_ALL_S
        self.for_connections_s = FOR_CONNECTIONS_S


_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


def begin() -> None:
    """A request begins, in a task of its own."""
    _patience.set(Patience())


def current() -> Patience:
    """The present request's; what is no request has all of it for each piece of work."""
    return _patience.get() or Patience()
