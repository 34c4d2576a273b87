"""Moves between two databases: locks the source, prepares the target and copies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from sealdesk.cli.progress import show_progress
from sealdesk.db.migrations import schema_version
from sealdesk.db.postgres import preflight
from sealdesk.server import serve
from sealdesk.settings import Settings
from sealdesk_move import copy, positions, sessions
from sealdesk_move import sqlite as sqlite_side
from sealdesk_move.copy import Progress, Source, Summary
from sealdesk_move.positions import EventSource
from sealdesk_move.postgres import PostgresTarget
from sealdesk_move.sqlite import SqliteTarget
from sealdesk_move.tables import Table, check_same

_SQLITE = "sqlite:///"


def is_sqlite(url: str) -> bool:
    return url.startswith(_SQLITE)


def path_of(url: str) -> Path:
    """The absolute path of the SQLite file that a URL names."""
    return Path(url.removeprefix(_SQLITE)).absolute()


def display(url: str) -> str:
    """The path of an SQLite file, or the URL of PostgreSQL without its password."""
    return str(path_of(url)) if is_sqlite(url) else preflight.redacted(url)


def move(source: str, target: str, settings: Settings, *, is_restart: bool) -> dict[str, Summary]:
    """Copy one database into another; return what each table holds.

    Both are given as URLs; one of them, or both, are PostgreSQL. Raises Unusable.
    """
    with ExitStack() as resources:
        if is_sqlite(source):
            path = path_of(source)
            sqlite_side.check_source(path)
            resources.enter_context(serve.lock(path))
        else:
            asyncio.run(sessions.check_source(source))
        if not is_sqlite(target):
            asyncio.run(sessions.check_target(target))
            schema_version.migrate_postgres(
                target, runtime_url=settings.database_url, worker_url=settings.worker_database_url
            )
        progress = resources.enter_context(show_progress())
        return asyncio.run(_copy(source, target, progress, is_restart=is_restart))


async def _copy(
    source_url: str, target_url: str, progress: Progress, *, is_restart: bool
) -> dict[str, Summary]:
    # The tables of SQLite are those of PostgreSQL.
    if is_sqlite(source_url):
        async with sessions.open_target(target_url) as (target, tables):
            with sqlite_side.open_source(path_of(source_url)) as file:
                file.check(tables)
                shown = await _convert(file, target, tables)
                return await copy.move(shown, target, tables, progress, is_restart=is_restart)
    async with (
        sessions.open_source(source_url) as (source, tables),
        _open_target(target_url, tables) as target,
    ):
        shown = await _convert(source, target, tables)
        return await copy.move(shown, target, tables, progress, is_restart=is_restart)


async def _convert(source: EventSource, target: EventSource, tables: tuple[Table, ...]) -> Source:
    return await positions.convert(source, tables, to_distributed=target.is_distributed)


@asynccontextmanager
async def _open_target(
    url: str, tables: tuple[Table, ...]
) -> AsyncIterator[PostgresTarget | SqliteTarget]:
    if is_sqlite(url):
        with sqlite_side.open_target(path_of(url)) as file:
            file.check(tables)
            yield file
        return
    async with sessions.open_target(url) as (target, theirs):
        check_same(tables, theirs)
        yield target
