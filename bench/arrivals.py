"""What a receiver has got, asked for and checked."""

import base64
import hmac
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeVar

import msgspec

from bench import servers
from bench.load import WrongAnswer
from bench.receiver import Arrival, Sample, Taken

T = TypeVar("T")
_LOOK_EVERY_S = 0.02


class Arrivals:
    """A running receiver. refusing_url: where nobody listens. hanging_url: never answers.

    held: how many requests to hanging_url have been seen.
    """

    def __init__(self, port: int, refusing_port: int) -> None:
        self.held = 0
        self._port = port
        self.url = f"http://127.0.0.1:{port}/hook"
        self.hanging_url = f"http://127.0.0.1:{port}/hang"
        self.refusing_url = f"http://127.0.0.1:{refusing_port}/hook"

    def wait_for(self, count: int, within_s: float) -> int:
        """How many have come once there are so many. Raises WrongAnswer."""
        deadline = time.monotonic() + within_s
        while (come := self._asked("/count", int)) < count:
            if time.monotonic() > deadline:
                raise WrongAnswer(f"{come} of {count} deliveries within {within_s:g} s")
            time.sleep(_LOOK_EVERY_S)
        return come

    def take(self, secret: str, wanted: set[str], about: Callable[[Arrival], str]) -> list[Arrival]:
        """What has come since, in order. Raises WrongAnswer.

        wanted: each must have come exactly once. about: which of them an arrival is.
        """
        taken = self._asked("/taken", Taken)
        self.held += taken.held
        come = list(map(about, taken.arrivals))
        if len(come) != len(wanted) or set(come) != wanted:
            lost, doubled = len(wanted - set(come)), len(come) - len(set(come))
            raise WrongAnswer(f"of {len(wanted)} deliveries {lost} lost, {doubled} twice")
        if not all(_is_signed(sample, secret) for sample in taken.samples):
            raise WrongAnswer("a delivery has a wrong signature")
        return taken.arrivals

    def _asked(self, path: str, kind: type[T]) -> T:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", path)
            return msgspec.json.decode(connection.getresponse().read(), type=kind)
        finally:
            connection.close()


@contextmanager
def received(directory: Path) -> Iterator[Arrivals]:
    """directory: for the receiver's log."""
    with servers.receiver(directory) as receiver, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        yield Arrivals(receiver.port, refusing.getsockname()[1])


def _is_signed(sample: Sample, secret: str) -> bool:
    """As Standard Webhooks has it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{sample.webhook_id}.{sample.timestamp}.".encode() + sample.body
    wanted = base64.b64encode(hmac.digest(key, message, sha256)).decode()
    return f"v1,{wanted}" in sample.signature.split(" ")
