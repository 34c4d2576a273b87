"""The `sealdesk` command; the only reader of the environment."""

import os
import sys

import typer

from sealdesk import server
from sealdesk.app import compose
from sealdesk.db import version
from sealdesk.settings import from_env, make_private_dir

cli = typer.Typer(no_args_is_help=True)


@cli.command()
def serve(host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve."""
    os.umask(0o077)
    settings = from_env(os.environ)
    make_private_dir(settings.data_dir)
    lock = server.lock(settings.data_dir, settings.database_path)
    version.ensure_current(settings.database_path)
    sock = server.bind(host, port)
    app, shared = compose(settings)
    server.serve(app, shared.lifetime, sock)
    lock.close()


@cli.command()
def dummy() -> None:
    """Nothing."""


def main() -> None:
    sys.exit(cli())
