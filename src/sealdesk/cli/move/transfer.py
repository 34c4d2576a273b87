"""The two directions of a move: locks the source, prepares the target and copies."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from sealdesk.cli.move.progress import show_progress
from sealdesk.db import schema_version
from sealdesk.db.moving import copy
from sealdesk.db.moving import postgres as postgres_side
from sealdesk.db.moving import sqlite as sqlite_side
from sealdesk.db.moving.copy import Progress, Summary
from sealdesk.server import serve
from sealdesk.settings import Settings


def move_to_postgres(
    path: Path, url: str, settings: Settings, *, is_restart: bool
) -> dict[str, Summary]:
    """Copy an SQLite file into a PostgreSQL database; return what each table holds.

    Raises Unusable.
    """
    sqlite_side.check_source(path)
    with ExitStack() as resources:
        resources.enter_context(serve.lock(path))
        asyncio.run(postgres_side.check_target(url))
        schema_version.migrate_postgres(
            url, runtime_url=settings.database_url, worker_url=settings.worker_database_url
        )
        progress = resources.enter_context(show_progress())
        return asyncio.run(_copy_to_postgres(path, url, progress, is_restart=is_restart))


async def _copy_to_postgres(
    path: Path, url: str, progress: Progress, *, is_restart: bool
) -> dict[str, Summary]:
    async with postgres_side.open_target(url) as (target, tables):
        with sqlite_side.open_source(path) as source:
            source.check(tables)
            return await copy.move(source, target, tables, progress, is_restart=is_restart)


def move_to_sqlite(url: str, path: Path, *, is_restart: bool) -> dict[str, Summary]:
    """Copy a PostgreSQL database into a new SQLite file; return what each table holds.

    Raises Unusable.
    """
    with show_progress() as progress:
        return asyncio.run(_copy_to_sqlite(url, path, progress, is_restart=is_restart))


async def _copy_to_sqlite(
    url: str, path: Path, progress: Progress, *, is_restart: bool
) -> dict[str, Summary]:
    async with postgres_side.open_source(url) as (source, tables):
        with sqlite_side.open_target(path) as target:
            target.check(tables)
            return await copy.move(source, target, tables, progress, is_restart=is_restart)
