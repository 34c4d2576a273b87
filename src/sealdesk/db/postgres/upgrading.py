"""What `sealdesk upgrade` asks of a PostgreSQL database, as the owner of its tables."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from asyncpg import Connection

from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable, describe_unknown
from sealdesk.db.postgres import preflight

_TRY_LOCK = "SELECT pg_try_advisory_lock(x'5EA1DE5D'::int)"
_TABLES = """
SELECT current_user AS role, pg_has_role(relowner, 'USAGE') AS is_owner,
    pg_database_size(current_database()) AS size_bytes
FROM pg_class WHERE oid = to_regclass('alembic_version')
"""


@contextmanager
def alone(owner_url: str) -> Iterator[tuple[str, int]]:
    """The schema and the bytes of the database, while no other upgrade runs. Raises Unusable."""
    with asyncio.Runner() as runner:
        connection = runner.run(preflight.open_connection(owner_url, name="sealdesk upgrade"))
        try:
            yield runner.run(_begin(connection, preflight.redacted(owner_url)))
        finally:
            runner.run(connection.close(timeout=1))


async def _begin(connection: Connection, where: str) -> tuple[str, int]:
    tables = await connection.fetchrow(_TABLES)
    if tables is None:
        raise Unusable(f"{where} has no tables yet; `sealdesk migrate` creates them")
    if not tables["is_owner"]:
        raise Unusable(
            f"{where}: {tables['role']} does not own the tables, so it may not migrate them; set"
            " SEALDESK_OWNER_DATABASE_URL to the role that does"
        )
    if not await connection.fetchval(_TRY_LOCK):
        raise Unusable(f"another `sealdesk upgrade` of {where} is running; wait until it has ended")
    schema = await preflight.schema_version(connection)
    if schema not in KNOWN_VERSIONS:
        raise Unusable(f"{where} {describe_unknown(schema or 'none')}; nothing was changed")
    return schema, tables["size_bytes"]
