"""The connections of `AsyncDesk`: each process has its own."""

import asyncio
import os

import httpx

from sealdesk.client.errors import InvalidConfiguration
from sealdesk.client.own_clients import OwnClients


class AsyncConnections:
    """The client of httpx that a desk uses. given: by the user, who also closes it."""

    def __init__(self, given: httpx.AsyncClient | None) -> None:
        http: object = given
        if not isinstance(http, httpx.AsyncClient | None):
            raise InvalidConfiguration(f"http must be an httpx.AsyncClient, not {http!r}")
        self.given = given
        self._process = os.getpid()
        self._own = OwnClients(httpx.AsyncClient, asyncio.get_running_loop)

    def client(self) -> httpx.AsyncClient:
        """The client of httpx. Raises InvalidConfiguration."""
        if self._own.is_closed:
            raise InvalidConfiguration("this desk is closed: make another one")
        if self.given is None:
            return self._own.get()
        if os.getpid() != self._process:
            raise InvalidConfiguration(
                "the client of httpx that was given as http belongs to the process that this one"
                " was forked from: make both after the fork"
            )
        return self.given

    async def close(self) -> None:
        """Close the connections of this process that were not given."""
        own = self._own.close()
        if own is not None:
            await own.aclose()
