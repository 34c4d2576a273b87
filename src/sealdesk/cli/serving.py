"""`sealdesk serve` and `sealdesk worker`: the two long-running processes."""

import contextlib
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings

if TYPE_CHECKING:
    from sealdesk.state import AppState

HOST = "127.0.0.1"
PORT = 8000
Host = Annotated[
    str, typer.Option(help="Address to listen on; 0.0.0.0 listens on every IPv4 address.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]


def serve(host: Host = HOST, port: Port = PORT) -> None:
    """Serve the API until SIGTERM or Ctrl-C.

    On SIGTERM or Ctrl-C the server drains: /readyz returns 503, requests in progress are finished,
    and the process ends within 10 s, with exit code 0 if every request got its response, else 1.
    A second Ctrl-C ends it at once.

    A new installation is set up first. Logs are JSON lines on stderr.
    """
    # The server takes 200 ms to import, which no other command needs.
    from sealdesk.cli import installation, master_key
    from sealdesk.server import serve
    from sealdesk.telemetry import descriptors, logs

    settings = installation.prepare_settings()
    serve.check(settings)
    master_key.ensure_fits(settings)
    installation.ensure_single_process(settings)
    logs.configure(settings.log_level)
    descriptors.raise_limit()
    with contextlib.ExitStack() as resources:
        if not settings.database_url:
            resources.enter_context(serve.lock(settings.database_path))
        sock = resources.enter_context(serve.bind(host, port))
        announce = partial(_announce, local_url(host, sock.getsockname()[1]))
        receiving = _receiving(settings, resources)
        epoch = installation.read_epoch(settings)
        code = _serve(settings, sock, announce, epoch, receiving)
    raise typer.Exit(code)


def _receiving(
    settings: Settings, resources: contextlib.ExitStack
) -> "Callable[[AppState], AbstractAsyncContextManager[None]] | None":
    """How SQLite's process receives e-mail; on PostgreSQL `sealdesk mail` does."""
    if settings.database_url:
        return None
    # With the server, as above.
    from sealdesk.mail.process import receiving

    if not settings.mail.host:
        return partial(receiving, sock=None)
    # With aiosmtpd 40 ms to import, which few installations need.
    from sealdesk.mail.receiving import listening

    return partial(receiving, sock=resources.enter_context(listening.bind(settings.mail)))


def _serve(
    settings: Settings,
    sock: socket.socket,
    announce: Callable[[], None],
    epoch: int,
    receiving: "Callable[[AppState], AbstractAsyncContextManager[None]] | None",
) -> int:
    # As above: 200 ms.
    from sealdesk.server import serve
    from sealdesk.server.app import compose
    from sealdesk.server.received import ReceivedBytes

    app, state = compose(settings, epoch=epoch, receiving=receiving)
    received = ReceivedBytes(state.limits.received, settings.trusted_proxies)
    has_drained = serve.serve(
        app, state.lifetime, received, sock, announce, settings.drain_notice_s
    )
    return 0 if has_drained else 1


def local_url(host: str, port: int) -> str:
    """Return the URL at which a client on this machine reaches the server."""
    address = {"0.0.0.0": HOST, "::": "[::1]"}.get(host, host)  # noqa: S104 - compared only
    return f"http://{f'[{address}]' if ':' in address.strip('[]') else address}:{port}"


def _announce(url: str) -> None:
    if sys.stdout.isatty():
        print(f"Sealdesk is serving {url} · docs at {url}/docs · Ctrl-C stops it")
    else:
        _log("serving", url=url, docs=f"{url}/docs")


def worker() -> None:
    """Do the background work of an installation on PostgreSQL.

    Assigns events their positions in the feed, delivers webhooks, indexes for search and deletes
    expired rows, until SIGTERM or Ctrl-C. Connects as the role of SEALDESK_WORKER_DATABASE_URL.
    Several workers share the work. On SQLite, `serve` does the background work.

    Logs are JSON lines on stderr.
    """
    # The worker takes 80 ms to import, which no other command needs.
    from sealdesk.cli import installation
    from sealdesk.telemetry import descriptors, logs
    from sealdesk.worker import loop

    settings = installation.postgres_settings("worker", "does the background work")
    if not settings.worker_database_url:
        raise ConfigurationError(
            "SEALDESK_WORKER_DATABASE_URL is missing: the role that serves may not delete expired"
            " rows. Set it to the URL with the worker's role, which `sealdesk migrate` creates"
        )
    installation.check_postgres(settings, settings.worker_database_url)
    logs.configure(settings.log_level)
    descriptors.raise_limit()
    loop.serve(settings, _announce_worker)


def _announce_worker() -> None:
    if sys.stdout.isatty():
        print("Sealdesk is doing the background work · Ctrl-C stops it")
    else:
        _log("working")


def _log(event: str, **fields: object) -> None:
    logging.getLogger("sealdesk.serve").info(event, extra=fields)
