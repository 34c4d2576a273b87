"""A server that ends at once, for services that tests have finished with."""

import asyncio
import socket
from contextlib import suppress
from typing import cast

from sealdesk.server import http_protocol, serve
from sealdesk.server.app import Asgi
from sealdesk.server.received import ReceivedBytes
from sealdesk.state import AppState


class FastEndingServer(serve.Server):
    """The server, but it notices at once that it is told to end, and may cut idle connections.

    Draining takes half a second otherwise, and has tests of its own.
    """

    def __init__(self, app: Asgi, state: AppState) -> None:
        received = ReceivedBytes(state.limits.received, state.settings.trusted_proxies)
        config = serve.make_server(app, state.lifetime, received).config
        super().__init__(config, state.lifetime, lambda: None, 0)
        self.ends_fast = False
        self.told = asyncio.Event()

    async def main_loop(self) -> None:
        """uvicorn's loop, which checks ten times a second, and at once when told."""
        counter = 0
        while not await self.on_tick(counter):
            counter += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self.told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain; with `ends_fast` only if a request is being answered."""
        if not self.ends_fast or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        self._lifetime.is_draining = True
        for listener in self.servers:
            listener.close()
        for sock in sockets or []:
            sock.close()
        for connection in cast("set[http_protocol.Protocol]", {*self.server_state.connections}):
            connection.transport.abort()
        await asyncio.sleep(0)  # so that the connections notice
        self._sweep.cancel()
        await self.lifespan.shutdown()
