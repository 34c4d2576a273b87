"""Running a sender, which may reach loopback, as a process of the service does: on uvloop."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvloop

from sealdesk.http_client import HttpClient, HttpResponse, RequestFailed

HEADERS = {"content-type": "application/json", "user-agent": "Sealdesk/test", "webhook-id": "evt"}
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


class Sending:
    """A sender and the loop that it runs on."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.sender = HttpClient((LOOPBACK,), allow_http=True)

    def run(self, work: Awaitable[Any]) -> Any:
        async def waited() -> Any:
            return await work

        return self._runner.run(waited())

    def post(self, url: str, body: bytes = b"{}") -> HttpResponse:
        answered = self.run(self.sender.post(url, HEADERS, body))
        assert isinstance(answered, HttpResponse)
        return answered

    def fails(self, url: str, do: Callable[[str], Awaitable[Any]] | None = None) -> tuple[str, str]:
        """Cause and text of why there is no answer. do: `post`, or the sender's check."""
        work = self.sender.post(url, HEADERS, b"{}") if do is None else do(url)
        with pytest.raises(RequestFailed) as refused:
            self.run(work)
        return refused.value.cause, refused.value.text


@pytest.fixture
def sending() -> Iterator[Sending]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        unhandled: list[dict[str, Any]] = []
        runner.get_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        sending = Sending(runner)
        yield sending
        sending.run(sending.sender.close())
        assert unhandled == []
