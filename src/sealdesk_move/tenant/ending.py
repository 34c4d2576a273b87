"""Opens the tenant at the target, closes it at the source, and deletes its rows."""

from collections.abc import Sequence

import asyncpg
from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.records.identities import ADDRESSES, IDENTITIES
from sealdesk_move.copy import Progress
from sealdesk_move.tenant import fence, marks, rows
from sealdesk_move.tenant.copying import Pair
from sealdesk_move.tenant.marks import Marks
from sealdesk_move.tenant.rows import Tables

_ROWS_AT_ONCE = 2000
# A session that was ended at the source is known there alone, so all of them end.
_END_SESSIONS = "UPDATE users SET token_version = token_version + 1 WHERE tenant_id = ANY ($1)"
# The source may have computed them with another version of Python.
_FORGET_IDENTITIES = f"DELETE FROM installation_notes WHERE name IN ('{IDENTITIES}', '{ADDRESSES}')"
_GLOBAL = (*rows.DIRECTORIES, "reset_links")


async def open_at_target(pair: Pair, target: Marks) -> None:
    """Make the tenant usable at the target, in one transaction.

    Raises Unusable, when nothing has changed, if another tenant has one of its names.
    """
    try:
        async with pair.target.transaction():
            await copy_tenants(pair)  # they may have another name by now
            for table in pair.tables.directories:
                found = await rows.all_of(pair.source, table, pair.tenant_ids)
                if found:
                    await rows.add(pair.target, table, found)
            await pair.target.execute(_END_SESSIONS, pair.tenant_ids)
            await pair.target.execute(_FORGET_IDENTITIES)
            await fence.resume_deliveries(pair.target, pair.tenant_ids)
            await target.set_phase(marks.READY)
    except asyncpg.UniqueViolationError as error:
        raise Unusable(
            f"the target has got a name meanwhile that the tenant has: {error}. The source serves"
            " the tenant again; change the name in one of the two, and run the command again"
        ) from error


async def copy_tenants(pair: Pair) -> None:
    """Store the names of the tenants at the target."""
    table = pair.tables.tenants
    keys = [(tenant_id,) for tenant_id in pair.tenant_ids]
    await rows.store(pair.target, table, await rows.with_keys(pair.source, table, keys))


async def close_source(source: Marks, tenant_ids: Sequence[str]) -> None:
    """Make the tenant unknown at the source; its rows stay, and nobody but the owner sees them."""
    async with source.connection.transaction():
        await _delete_from_directories(source.connection, tenant_ids)
        await source.set_phase(marks.CLOSED)


async def delete_rows(
    connection: Connection, tables: Tables, tenant_ids: Sequence[str], progress: Progress
) -> None:
    """Delete all rows of tenants, in batches."""
    for table in reversed(tables.own):
        progress.begin("delete", table.name, 0, await rows.count(connection, table, tenant_ids))
        while deleted := await rows.delete_some(connection, table, tenant_ids, _ROWS_AT_ONCE):
            progress.advance(deleted)
    await _delete_from_directories(connection, tenant_ids)
    await connection.execute("DELETE FROM tenants WHERE id = ANY ($1)", tenant_ids)


async def _delete_from_directories(connection: Connection, tenant_ids: Sequence[str]) -> None:
    for name in _GLOBAL:
        await connection.execute(f"DELETE FROM {name} WHERE tenant_id = ANY ($1)", tenant_ids)
