"""The stream of an open page, read by a thread."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

from tests.support.pages import Visitor
from tests.support.service import wait_until

# An answer within it did not come because a heartbeat or a timeout was over.
SOON_S = 45.0


class LiveEvent(NamedTuple):
    """A server-sent event. id: "" when it has none."""

    kind: str
    id: str
    data: Any


class LiveStream:
    """An open stream of a browser, and what has arrived on it."""

    def __init__(self, visitor: Visitor, query: str = "", **headers: str) -> None:
        cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
        self._connection = HTTPConnection("127.0.0.1", visitor.service.port, timeout=300)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("GET", f"/live{query}", headers={"cookie": cookie, **named})
        self.response = self._connection.getresponse()
        self.events: list[LiveEvent] = []
        self.is_over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def of(self, kind: str) -> list[Any]:
        """The data of the events of a kind."""
        return [event.data for event in self.events if event.kind == kind]

    def wait_for(self, is_there: Callable[["LiveStream"], bool]) -> None:
        wait_until(lambda: is_there(self) or self.is_over)
        assert is_there(self), self.events

    def wait_for_end(self) -> None:
        wait_until(lambda: self.is_over)

    def tickets(self, count: int) -> list[Any]:
        """The first messages about tickets, as soon as there are so many."""
        self.wait_for(lambda stream: len(stream.of("ticket")) >= count)
        return self.of("ticket")

    def close(self) -> None:
        sock = self._connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(2)
        self._thread.join(10)
        self._connection.close()

    def _read(self) -> None:
        fields: dict[str, str] = {}
        with suppress(OSError, HTTPException, ValueError):
            while line := self.response.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                    continue
                data = json.loads(fields.get("data", "null"))
                self.events.append(LiveEvent(fields["event"], fields.get("id", ""), data))
                fields = {}
        self.is_over = True


@contextmanager
def live(visitor: Visitor, query: str = "", **headers: str) -> Iterator[LiveStream]:
    """A stream that has said hello."""
    stream = LiveStream(visitor, query, **headers)
    try:
        stream.wait_for(lambda each: bool(each.of("hello")))
        yield stream
    finally:
        stream.close()
