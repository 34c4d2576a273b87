"""`sealdesk move`: an installation from SQLite to PostgreSQL, and back."""

import asyncio
import os
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealdesk.cli.output import table as print_table
from sealdesk.cli.progress import shown_progress
from sealdesk.db import schema_version
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env

if TYPE_CHECKING:
    from sealdesk.db.moving.copy import Progress, Summary

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

EXAMPLES = """\b
Examples:
  sealdesk move --to postgresql://owner@db.example.com/sealdesk
  sealdesk move --to sqlite:///var/back.db --from postgresql://owner@db.example.com/sealdesk

\b
Leave the password out of the URLs, since other users of the machine can see arguments: it is
taken from PGPASSWORD, or from ~/.pgpass."""
_FROM = "What to move, as for --to; else the file in the data directory, or the owner's database."
To = Annotated[str, typer.Option(help="postgresql://owner@host/database, or sqlite:///new/file.")]
From = Annotated[str, typer.Option("--from", help=_FROM)]
Restart = Annotated[
    bool, typer.Option("--restart", help="Throw away what an unfinished move has left.")
]


def move(to: To, source: From = "", restart: Restart = False) -> None:
    """Move an installation from SQLite into PostgreSQL, or back.

    Copies every row into an empty database, which is migrated first, then reads it back and
    compares. Keys, secrets, log-ins and cursors go on working with the same SEALDESK_MASTER_KEY
    and SEALDESK_JWT_SECRET. Nothing may be served meanwhile; the source is left as it is.

    PostgreSQL is named as the owner of the tables. With SEALDESK_DATABASE_URL and
    SEALDESK_WORKER_DATABASE_URL set, their roles are made too. After an interruption, give the
    same command again: it goes on where it stopped.
    """
    settings = from_env(os.environ, needs_keys=False)
    is_up = _is_server("--to", to)
    source = source or (f"{_SQLITE}{settings.database_path}" if is_up else _owner_url(settings))
    if _is_server("--from", source) == is_up:
        raise typer.BadParameter(
            "a move is between SQLite and PostgreSQL; name the other kind with --to or --from"
        )
    try:
        held = _move_up(source, to, settings, restart) if is_up else _move_back(source, to, restart)
    except KeyboardInterrupt:
        print("sealdesk: the same command goes on where this one stopped", file=sys.stderr)
        raise
    rows = [(name, f"{held[name].rows:,}", "same") for name in sorted(held)]
    print_table(("TABLE", "ROWS", "CHECKSUM"), rows)
    _tell_next_up(settings, _path_in(source)) if is_up else _tell_next_back(_path_in(to))


def _is_server(option: str, url: str) -> bool:
    """Raises typer.BadParameter, which does not show the URL: it may hold a password."""
    is_server = url.startswith(_POSTGRESQL)
    if not is_server and (not url.startswith(_SQLITE) or url == _SQLITE):
        raise typer.BadParameter(
            f"{option} must be postgresql://owner@host/database or sqlite:///path"
        )
    return is_server


def _owner_url(settings: Settings) -> str:
    if not settings.owner_database_url:
        raise ConfigurationError(
            "what to move? Name it with --from, or set SEALDESK_OWNER_DATABASE_URL"
        )
    return settings.owner_database_url


def _path_in(url: str) -> Path:
    return Path(url.removeprefix(_SQLITE)).absolute()


def _move_up(source: str, to: str, settings: Settings, is_restart: bool) -> "dict[str, Summary]":
    from sealdesk.db.moving import postgres as postgres_side
    from sealdesk.db.moving import sqlite as sqlite_side
    from sealdesk.server import serve

    path = _path_in(source)
    sqlite_side.check_source(path)
    with ExitStack() as held:
        held.enter_context(serve.lock(path))
        asyncio.run(postgres_side.check_target(to))
        schema_version.migrate_postgres(
            to, runtime_url=settings.database_url, worker_url=settings.worker_database_url
        )
        watch = held.enter_context(shown_progress())
        return asyncio.run(_up(path, to, watch, is_restart))


async def _up(path: Path, to: str, watch: "Progress", is_restart: bool) -> "dict[str, Summary]":
    from sealdesk.db.moving import copy
    from sealdesk.db.moving import postgres as postgres_side
    from sealdesk.db.moving import sqlite as sqlite_side

    async with postgres_side.open_target(to) as (target, tables):
        with sqlite_side.open_source(path) as source:
            source.check(tables)
            return await copy.move(source, target, tables, watch, is_restart=is_restart)


def _move_back(source: str, to: str, is_restart: bool) -> "dict[str, Summary]":
    with shown_progress() as watch:
        return asyncio.run(_back(source, _path_in(to), watch, is_restart))


async def _back(
    source: str, path: Path, watch: "Progress", is_restart: bool
) -> "dict[str, Summary]":
    from sealdesk.db.moving import copy
    from sealdesk.db.moving import postgres as postgres_side
    from sealdesk.db.moving import sqlite as sqlite_side

    async with postgres_side.open_source(source) as (origin, tables):
        with sqlite_side.open_target(path) as target:
            target.check(tables)
            return await copy.move(origin, target, tables, watch, is_restart=is_restart)


def _tell_next_up(settings: Settings, source: Path) -> None:
    print("\nAll rows are there. To serve them, set on every host:\n")
    if not settings.database_url:
        print("  SEALDESK_DATABASE_URL         the role that serves, which owns nothing")
        print("  SEALDESK_WORKER_DATABASE_URL  the role of sealdesk worker")
    for name, file in (("SEALDESK_MASTER_KEY", "master.key"), ("SEALDESK_JWT_SECRET", "jwt.key")):
        path = settings.data_dir / file
        is_kept = path.exists() and not os.environ.get(name)
        print(f'  {name}="$(cat {shlex.quote(str(path))})"' if is_kept else f"  {name} as before")
    if not settings.database_url:
        print("\nThen run `sealdesk migrate` with SEALDESK_OWNER_DATABASE_URL: it makes the roles.")
    print("\nSee with `sealdesk doctor`, then run `sealdesk serve` and `sealdesk worker`.")
    print(f"Keep {source} until you trust it; nothing was changed there.")


def _tell_next_back(path: Path) -> None:
    print("\nAll rows are there. To serve them, set:\n")
    print(f"  SEALDESK_DATABASE_URL={_SQLITE}{shlex.quote(str(path))}")
    print("  SEALDESK_MASTER_KEY and SEALDESK_JWT_SECRET as before")
    print("\nSee with `sealdesk doctor`, then run `sealdesk serve`. It is one process again.")
