"""The serving process: one lock, one socket, uvicorn with our protocol."""

import asyncio
import contextlib
import fcntl
import gc
import signal
import socket
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import IO, NamedTuple, cast

import msgspec
import structlog
import uvicorn
import uvloop

from sealdesk.errors import ConfigurationError
from sealdesk.server import draining, http_protocol
from sealdesk.server.app import Asgi
from sealdesk.settings import Settings
from sealdesk.state import Lifetime

BACKLOG = 2048
# Above what proxies keep idle connections for (nginx 60 s): the one who sends should be the one
# who closes, or a request meets the closing.
KEEP_ALIVE_S = 75
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger("sealdesk.serve")


class Ending(NamedTuple):
    """How a process ends.

    notice_s: how long it goes on taking requests while it says that it is not ready.
    is_alone: no parent sees to the signals and to the door.
    """

    notice_s: int = 0
    is_alone: bool = True


ALONE = Ending()


class Refused(ConfigurationError):
    """The server cannot start; the text says what to do."""


def checked(settings: Settings, worker_count: int) -> Settings:
    """The settings for so many processes of this command. Raises Refused."""
    if worker_count > 1 and not settings.database_url:
        raise Refused(
            f"--workers {worker_count} needs PostgreSQL: an SQLite database is served by one"
            " process. Leave --workers away, or set SEALDESK_DATABASE_URL to postgresql://…"
        )
    expected = max(settings.expected_processes, worker_count)
    if expected > 1 and not settings.redis_url and settings.per_process_limits != "accept":
        raise Refused(
            f"{expected} processes without Redis would allow each key {expected} times its rate"
            " limit. Set SEALDESK_REDIS_URL, or SEALDESK_PER_PROCESS_LIMITS=accept"
        )
    return msgspec.structs.replace(settings, expected_processes=expected)


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


def bind_each(host: str, port: int, count: int) -> list[socket.socket]:
    """So many sockets on one port, among which the kernel spreads the connections. Raises Refused.

    On one socket for all, whichever process came first took all connections that waited: 32 of a
    proxy went to one of two.
    """
    with bind(host, port) as alone:  # refused when another process has the port already
        address = alone.getsockname()
    try:
        return [
            _listening(socket.socket(alone.family), address, is_shared=True) for _ in range(count)
        ]
    except OSError as error:
        raise Refused(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def _listening(
    sock: socket.socket, address: tuple[str, int], *, is_shared: bool = False
) -> socket.socket:
    with contextlib.ExitStack() as stack:
        stack.callback(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
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
    ending: Ending = ALONE,
) -> bool:
    """Serve until SIGTERM or SIGINT, then answer what has begun; whether all of it was answered.

    Whatever may hang, the process is gone 10 s after the signal.
    """
    server = make_server(app, lifetime, on_ready, ending)

    def end(number: int, frame: FrameType | None) -> None:
        if not server.should_exit:
            signal.alarm(draining.DRAIN_S)
        server.handle_exit(number, frame)
        if ending.is_alone:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C waits for nobody

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end if ending.is_alone else signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve(sockets=[sock]))
    return server.cut_count == 0


def make_server(
    app: Asgi,
    lifetime: Lifetime,
    on_ready: Callable[[], None] = lambda: None,
    ending: Ending = ALONE,
) -> "Server":
    """uvicorn with our protocol and caps, not yet running."""
    config = uvicorn.Config(
        app,
        http=http_protocol.Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    return Server(config, lifetime, on_ready, ending)


class Server(uvicorn.Server):
    """uvicorn's, which sweeps slow connections and loses nobody when it ends.

    cut_count: requests that had begun and were not answered in time.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        lifetime: Lifetime,
        on_ready: Callable[[], None],
        ending: Ending,
    ) -> None:
        super().__init__(config)
        self.cut_count = 0
        self._lifetime = lifetime
        self._on_ready = on_ready
        self._ending = ending

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals to `serve`: uvicorn would raise them again at the end."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # At once: until uvicorn looks the next time, a load balancer may have asked.
        self._lifetime.is_draining = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # What was loaded stays: the collector need not walk it again and again.
        gc.collect()
        gc.freeze()
        await super().startup(sockets)
        self._sweep = asyncio.create_task(http_protocol.sweep(self.server_state.connections))
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain. uvicorn's own loses requests: it resets whoever is in the backlog, and closes
        connections on which a request is on its way (uvicorn#2315, 0.54)."""
        self._lifetime.is_draining = True
        connections = cast("set[http_protocol.Protocol]", self.server_state.connections)
        tasks = self.server_state.tasks
        log.info("ending", connections=len(connections))
        try:
            async with asyncio.timeout(draining.CUT_AFTER_S):
                await asyncio.sleep(self._ending.notice_s)
                if self._ending.is_alone:
                    for sock in sockets or []:
                        draining.turn_away(sock)
                await draining.close_door(self.servers, sockets or [])
                await draining.wait_for_all(connections, tasks)
        except TimeoutError:
            self.cut_count = await draining.cut(connections, tasks)
            log.warning("requests were cut off", count=self.cut_count)
        self._sweep.cancel()
        await self.lifespan.shutdown()
