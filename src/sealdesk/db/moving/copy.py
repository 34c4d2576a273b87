"""The move itself: read the source, copy what the target lacks, read the target, compare.

Rows go in the order of the primary key, a page a transaction, so what an interrupted move leaves
behind is the beginning of each table, and the highest key says where to go on.
"""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple, Protocol

import msgspec

from sealdesk.db.moving.tables import Row, Table, shown
from sealdesk.db.schema_version import KNOWN, Unusable

# MessagePack says what is a number, a text, bytes or nothing, and where each ends.
_encode = msgspec.msgpack.Encoder().encode


class Summary(NamedTuple):
    """What a table holds. digest: SHA-256 over all rows in the order of the key, as hex."""

    rows: int
    digest: str


class Source(Protocol):
    """An end that is read; nobody changes it meanwhile."""

    async def count(self, table: Table) -> int: ...

    def pages(self, table: Table, after: Row | None = None) -> AsyncGenerator[list[Row], None]:
        """The rows behind a key, in its order."""


class Target(Source, Protocol):
    """An end that is written. Its mark, which survives interruptions, keeps others off it."""

    async def last_key(self, table: Table) -> Row | None: ...

    async def add(self, table: Table, rows: list[Row]) -> None:
        """All of them or none. Raises Unusable for what this database cannot hold."""

    async def mark(self) -> str | None:
        """The fingerprint of the source that is being moved here."""

    async def set_mark(self, fingerprint: str) -> None: ...

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        """Delete all rows and the mark."""

    async def finish(self) -> None:
        """Take the mark away: it may be used."""


class LongPoll(Protocol):
    """Who is told how far it is."""

    def begin(self, stage: str, table: str, done: int, total: int) -> None: ...

    def advance(self, rows: int) -> None: ...


async def move(
    source: Source,
    target: Target,
    tables: tuple[Table, ...],
    watch: LongPoll,
    *,
    is_restart: bool = False,
) -> dict[str, Summary]:
    """Copy all rows and prove it, or go on with it; what each table holds.

    is_restart: throw away what an unfinished move has left. Raises Unusable, and what the ends do.
    """
    wanted = {table.name: await _summary(source, table, "read", watch) for table in tables}
    await _claim(target, tables, _fingerprint(wanted), is_restart)
    for table in tables:
        await _copy(source, target, table, wanted[table.name].rows, watch)
    for table in tables:
        if await _summary(target, table, "check", watch) != wanted[table.name]:
            raise Unusable(await _difference(source, target, table))
    await target.finish()
    return wanted


async def _summary(end: Source, table: Table, stage: str, watch: LongPoll) -> Summary:
    watch.begin(stage, table.name, 0, await end.count(table))
    digest = hashlib.sha256()
    count = 0
    async with aclosing(end.pages(table)) as pages:
        async for rows in pages:
            digest.update(b"".join(map(_encode, rows)))
            count += len(rows)
            watch.advance(len(rows))
    return Summary(count, digest.hexdigest())


def _fingerprint(summaries: dict[str, Summary]) -> str:
    return hashlib.sha256(_encode([KNOWN[-1], sorted(summaries.items())])).hexdigest()


async def _claim(
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


async def _copy(source: Source, target: Target, table: Table, total: int, watch: LongPoll) -> None:
    last = await target.last_key(table)
    watch.begin("copy", table.name, 0 if last is None else await target.count(table), total)
    async with aclosing(source.pages(table, last)) as pages:
        async for rows in pages:
            await target.add(table, rows)
            watch.advance(len(rows))


async def _difference(source: Source, target: Target, table: Table) -> str:
    """What to say of a table whose checksums differ."""
    async with aclosing(_rows(source, table)) as ours, aclosing(_rows(target, table)) as theirs:
        while True:
            pair = [await anext(ours, None), await anext(theirs, None)]
            if pair[0] != pair[1]:
                key = min(table.key_of(row) for row in pair if row is not None)
                return (
                    f"{table.name} differs between source and target, first in the row"
                    f" {shown(key)}. The target is not used like this: run the move again with"
                    " --restart, and if it happens again look at the disks"
                )
            if pair == [None, None]:
                return f"{table.name} was read differently twice; look at the disks"


async def _rows(end: Source, table: Table) -> AsyncGenerator[Row, None]:
    async with aclosing(end.pages(table)) as pages:
        async for rows in pages:
            for row in rows:
                yield row
