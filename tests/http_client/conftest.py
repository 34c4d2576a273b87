"""Runs an HTTP client that may connect to loopback, on uvloop as the service does."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvloop

from sealdesk.http_client import HttpClient, HttpResponse, RequestFailed

HEADERS = {"content-type": "application/json", "user-agent": "Sealdesk/test", "webhook-id": "evt"}
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


class ClientRunner:
    """An HTTP client and the event loop that it runs on."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.client = HttpClient((LOOPBACK,), allow_http=True)

    def run(self, work: Awaitable[Any]) -> Any:
        async def waited() -> Any:
            return await work

        return self._runner.run(waited())

    def post(self, url: str, body: bytes = b"{}") -> HttpResponse:
        response = self.run(self.client.post(url, HEADERS, body))
        assert isinstance(response, HttpResponse)
        return response

    def fails(self, url: str, do: Callable[[str], Awaitable[Any]] | None = None) -> tuple[str, str]:
        """Cause and text of a failed request. do: `post` by default, or `check`."""
        work = self.client.post(url, HEADERS, b"{}") if do is None else do(url)
        with pytest.raises(RequestFailed) as refused:
            self.run(work)
        return refused.value.cause, refused.value.text


@pytest.fixture
def runner() -> Iterator[ClientRunner]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        unhandled: list[dict[str, Any]] = []
        runner.get_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        client_runner = ClientRunner(runner)
        yield client_runner
        client_runner.run(client_runner.client.close())
        assert unhandled == []
