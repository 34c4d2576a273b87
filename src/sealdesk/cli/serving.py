"""`sealdesk serve` and `sealdesk worker`."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env

if TYPE_CHECKING:
    from sealdesk.telemetry.shared_memory import SharedMemory

HOST = "127.0.0.1"
PORT = 8000
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of IPv4.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
Workers = Annotated[
    int, typer.Option(min=1, max=256, help="Processes that serve; several need PostgreSQL.")
]


def serve(host: Host = HOST, port: Port = PORT, workers: Workers = 1) -> None:
    """Serve the API until SIGTERM or Ctrl-C.

    Then /readyz says 503, requests that have begun are answered, and within 10 s it ends: with
    exit code 0 if all were answered, else 1. A second Ctrl-C ends it at once.

    A new installation is set up first. Several workers share the port, and rate limits through
    SEALDESK_REDIS_URL; one that dies is replaced. Logs are lines of JSON on stderr.
    """
    # The logs come first: they keep structlog from bringing in what the server does not need.
    from sealdesk.telemetry import logs  # isort: split

    from sealdesk.cli import installation
    from sealdesk.server import serve

    settings = serve.checked(installation.prepared(), workers)
    installation.ensure_alone(settings)
    logs.configure(settings.log_level)
    with contextlib.ExitStack() as held:
        if not settings.database_url:
            held.enter_context(serve.lock(settings.database_path))
        if workers == 1:
            sock = held.enter_context(serve.bind(host, port))
            greet = partial(_greet, url_of(host, sock.getsockname()[1]), workers)
            code = _serve(settings, sock, greet)
        else:
            sockets = serve.bind_each(host, port, workers)
            greet = partial(_greet, url_of(host, sockets[0].getsockname()[1]), workers)
            code = _serve_with(settings, sockets, greet)
    raise typer.Exit(code)


def _serve_with(settings: Settings, sockets: list[socket.socket], greet: Callable[[], None]) -> int:
    from sealdesk.server.supervisor import Parent
    from sealdesk.telemetry.shared_memory import SharedMemory

    if settings.redis_url:
        # What is loaded before the fork, the workers share: here 13 MiB each (2026-11).
        import sealdesk.rate_limits.redis_limiter  # noqa: F401

    work = partial(_work, settings, sockets, SharedMemory(len(sockets)))
    return Parent(sockets, work, greet).run(settings.drain_notice_s)


def _work(
    settings: Settings,
    sockets: list[socket.socket],
    tally: "SharedMemory",
    number: int,
    on_ready: Callable[[], None],
) -> int:
    """Serve as one of several, on a socket of its own."""
    from sealdesk import cli
    from sealdesk.server import serve
    from sealdesk.server.app import compose

    def begin() -> None:
        state.metrics.keep_written()
        on_ready()

    try:
        app, state = compose(settings)
        state.metrics.join(tally, number)
        ending = serve.Ending(settings.drain_notice_s, is_alone=False)
        has_drained = serve.serve(app, state.lifetime, sockets[number - 1], begin, ending)
        state.metrics.write_down()
        return 0 if has_drained else 1
    except Exception as error:
        return cli.told(error)


def _serve(settings: Settings, sock: socket.socket, greet: Callable[[], None]) -> int:
    from sealdesk.server import serve
    from sealdesk.server.app import compose

    app, state = compose(settings)
    ending = serve.Ending(settings.drain_notice_s)
    return 0 if serve.serve(app, state.lifetime, sock, greet, ending) else 1


def url_of(host: str, port: int) -> str:
    """The address for somebody on this machine."""
    # Looked up, not bound to.
    reachable = {"0.0.0.0": HOST, "::": "[::1]"}.get(host, host)  # noqa: S104
    return f"http://{f'[{reachable}]' if ':' in reachable.strip('[]') else reachable}:{port}"


def _greet(url: str, workers: int) -> None:
    if sys.stdout.isatty():
        with_workers = f" with {workers} workers" if workers > 1 else ""
        print(f"Sealdesk serves {url}{with_workers} · docs at {url}/docs · Ctrl-C stops it")
    else:
        _log("serving", url=url, docs=f"{url}/docs", workers=workers)


def worker() -> None:
    """Do the background work on PostgreSQL, beside `serve`.

    It gives events their place in the feed, sends webhooks, and deletes what is kept only for a
    time, until SIGTERM or Ctrl-C, as the role of SEALDESK_WORKER_DATABASE_URL. Several share the
    work. On SQLite, `serve` does it itself.

    Logs are lines of JSON on stderr.
    """
    from sealdesk.telemetry import logs  # isort: split

    from sealdesk.cli import installation
    from sealdesk.worker import background_loop as background

    settings = _settings_of_worker()
    installation.check_server(settings, settings.worker_database_url)
    logs.configure(settings.log_level)
    background.serve(settings, _greet_worker)


def _settings_of_worker() -> Settings:
    # Without keys at first: on SQLite they would be made, for a command that then refuses.
    settings = from_env(os.environ, needs_keys=False)
    if not settings.database_url:
        raise ConfigurationError(
            "on SQLite `sealdesk serve` does the background work itself; `sealdesk worker` is for"
            " PostgreSQL, named by SEALDESK_DATABASE_URL"
        )
    if not settings.worker_database_url:
        raise ConfigurationError(
            "SEALDESK_WORKER_DATABASE_URL is missing: the role that serves may not delete what has"
            " had its time. Name the worker's role; `sealdesk migrate` makes it"
        )
    return from_env(os.environ)


def _greet_worker() -> None:
    if sys.stdout.isatty():
        print("Sealdesk does the background work · Ctrl-C stops it")
    else:
        _log("working")


def _log(event: str, **told: object) -> None:
    import structlog

    structlog.get_logger("sealdesk.serve").info(event, **told)
