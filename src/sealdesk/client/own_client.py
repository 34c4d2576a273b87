"""The client of httpx that a desk makes for itself, whose calls may be cancelled."""

import asyncio
from typing import Any

import httpx

OwnClient = httpx.Client


class AsyncOwnClient(httpx.AsyncClient):
    """Closes connections that cancelled calls have left.

    The pool of httpcore 1.0.9 keeps them, and after 100 of them has no other for further calls:
    https://github.com/encode/httpcore/issues/1093. Delete this once it closes them itself.
    """

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        try:
            return await super().send(request, **options)
        except asyncio.CancelledError:
            for connection in self._take_orphans():
                await connection.aclose()
            raise

    def _take_orphans(self) -> list[Any]:
        orphans = []
        for transport in (self._transport, *self._mounts.values()):
            pool: Any = getattr(transport, "_pool", None)
            requests = getattr(pool, "_requests", None)
            if requests is None:  # of a host without a proxy, or of an unknown version
                continue
            owned = [request.connection for request in requests]
            left = [each for each in pool.connections if each not in owned and not each.is_idle()]
            pool._connections = [each for each in pool.connections if each not in left]
            orphans += left
        return orphans
