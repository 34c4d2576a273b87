"""`sealdesk serve`."""

import sys
from functools import partial
from typing import Annotated

import typer

HOST = "127.0.0.1"
PORT = 8000
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of IPv4.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]


def serve(host: Host = HOST, port: Port = PORT) -> None:
    """Serve the API until SIGTERM or Ctrl-C.

    Requests that have begun are answered before it ends. A new installation is set up first.
    Logs are lines of JSON on stderr.
    """
    # The logs come first: they keep structlog from bringing in what the server does not need.
    from sealdesk import logs  # isort: split

    from sealdesk import server
    from sealdesk.admin import database
    from sealdesk.app import compose

    settings = database.prepared()
    logs.configure(settings.log_level)
    with server.lock(settings.database_path), server.bind(host, port) as sock:
        app, shared = compose(settings)
        port = sock.getsockname()[1]
        server.serve(app, shared.lifetime, sock, partial(_greet, url_of(host, port)))


def url_of(host: str, port: int) -> str:
    """The address for somebody on this machine."""
    reachable = {"0.0.0.0": HOST, "::": "[::1]"}.get(host, host)  # noqa: S104
    return f"http://{f'[{reachable}]' if ':' in reachable.strip('[]') else reachable}:{port}"


def _greet(url: str) -> None:
    if sys.stdout.isatty():
        print(f"Sealdesk serves {url} · docs at {url}/docs · Ctrl-C stops it", flush=True)
    else:
        import structlog

        structlog.get_logger("sealdesk.serve").info("serving", url=url, docs=f"{url}/docs")
