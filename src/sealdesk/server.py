"""The serving process: one lock, one socket, uvicorn with our protocol."""

import asyncio
import contextlib
import fcntl
import gc
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import IO

import uvicorn
import uvloop

from sealdesk.app import Asgi
from sealdesk.errors import Unfit
from sealdesk.shared import Lifetime
from sealdesk.web import http

DRAIN_S = 10
BACKLOG = 2048


class Refused(Unfit):
    """The server cannot start; the text says what to do."""


def lock(database_path: Path) -> IO[str]:
    """Be the one serving process of a database; the lock ends with the process. Raises Refused."""
    handle = _lock_file(database_path).open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.close()
        raise Refused(
            f"another `sealdesk serve` uses {database_path}; SQLite takes one serving process."
            " Stop it, or name another SEALDESK_DATA_DIR"
        ) from error
    return handle


def is_serving(database_path: Path) -> bool:
    """Whether a process serves this database now."""
    path = _lock_file(database_path)
    try:
        with path.open("r") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _lock_file(database_path: Path) -> Path:
    """Beside the database itself, wherever links to it stand."""
    path = database_path.resolve()
    return path.with_name(f"{path.name}.serve-lock")


def bind(host: str, port: int) -> socket.socket:
    """The listening socket. Raises Refused when it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return _listening(socket.socket(family, socket.SOCK_STREAM), (host, port))
    except OSError as error:
        raise Refused(
            f"cannot listen on {host}:{port}: {error.strerror or error};"
            " choose another --host or --port"
        ) from error


def _listening(sock: socket.socket, address: tuple[str, int]) -> socket.socket:
    with contextlib.ExitStack() as stack:
        stack.callback(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        # Now rather than later: another process may have the port too, as long as nobody listens.
        sock.listen(BACKLOG)
        stack.pop_all()
    return sock


def serve(
    app: Asgi,
    lifetime: Lifetime,
    sock: socket.socket,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then answer what has begun for up to 10 s."""
    server = make_server(app, lifetime, on_ready)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Once it has stopped, uvicorn raises the signal again; there is nothing left to end then.
        signal.signal(number, server.handle_exit)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve(sockets=[sock]))


def make_server(
    app: Asgi, lifetime: Lifetime, on_ready: Callable[[], None] = lambda: None
) -> uvicorn.Server:
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
        backlog=BACKLOG,
        timeout_graceful_shutdown=DRAIN_S,
    )
    return _Server(config, lifetime, on_ready)


class _Server(uvicorn.Server):
    """uvicorn's, which sweeps slow connections and tells when it is on its way out."""

    def __init__(
        self, config: uvicorn.Config, lifetime: Lifetime, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._lifetime = lifetime
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # What was loaded stays: the collector need not walk it again and again.
        gc.collect()
        gc.freeze()
        await super().startup(sockets)
        self._sweep = asyncio.create_task(http.sweep(self.server_state.connections))
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._lifetime.is_ending = True
        self._sweep.cancel()
        await super().shutdown(sockets)
