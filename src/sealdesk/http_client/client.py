"""Sending one request: resolve, check, connect to what was checked, read a bounded answer."""

import asyncio
import re
import ssl
from collections.abc import Mapping
from functools import cached_property

from sealdesk.http_client import urls
from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection, HttpResponse
from sealdesk.http_client.connector import connect, trusting_the_system
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.pool import Idle
from sealdesk.http_client.resolver import Resolver
from sealdesk.http_client.urls import Destination
from sealdesk.settings import Network

CONNECT_S = 5.0  # decisions 11
IN_ALL_S = 15.0
_NAME = re.compile(r"[A-Za-z0-9-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_OURS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


class HttpClient:
    """Sends for one process. Connections that are still good are used again."""

    def __init__(self, allowed: tuple[Network, ...], *, allow_http: bool) -> None:
        self._allow_http = allow_http
        self._resolver = Resolver(allowed)
        self._idle = Idle()

    async def check(self, url: str) -> None:
        """Try to reach a URL without sending anything. Raises Unsent."""
        destination = urls.read(url, allow_http=self._allow_http)
        until = asyncio.get_running_loop().time() + CONNECT_S
        addresses = await self._resolver.find(destination.host, until)
        _, connection = await self._connect(destination, addresses, until)
        connection.close()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpResponse:
        """Send, and read the answer. Raises Unsent.

        headers: those of the message; what frames it and names the host is added.
        """
        destination = urls.read(url, allow_http=self._allow_http)
        request = _request(destination, headers, body)
        loop = asyncio.get_running_loop()
        until, connected_until = loop.time() + IN_ALL_S, loop.time() + CONNECT_S
        addresses = await self._resolver.find(destination.host, connected_until)
        kept = self._idle.take(destination, addresses)
        if kept is not None:
            try:
                return await self._exchange(destination, kept, request, until)
            except RequestFailed as unsent:
                if unsent.cause != "bad_answer" or kept[1].has_heard:
                    raise
            # It was closed while it was idle: once more.
            connected_until = min(until, loop.time() + CONNECT_S)
        made = await self._connect(destination, addresses, connected_until)
        return await self._exchange(destination, made, request, until)

    async def close(self) -> None:
        """Close the connections that are kept."""
        self._idle.close()
        self._resolver.close()

    async def _connect(
        self, destination: Destination, addresses: tuple[Address, ...], until: float
    ) -> tuple[Address, Connection]:
        context = self._context if destination.is_tls else None
        return await connect(destination, addresses, context, until)

    async def _exchange(
        self,
        destination: Destination,
        made: tuple[Address, Connection],
        request: bytes,
        until: float,
    ) -> HttpResponse:
        address, connection = made
        try:
            async with asyncio.timeout_at(until):
                answered = await connection.exchange(request)
        except TimeoutError:
            connection.drop()
            raise RequestFailed("timeout", f"No whole answer came within {IN_ALL_S:g} s.") from None
        except BaseException:
            connection.drop()
            raise
        if connection.is_reusable:
            self._idle.put(destination, address, connection)
        else:
            connection.drop()
        return answered

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return trusting_the_system()


def _request(destination: Destination, headers: Mapping[str, str], body: bytes) -> bytes:
    for name, value in headers.items():
        is_sound = _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        if not is_sound or name.lower() in _OURS:
            raise ValueError("a header that cannot be sent, or that is not the caller's to send")
    head = (
        f"POST {destination.target} HTTP/1.1",
        f"Host: {destination.authority}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(head).encode("ascii") + b"\r\n\r\n" + body
