"""Checks of both installations before a tenant is moved."""

from collections.abc import Collection, Sequence

from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move.tables import Table, check_same
from sealdesk_move.tenant import rows
from sealdesk_move.tenant.rows import Tables

_TENANT_IDS = """
SELECT id FROM tenants WHERE id = $1
UNION SELECT tenant_id FROM test_tenants WHERE live_id = $1
ORDER BY 1 LIMIT 2
"""
_IS_TEST_TENANT = "SELECT live_id FROM test_tenants WHERE tenant_id = $1"
_FINGERPRINTS = """
SELECT DISTINCT encode(substring(sealed_secret FROM 1 FOR 4), 'hex') AS fingerprint FROM api_keys
WHERE sealed_secret IS NOT NULL AND ($1::text[] IS NULL OR tenant_id = ANY ($1)) LIMIT 100
"""
_IS_REBUILDING = """
SELECT count(*) < 2 OR count(tenant_id) > 0 FROM search_rebuilds
"""
# The column by which each directory finds a tenant, and what it is called.
_GLOBAL_NAMES = {
    "user_directory": ("email_identity", "the e-mail address of a user"),
    "api_key_directory": ("key_hash", "an API key"),
    "mailbox_directory": ("address_identity", "the address of a mailbox"),
    "contact_forms": ("path_name", "the address of a contact form"),
}


async def find_tenants(source: Connection, tenant_id: str) -> tuple[str, ...]:
    """The tenant and its test tenant. Raises Unusable."""
    live_id = await source.fetchval(_IS_TEST_TENANT, tenant_id)
    if live_id is not None:
        raise Unusable(f"{tenant_id} is the test tenant of {live_id}; move that one, and both move")
    found = tuple(row["id"] for row in await source.fetch(_TENANT_IDS, tenant_id))
    if tenant_id not in found:
        raise Unusable(f"the source has no tenant {tenant_id}")
    return found


async def check_start(source: Connection, target: Connection, tenant_ids: Sequence[str]) -> None:
    """Raises Unusable unless the move may begin."""
    theirs = await target.fetchval("SELECT id FROM tenants WHERE id = ANY ($1) LIMIT 1", tenant_ids)
    if theirs is not None:
        raise Unusable(f"the target has a tenant {theirs} already; nothing was changed")
    if await source.fetchval(_IS_REBUILDING):
        raise Unusable(
            "the search index of the source is being rebuilt, and is moved as it is; wait until"
            " `sealdesk worker` has finished"
        )


async def check_tables(source: Connection, target: Connection) -> Tables:
    """The tables of both. Raises Unusable unless they are the same."""
    ours, theirs = await rows.read(source), await rows.read(target)
    check_same((*ours.own, *ours.directories), (*theirs.own, *theirs.directories))
    return ours


async def check_keys(
    source: Connection, target: Connection, tenant_ids: Sequence[str], known: Collection[str]
) -> None:
    """Raises Unusable unless both seal secrets with the master keys of this process.

    known: the fingerprints of these.
    """
    for connection, where, ids in ((source, "source", tenant_ids), (target, "target", None)):
        found = {row["fingerprint"] for row in await connection.fetch(_FINGERPRINTS, ids)}
        if not found <= {*known}:
            raise Unusable(
                f"the {where} has secrets that the SEALDESK_MASTER_KEY of this shell did not seal;"
                " both installations and this command need the same master key"
            )


async def check_names(
    source: Connection, target: Connection, tables: Tables, ids: Sequence[str]
) -> None:
    """Raises Unusable if the target has a name already that belongs to one tenant only."""
    for table in tables.directories:
        if table.name in _GLOBAL_NAMES:
            column, what = _GLOBAL_NAMES[table.name]
            taken = await _list_taken(source, target, table, column, ids)
            if taken:
                raise Unusable(
                    f"{what} belongs to another tenant at the target: {', '.join(taken)}. Nothing"
                    " was moved; change it in one of the two installations"
                )


async def _list_taken(
    source: Connection, target: Connection, table: Table, column: str, ids: Sequence[str]
) -> list[str]:
    names = [
        row[table.columns.index(column)] for row in await rows.all_of(source, table, ids)
    ]  # fmt: skip
    type_name = table.types[table.columns.index(column)]
    found = await target.fetch(
        f"SELECT {column} AS name FROM {table.name} WHERE {column} = ANY ($1::{type_name}[])"
        f" AND tenant_id <> ALL ($2) ORDER BY 1 LIMIT 3",
        names,
        ids,
    )
    return [row["name"].hex()[:8] if type_name == "bytea" else row["name"] for row in found]
