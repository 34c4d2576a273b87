"""Sends a request with a client of httpx, whose calls may be cancelled."""

import asyncio
from typing import Any

import httpx


def send(http: httpx.Client, request: httpx.Request, auth: httpx.Auth) -> httpx.Response:
    """Return a response whose body is not read yet. Raises httpx.RequestError."""
    return http.send(request, auth=auth, follow_redirects=False, stream=True)


async def async_send(
    http: httpx.AsyncClient, request: httpx.Request, auth: httpx.Auth
) -> httpx.Response:
    """Likewise, and close connections that cancelled calls have left.

    The pool of httpcore 1.0.9 keeps them, and after 100 of them has no other for further calls:
    https://github.com/encode/httpcore/issues/1093. Delete this once it closes them itself.
    """
    try:
        return await http.send(request, auth=auth, follow_redirects=False, stream=True)
    except asyncio.CancelledError:
        for connection in _take_orphans(http):
            await connection.aclose()
        raise


def _take_orphans(http: httpx.AsyncClient) -> list[Any]:
    orphans = []
    for transport in (http._transport, *http._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        requests = getattr(pool, "_requests", None)
        if requests is None:  # of a host without a proxy, or of an unknown version
            continue
        owned = [request.connection for request in requests]
        left = [each for each in pool.connections if each not in owned and not each.is_idle()]
        pool._connections = [each for each in pool.connections if each not in left]
        orphans += left
    return orphans
