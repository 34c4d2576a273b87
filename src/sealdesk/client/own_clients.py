"""The clients of httpx that a desk makes for itself."""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Generic, TypeVar

C = TypeVar("C")


class OwnClients(Generic[C]):
    """A client for each process and event loop: no other one can use its connections.

    A forked process that used its parent's would read the responses to its parent's requests.
    """

    def __init__(
        self, make: Callable[[], C], find_loop: Callable[[], AbstractEventLoop | None]
    ) -> None:
        self._make = make
        self._find_loop = find_loop
        self._clients: dict[tuple[int, AbstractEventLoop | None], C] = {}

    def get(self) -> C:
        """The client of this process and event loop."""
        place = os.getpid(), self._find_loop()
        found = self._clients.get(place)
        if found is None:
            self._forget_closed_loops()
            found = self._clients.setdefault(place, self._make())
        return found

    def pop(self) -> C | None:
        """The same, which is forgotten; None if there is none."""
        return self._clients.pop((os.getpid(), self._find_loop()), None)

    def _forget_closed_loops(self) -> None:
        for place in list(self._clients):
            _, loop = place
            if loop is not None and loop.is_closed():
                self._clients.pop(place, None)


def find_no_loop() -> None:
    """The event loop of programs without asyncio."""
