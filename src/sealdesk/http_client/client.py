"""Sends one request: resolves, checks, connects to the checked address, reads the response."""

import asyncio
import re
import ssl
from collections.abc import Mapping
from functools import cached_property

from sealdesk.http_client import urls
from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection, HttpResponse
from sealdesk.http_client.connector import connect, make_tls_context
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.pool import IdleConnections
from sealdesk.http_client.resolver import Resolver
from sealdesk.http_client.urls import Destination
from sealdesk.settings import Network

CONNECT_S = 5.0  # spec decision 11
TOTAL_S = 15.0
_NAME = re.compile(r"[A-Za-z0-9-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_RESERVED_HEADERS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


class HttpClient:
    """The HTTP client of a process. It reuses idle connections."""

    def __init__(self, allowed: tuple[Network, ...], *, allow_http: bool) -> None:
        self._allow_http = allow_http
        self._resolver = Resolver(allowed)
        self._idle_connections = IdleConnections()

    async def check(self, url: str) -> None:
        """Connect to a URL without sending a request. Raises RequestFailed."""
        destination = urls.parse(url, allow_http=self._allow_http)
        deadline = asyncio.get_running_loop().time() + CONNECT_S
        addresses = await self._resolver.resolve(destination.host, deadline)
        _, connection = await self._connect(destination, addresses, deadline)
        connection.close()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpResponse:
        """Send a POST request. Raises RequestFailed.

        headers: without Host, Content-Length and Accept-Encoding, which are added.
        """
        destination = urls.parse(url, allow_http=self._allow_http)
        request = _encode_request(destination, headers, body)
        loop = asyncio.get_running_loop()
        deadline, connect_deadline = loop.time() + TOTAL_S, loop.time() + CONNECT_S
        addresses = await self._resolver.resolve(destination.host, connect_deadline)
        idle = self._idle_connections.take(destination, addresses)
        if idle is not None:
            try:
                return await self._exchange(destination, idle, request, deadline)
            except RequestFailed as error:
                if error.cause != "bad_answer" or idle[1].has_received:
                    raise
            # The receiver closed the idle connection: retry on a new one.
            connect_deadline = min(deadline, loop.time() + CONNECT_S)
        connected = await self._connect(destination, addresses, connect_deadline)
        return await self._exchange(destination, connected, request, deadline)

    async def close(self) -> None:
        """Close the idle connections."""
        self._idle_connections.close()
        self._resolver.close()

    async def _connect(
        self, destination: Destination, addresses: tuple[Address, ...], deadline: float
    ) -> tuple[Address, Connection]:
        context = self._context if destination.is_tls else None
        return await connect(destination, addresses, context, deadline)

    async def _exchange(
        self,
        destination: Destination,
        connected: tuple[Address, Connection],
        request: bytes,
        deadline: float,
    ) -> HttpResponse:
        address, connection = connected
        try:
            async with asyncio.timeout_at(deadline):
                response = await connection.exchange(request)
        except TimeoutError:
            connection.abort()
            raise RequestFailed(
                "timeout", f"No complete response came within {TOTAL_S:g} s."
            ) from None
        except BaseException:
            connection.abort()
            raise
        if connection.is_reusable:
            self._idle_connections.put(destination, address, connection)
        else:
            connection.abort()
        return response

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return make_tls_context()


def _encode_request(destination: Destination, headers: Mapping[str, str], body: bytes) -> bytes:
    for name, value in headers.items():
        is_valid = _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        if not is_valid or name.lower() in _RESERVED_HEADERS:
            raise ValueError("an invalid header, or one that the client sets itself")
    head = (
        f"POST {destination.target} HTTP/1.1",
        f"Host: {destination.authority}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(head).encode("ascii") + b"\r\n\r\n" + body
