"""The server process: its lock, its socket, and uvicorn with our HTTP protocol."""

import asyncio
import contextlib
import ctypes
import fcntl
import gc
import logging
import signal
import socket
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, cast

import uvicorn
import uvloop

from sealdesk.errors import ConfigurationError
from sealdesk.server import draining, http_protocol
from sealdesk.server.app import Asgi
from sealdesk.server.received import ReceivedBytes
from sealdesk.server.turns import Turns
from sealdesk.settings import Settings
from sealdesk.state import Lifetime

BACKLOG = 2048
# Of each connection. The kernel would take 2.5 MB of a response that the client does not read
# (loopback, Linux 6.18), which no budget sees.
_SEND_BUFFER_BYTES = 256 * 1024
# glibc (mallopt, malloc.h): what is larger is mapped by itself; so much that is free is kept.
_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES = -3, 4 * 1024 * 1024
_TRIM_THRESHOLD, _TRIM_THRESHOLD_BYTES = -1, 16 * 1024 * 1024

log = logging.getLogger("sealdesk.serve")


class StartRefused(ConfigurationError):
    """The server cannot start; the text says what to do."""


def check(settings: Settings) -> None:
    """Raises StartRefused for several processes that would not share their rate limits."""
    expected = settings.expected_processes
    if expected > 1 and not settings.redis_url and not settings.per_process_limits:
        raise StartRefused(
            f"{expected} processes without Redis would allow each key {expected} times its rate"
            " limit. Set SEALDESK_REDIS_URL, or SEALDESK_PER_PROCESS_LIMITS=accept"
        )


def lock(database_path: Path) -> IO[str]:
    """Lock an SQLite database for one server process, until it exits. Raises StartRefused."""
    handle = _lock_file(database_path).open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.close()
        raise StartRefused(
            f"another `sealdesk serve` uses {database_path}; SQLite takes one serving process."
            " Stop it, or name another SEALDESK_DATA_DIR"
        ) from error
    return handle


def is_serving(database_path: Path) -> bool:
    """Whether a process serves this SQLite database."""
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
    # Next to the file itself, so that all symbolic links to it share one lock.
    path = database_path.resolve()
    return path.with_name(f"{path.name}.serve-lock")


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket. Raises StartRefused."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return _listen(socket.socket(family, socket.SOCK_STREAM), (host, port))
    except OSError as error:
        raise StartRefused(
            f"cannot listen on {host}:{port}: {error.strerror or error};"
            " choose another --host or --port"
        ) from error


def _listen(sock: socket.socket, address: tuple[str, int]) -> socket.socket:
    with contextlib.ExitStack() as stack:
        stack.callback(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        sock.bind(address)
        # Now, not when the server starts: two processes can bind a port while neither listens.
        sock.listen(BACKLOG)
        stack.pop_all()
    return sock


def serve(
    app: Asgi,
    lifetime: Lifetime,
    received: ReceivedBytes,
    sock: socket.socket,
    on_ready: Callable[[], None] = lambda: None,
    notice_s: int = 0,
) -> bool:
    """Serve until SIGTERM, SIGINT or SIGHUP, then drain; whether every open request was answered.

    The process exits at most 10 s after the signal, even when it hangs. notice_s: how long it
    accepts requests after the signal while `/readyz` reports 503.
    """
    server = make_server(app, lifetime, received, on_ready, notice_s)

    def end(number: int, frame: FrameType | None) -> None:
        if not server.should_exit:
            signal.alarm(draining.DRAIN_S)
        server.handle_exit(number, frame)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends it at once

    # A closed terminal and some supervisors send SIGHUP, which would cut responses off.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    sys.setswitchinterval(0.0005)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve(sockets=[sock]))
    return server.aborted_count == 0


def make_server(
    app: Asgi,
    lifetime: Lifetime,
    received: ReceivedBytes,
    on_ready: Callable[[], None] = lambda: None,
    notice_s: int = 0,
) -> "Server":
    """uvicorn with our protocol and limits, not running yet."""
    protocol = partial(http_protocol.Protocol, received=received, turns=Turns())
    config = uvicorn.Config(
        app,
        http=cast("type[http_protocol.Protocol]", protocol),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
    )
    return Server(config, lifetime, on_ready, notice_s)


def _keep_freed_memory() -> None:
    """Use memory again that large bodies have freed, where malloc is glibc's.

    Otherwise the kernel clears new pages for each: parsing JSON of 900 kB takes 1.6 ms of the event
    loop instead of 0.5 (2026-12-01).
    """
    with contextlib.suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
        mallopt(_TRIM_THRESHOLD, _TRIM_THRESHOLD_BYTES)


class Server(uvicorn.Server):
    """uvicorn's server, with request timeouts and a drain that loses no request.

    aborted_count: requests that had begun and were not answered before the deadline.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        lifetime: Lifetime,
        on_ready: Callable[[], None],
        notice_s: int,
    ) -> None:
        super().__init__(config)
        self.aborted_count = 0
        self._lifetime = lifetime
        self._on_ready = on_ready
        self._notice_s = notice_s

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to `serve`: uvicorn would raise them again after the shutdown."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Here, because a load balancer may ask before uvicorn checks should_exit the next time.
        self._lifetime.is_draining = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        _keep_freed_memory()
        # Loaded modules stay in memory: the garbage collector need not scan them again.
        gc.collect()
        gc.freeze()
        await super().startup(sockets)
        self._sweep = asyncio.create_task(http_protocol.sweep(self.server_state.connections))
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain. uvicorn's own shutdown loses requests: it resets connections in the backlog and
        closes those whose request it has not read yet (uvicorn#2315, 0.54)."""
        self._lifetime.is_draining = True
        connections = cast("set[http_protocol.Protocol]", self.server_state.connections)
        tasks = self.server_state.tasks
        log.info("draining", extra={"connections": len(connections)})
        try:
            async with asyncio.timeout(draining.ABORT_AFTER_S):
                await asyncio.sleep(self._notice_s)
                for sock in sockets or []:
                    draining.drop_new_handshakes(sock)
                await draining.close_listeners(self.servers, sockets or [])
                for end in self._lifetime.on_drain:
                    end()
                await draining.wait_until_closed(connections, tasks)
        except TimeoutError:
            self.aborted_count = await draining.abort(connections, tasks)
            log.warning("requests aborted", extra={"count": self.aborted_count})
        self._sweep.cancel()
        await self.lifespan.shutdown()
