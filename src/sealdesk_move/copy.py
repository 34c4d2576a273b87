"""The move: read the source, copy the rows that the target lacks, read the target, compare.

Rows are copied in the order of the primary key, one page per transaction, so an interrupted move
leaves the beginning of each table, and the highest key says where to resume.
"""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple, Protocol

import msgspec

from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk_move.tables import Row, Table, display_key

# MessagePack encodes types and lengths, so different rows never have the same bytes.
_encode = msgspec.msgpack.Encoder().encode


class Summary(NamedTuple):
    """The contents of a table. digest: SHA-256 over all rows in the order of the key, as hex."""

    rows: int
    digest: str


class Source(Protocol):
    """The database that is read; nothing changes it during the move."""

    async def count(self, table: Table) -> int: ...

    def pages(self, table: Table, after: Row | None = None) -> AsyncGenerator[list[Row], None]:
        """The rows after a key, in key order."""


class Target(Source, Protocol):
    """The database that is written. Its mark survives interruptions and prevents serving it."""

    async def last_key(self, table: Table) -> Row | None: ...

    async def add(self, table: Table, rows: list[Row]) -> None:
        """Insert all rows or none. Raises Unusable for values that this database cannot hold."""

    async def mark(self) -> str | None:
        """The fingerprint of the source that is being moved here, None when there is no mark."""

    async def set_mark(self, fingerprint: str) -> None: ...

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        """Delete all rows and the mark."""

    async def finish(self) -> None:
        """Remove the mark, so that the target may be served."""


class Progress(Protocol):
    """Receives the progress of the move."""

    def begin(self, stage: str, table: str, done: int, total: int) -> None: ...

    def advance(self, rows: int) -> None: ...


async def move(
    source: Source,
    target: Target,
    tables: tuple[Table, ...],
    progress: Progress,
    *,
    is_restart: bool = False,
) -> dict[str, Summary]:
    """Copy all rows, or resume, and verify the copy; returns the summary of each table.

    is_restart: discard the rows of an unfinished move. Raises Unusable and the errors of both
    databases.
    """
    wanted = {table.name: await _summarise(source, table, "read", progress) for table in tables}
    await _mark_target(target, tables, _fingerprint(wanted), is_restart)
    for table in tables:
        await _copy(source, target, table, wanted[table.name].rows, progress)
    for table in tables:
        if await _summarise(target, table, "check", progress) != wanted[table.name]:
            raise Unusable(await _describe_difference(source, target, table))
    await target.finish()
    return wanted


async def _summarise(side: Source, table: Table, stage: str, progress: Progress) -> Summary:
    progress.begin(stage, table.name, 0, await side.count(table))
    digest = hashlib.sha256()
    count = 0
    async with aclosing(side.pages(table)) as pages:
        async for rows in pages:
            digest.update(b"".join(map(_encode, rows)))
            count += len(rows)
            progress.advance(len(rows))
    return Summary(count, digest.hexdigest())


def _fingerprint(summaries: dict[str, Summary]) -> str:
    return hashlib.sha256(_encode([KNOWN_VERSIONS[-1], sorted(summaries.items())])).hexdigest()


async def _mark_target(
    target: Target, tables: tuple[Table, ...], fingerprint: str, is_restart: bool
) -> None:
    mark = await target.mark()
    if mark is not None and is_restart:
        await target.clear(tables)
        mark = None
    if mark is None:
        filled = [table.name for table in tables if await target.last_key(table) is not None]
        if filled:
            raise Unusable(
                f"the target holds data already (in {', '.join(filled)}), and nothing was changed;"
                " name an empty database. If a move has ended there, it can be served"
            )
        await target.set_mark(fingerprint)
    elif mark != fingerprint:
        raise Unusable(
            "the target holds an unfinished move of something else: of another installation, or of"
            " this one before it changed. Nothing was changed; --restart throws it away and begins"
            " again"
        )


async def _copy(
    source: Source, target: Target, table: Table, total: int, progress: Progress
) -> None:
    last = await target.last_key(table)
    progress.begin("copy", table.name, 0 if last is None else await target.count(table), total)
    async with aclosing(source.pages(table, last)) as pages:
        async for rows in pages:
            await target.add(table, rows)
            progress.advance(len(rows))


async def _describe_difference(source: Source, target: Target, table: Table) -> str:
    """The error message for a table whose checksums differ."""
    async with (
        aclosing(_all_rows(source, table)) as ours,
        aclosing(_all_rows(target, table)) as theirs,
    ):
        while True:
            pair = [await anext(ours, None), await anext(theirs, None)]
            if pair[0] != pair[1]:
                key = display_key(min(table.key_of(row) for row in pair if row is not None))
                return (
                    f"{table.name} differs between source and target, first in the row"
                    f" {key}. The target is not used like this: run the move again with"
                    " --restart, and if it happens again look at the disks"
                )
            if pair == [None, None]:
                return f"{table.name} was read differently twice; look at the disks"


async def _all_rows(side: Source, table: Table) -> AsyncGenerator[Row, None]:
    async with aclosing(side.pages(table)) as pages:
        async for rows in pages:
            for row in rows:
                yield row
