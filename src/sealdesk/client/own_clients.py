"""The clients of httpx that a desk makes for itself."""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Generic, TypeVar

C = TypeVar("C")
_Place = tuple[int, AbstractEventLoop | None]


class OwnClients(Generic[C]):
    """A client for each process and event loop: no other one can use its connections.

    A forked process that used its parent's would read the responses to its parent's requests.
    """

    def __init__(
        self, make: Callable[[], C], find_loop: Callable[[], AbstractEventLoop | None]
    ) -> None:
        self._make = make
        self._find_loop = find_loop
        self._clients: dict[_Place, C] = {}
        self._closed: set[_Place] = set()

    @property
    def is_closed(self) -> bool:
        """Whether those of this process and event loop were closed."""
        return self._find_place() in self._closed

    def get(self) -> C:
        """The client of this process and event loop."""
        place = self._find_place()
        found = self._clients.get(place)
        if found is None:
            self._forget_closed_loops()
            found = self._clients.setdefault(place, self._make())
        return found

    def close(self) -> C | None:
        """The same for its end, None if there is none; no other one is made here."""
        self._forget_closed_loops()
        place = self._find_place()
        self._closed.add(place)
        return self._clients.pop(place, None)

    def _find_place(self) -> _Place:
        return os.getpid(), self._find_loop()

    def _forget_closed_loops(self) -> None:
        for place in [*self._clients, *self._closed]:
            _, loop = place
            if loop is not None and loop.is_closed():
                self._clients.pop(place, None)
                self._closed.discard(place)


def find_no_loop() -> None:
    """The event loop of programs without asyncio."""
