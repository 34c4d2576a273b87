"""Copies the rows of a tenant, then again and again the rows that have changed since."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.copy import Progress, Summary
from sealdesk_move.tables import Row, Table, display_key
from sealdesk_move.tenant import rows
from sealdesk_move.tenant.rows import Tables

_KEYS_AT_ONCE = 500
_encode = msgspec.msgpack.Encoder().encode


class Pair(NamedTuple):
    """The two installations of a move, and what is moved. schema: of the move, in both."""

    source: Connection
    target: Connection
    tables: Tables
    tenant_ids: tuple[str, ...]
    schema: str


async def copy_all(pair: Pair, progress: Progress) -> None:
    """Copy what the target lacks, as the source was at one moment; continues an earlier copy."""
    async with pair.source.transaction(isolation="repeatable_read"):
        done = {r["name"] for r in await pair.target.fetch(f"SELECT name FROM {pair.schema}.done")}
        if len(done) == len(pair.tables.own):
            return
        # The rows that were copied before are brought to this moment first, as others refer to
        # them. What is recorded stays recorded, for rows that come later.
        await _apply(pair, await _limits(pair, done), is_all=False)
        for table in pair.tables.own:
            if table.name not in done:
                await _copy(pair, table, progress)


async def _limits(pair: Pair, done: set[str]) -> dict[str, Row | None]:
    """The tables of which rows are there: None where all are, else up to which key."""
    limits: dict[str, Row | None] = dict.fromkeys(done)
    for table in pair.tables.own:
        if table.name not in done:
            last = await rows.last_key(pair.target, table, pair.tenant_ids)
            if last is not None:
                limits[table.name] = last
    return limits


async def _copy(pair: Pair, table: Table, progress: Progress) -> None:
    last = await rows.last_key(pair.target, table, pair.tenant_ids)
    copied = 0 if last is None else await rows.count(pair.target, table, pair.tenant_ids)
    total = await rows.count(pair.source, table, pair.tenant_ids)
    progress.begin("copy", table.name, copied, total)
    batch = BatchSize()
    for tenant_id in pair.tenant_ids:
        if last is not None and tenant_id < str(last[0]):
            continue
        after = last if last is not None and last[0] == tenant_id else None
        while found := await rows.page(pair.source, table, tenant_id, after, batch.rows):
            batch.adapt(found)
            await rows.add(pair.target, table, found)
            progress.advance(len(found))
            after = table.key_of(found[-1])
    await pair.target.execute(f"INSERT INTO {pair.schema}.done VALUES ($1)", table.name)


async def apply_changes(pair: Pair) -> int:
    """Bring the target to the state of the source at one moment; how many rows had changed.

    Each of these rows is read back and compared. Raises Unusable if one differs.
    """
    async with pair.source.transaction(isolation="repeatable_read"):
        return await _apply(pair, dict.fromkeys(table.name for table in pair.tables.own))


async def compare_all(pair: Pair, progress: Progress) -> dict[str, Summary]:
    """Apply the changes, and compare all rows with the source at the same moment.

    Raises Unusable if a table differs.
    """
    async with pair.source.transaction(isolation="repeatable_read"):
        await _apply(pair, dict.fromkeys(table.name for table in pair.tables.own))
        summaries = {}
        for table in pair.tables.own:
            ours = await _summarise(pair.source, pair, table, progress)
            if ours != await _summarise(pair.target, pair, table, progress):
                raise Unusable(
                    f"{table.name} differs between source and target; use --abandon and move again,"
                    " and if it happens again look at the disks"
                )
            summaries[table.name] = ours
        return summaries


async def _summarise(
    connection: Connection, pair: Pair, table: Table, progress: Progress
) -> Summary:
    total = await rows.count(connection, table, pair.tenant_ids)
    progress.begin("check", table.name, 0, total)
    digest, batch, number = hashlib.sha256(), BatchSize(), 0
    for tenant_id in pair.tenant_ids:
        after: Row | None = None
        while found := await rows.page(connection, table, tenant_id, after, batch.rows):
            batch.adapt(found)
            digest.update(b"".join(map(_encode, found)))
            number += len(found)
            progress.advance(len(found))
            after = table.key_of(found[-1])
    return Summary(number, digest.hexdigest())


async def _apply(pair: Pair, limits: dict[str, Row | None], *, is_all: bool = True) -> int:
    """Apply what is recorded, in an open transaction of the source.

    limits: the tables to apply it to, and the highest key of each, None for all of them. is_all:
    what is applied need not be recorded any more.
    """
    tables = [t for t in await _changed_tables(pair) if t.name in limits]
    count, gone = 0, []
    async with pair.target.transaction():
        for table in tables:
            keys = await _list_keys(pair, table, limits[table.name])
            count += len(keys)
            gone.append((table, await _apply_table(pair, table, keys)))
        for table, keys in reversed(gone):
            for part in _parts(keys):
                await rows.delete(pair.target, table, part)
    # If the source does not commit this, the same is applied again, which changes nothing.
    if is_all:
        for table in tables:
            await pair.source.execute(f"DELETE FROM {pair.schema}.changed_{table.name}")
    return count


async def _changed_tables(pair: Pair) -> list[Table]:
    parts = " UNION ALL ".join(
        f"SELECT '{table.name}' AS name WHERE EXISTS"
        f" (SELECT 1 FROM {pair.schema}.changed_{table.name})"
        for table in pair.tables.own
    )
    changed = {row["name"] for row in await pair.source.fetch(parts)}
    return [table for table in pair.tables.own if table.name in changed]


async def _list_keys(pair: Pair, table: Table, limit: Row | None) -> list[Row]:
    key = ", ".join(table.key)
    places = ", ".join(f"${place}" for place in range(1, len(table.key) + 1))
    condition = "" if limit is None else f"WHERE ({key}) <= ({places})"
    found = await pair.source.fetch(
        f"SELECT DISTINCT {key} FROM {pair.schema}.changed_{table.name} {condition} ORDER BY {key}",
        *(limit or ()),
    )
    return list(map(tuple, found))


async def _apply_table(pair: Pair, table: Table, keys: Sequence[Row]) -> list[Row]:
    """Store the rows with these keys; the keys that the source has not any more."""
    gone: list[Row] = []
    if texts := pair.tables.unique_texts.get(table.name):
        for part in _parts(keys):
            await rows.free_texts(pair.target, table, texts, part)
    for part in _parts(keys):
        found = await rows.with_keys(pair.source, table, part)
        if found:
            await rows.store(pair.target, table, found)
            stored = await rows.with_keys(pair.target, table, list(map(table.key_of, found)))
            if stored != found:
                odd = next(row for row in found if row not in stored)
                raise Unusable(
                    f"{table.name}: the row {display_key(table.key_of(odd))} is not at the target"
                    " as it was sent; look at the disks"
                )
        present = {table.key_of(row) for row in found}
        gone += [key for key in part if key not in present]
    return gone


def _parts(keys: Sequence[Row]) -> list[Sequence[Row]]:
    return [keys[at : at + _KEYS_AT_ONCE] for at in range(0, len(keys), _KEYS_AT_ONCE)]
