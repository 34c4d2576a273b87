"""The serving process: one lock, one socket, uvicorn with our protocol."""

import asyncio
import fcntl
import socket
from pathlib import Path
from typing import IO

import uvicorn
import uvloop

from sealdesk.app import Asgi
from sealdesk.shared import Lifetime
from sealdesk.web import http

DRAIN_S = 10


class Refused(Exception):
    """The server cannot start; the text says what to do."""


def lock(data_dir: Path, database_path: Path) -> IO[str]:
    """Be the one serving process of a database; the lock ends with the process. Raises Refused."""
    path = data_dir / f"{database_path.name}.serve-lock"
    handle = path.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.close()
        raise Refused(
            f"another `sealdesk serve` uses {database_path}; SQLite takes one serving process."
            " Stop it, or name another SEALDESK_DATA_DIR"
        ) from error
    return handle


def bind(host: str, port: int) -> socket.socket:
    """The listening socket. Raises Refused when it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        raise Refused(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port"
        ) from error
    return sock


def serve(app: Asgi, lifetime: Lifetime, sock: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then answer what has begun for up to 10 s."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(make_server(app, lifetime).serve(sockets=[sock]))


def make_server(app: Asgi, lifetime: Lifetime) -> uvicorn.Server:
    """uvicorn with our protocol and caps, not yet running."""
    config = uvicorn.Config(
        app,
        http=http.Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_S,
    )
    return _Server(config, lifetime)


class _Server(uvicorn.Server):
    """uvicorn's, which sweeps slow connections and tells when it is on its way out."""

    def __init__(self, config: uvicorn.Config, lifetime: Lifetime) -> None:
        super().__init__(config)
        self._lifetime = lifetime

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._sweep = asyncio.create_task(http.sweep(self.server_state.connections))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._lifetime.is_ending = True
        self._sweep.cancel()
        await super().shutdown(sockets)
