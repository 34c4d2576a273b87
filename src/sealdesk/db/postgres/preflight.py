"""Checks before serving a PostgreSQL database: version, schema, and the rights of the role."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
from asyncpg import Connection, Record

from sealdesk.db import schema
from sealdesk.db.migrations.schema_version import (
    KNOWN_VERSIONS,
    READ_OLDEST_READER,
    READ_VERSION,
    Unusable,
    describe_unknown,
    is_known,
)
from sealdesk.db.postgres import errors
from sealdesk.db.postgres.database import connect

OLDEST_VERSION = 15
_SERVER = """
SELECT current_user AS role, current_setting('server_version_num')::int / 10000 AS version,
    current_setting('server_version') AS version_text,
    current_setting('server_encoding') AS encoding,
    current_setting('synchronous_commit') AS synchronous_commit,
    to_regclass('alembic_version') IS NOT NULL AS has_tables,
    to_regclass('unfinished_restore') IS NOT NULL AS is_restoring
"""
# Attributes of the role and of every role that it could become with SET ROLE.
_ROLE_ATTRIBUTES = """
SELECT coalesce(bool_or(rolsuper), false) AS super,
    coalesce(bool_or(rolbypassrls), false) AS bypass
FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')
"""
# Citus copies shards as the owner, so there row level security is not forced on the owner; a role
# that owns the tables is refused in any case.
_TABLES = """
SELECT c.relname AS name, pg_has_role(current_user, c.relowner, 'MEMBER') AS is_owned,
    c.relrowsecurity AND (c.relforcerowsecurity OR EXISTS (
        SELECT 1 FROM pg_extension WHERE extname = 'citus')) AS is_isolated,
    has_table_privilege(c.oid, 'SELECT') AS is_readable
FROM pg_class c
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND c.relkind IN ('r', 'p') LIMIT 1000
"""
# Tables on which a policy of the role, or of one that it could become, ignores the tenant.
_VISIBLE_ACROSS_TENANTS = """
SELECT DISTINCT c.relname AS name FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND p.polpermissive AND EXISTS (SELECT 1 FROM unnest(p.polroles) of(role)
        WHERE CASE WHEN of.role = 0 THEN true
            ELSE pg_has_role(current_user, of.role, 'MEMBER') END)
    AND pg_get_expr(p.polqual, p.polrelid) NOT LIKE '%current_setting(''sealdesk.tenant_id''%'
ORDER BY 1 LIMIT 1000
"""
# A table that `sealdesk restore` creates first and drops last.
UNFINISHED_RESTORE = "unfinished_restore"
# A comment on Alembic's table marks an unfinished `sealdesk move`: it needs no grants and no table
# in the schema, and a dump includes it.
UNFINISHED_MOVE = "unfinished sealdesk move of "
_COMMENT = "SELECT obj_description(to_regclass('alembic_version'), 'pg_class')"
_OURS = {*schema.TABLES, schema.KEY_STAMP, schema.VERSION_TABLE}
_MIGRATE = "run `sealdesk migrate` with SEALDESK_OWNER_DATABASE_URL"


def redacted(url: str) -> str:
    """The URL without its password and parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the database's URL"
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.username else ""
    return f"postgresql://{user}{host}{parts.path}"


async def open_connection(url: str, *, name: str, is_pooled: bool = False) -> Connection:
    """Open a connection. Raises Unusable, whose text says what to do."""
    try:
        return await connect(url, name=name, is_pooled=is_pooled)
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidPasswordError) as error:
        raise Unusable(f"{redacted(url)} does not let the role in: {error}") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise Unusable(
            f"{redacted(url)}: {error}; create it with createdb, then migrate"
        ) from error
    except asyncpg.TargetServerAttributeNotMatched as error:
        raise Unusable(
            f"{redacted(url)}: none of the hosts takes writes; is one primary?"
        ) from error
    except (asyncpg.ClientConfigurationError, ValueError, OverflowError) as error:
        raise Unusable(f"{redacted(url)} is not a URL that can be used: {error}") from error
    except Exception as error:
        if errors.is_unavailable(error):
            why = str(error) or "no answer in time"
            raise Unusable(f"{redacted(url)} cannot be reached ({why}); is it running?") from error
        raise


@asynccontextmanager
async def opened(
    url: str, *, name: str, is_pooled: bool = False, close_s: float = 1.0
) -> AsyncIterator[Connection]:
    """A connection that is closed at the end, within so many seconds. Raises Unusable."""
    connection = await open_connection(url, name=name, is_pooled=is_pooled)
    try:
        yield connection
    finally:
        await connection.close(timeout=close_s)


async def check(url: str, *, is_pooled: bool = False, is_worker: bool = False) -> None:
    """Raises Unusable unless the database can be served safely.

    is_worker: the role may see the worker's tables for all tenants.
    """
    async with opened(url, name="sealdesk check", is_pooled=is_pooled) as connection:
        try:
            async with connection.transaction():
                faults = await find_faults(connection, is_worker=is_worker)
        except Exception as error:
            if errors.is_unavailable(error):
                raise Unusable(f"{redacted(url)} cannot be examined: {error}") from error
            raise
    if faults:
        raise Unusable(f"{redacted(url)} {'; '.join(faults)}")


async def schema_version(connection: Connection) -> str | None:
    """The schema version of a database, None when it has no Sealdesk tables."""
    (server,) = await connection.fetch(_SERVER)
    if not server["has_tables"]:
        return None
    return str(await connection.fetchval(READ_VERSION))


async def find_server_faults(connection: Connection) -> list[str]:
    """Faults of the server or its encoding, whatever the database holds."""
    (server,) = await connection.fetch(_SERVER)
    return _server_faults(server)


async def find_unfinished_move(connection: Connection) -> str | None:
    """The fingerprint of the installation that is being moved here, None when there is none."""
    comment = str(await connection.fetchval(_COMMENT))
    return comment.removeprefix(UNFINISHED_MOVE) if comment.startswith(UNFINISHED_MOVE) else None


async def find_faults(
    connection: Connection, *, is_worker: bool = False, may_be_old: bool = False
) -> list[str]:
    """The faults of the database, and of using it as this role.

    may_be_old: the schema, before an upgrade.
    """
    (server,) = await connection.fetch(_SERVER)
    if faults := _server_faults(server) or await _find_unfinished(connection, server):
        return faults
    found = {row["name"]: row for row in await connection.fetch(_TABLES)}
    if not found[schema.VERSION_TABLE]["is_readable"]:
        return [f"does not let the role {server['role']} read the tables; {_MIGRATE}"]
    version = await connection.fetchval(READ_VERSION)
    if version is None:
        return [f"has no schema that is known; {_MIGRATE}"]
    faults = [] if may_be_old and version in KNOWN_VERSIONS else _schema_faults(version)
    if faults and version > KNOWN_VERSIONS[-1]:
        oldest = await connection.fetchval(READ_OLDEST_READER)
        faults = [] if is_known(version, lambda: oldest) else faults
        # Of what a newer version has added, this one knows no rules.
        found = {name: row for name, row in found.items() if name in _OURS}
    if server["synchronous_commit"] in ("off", "local"):
        faults.append(
            f"has synchronous_commit = {server['synchronous_commit']}, with which acknowledged"
            " changes can be lost; set it to on"
        )
    (powers,) = await connection.fetch(_ROLE_ATTRIBUTES)
    is_owner = any(row["is_owned"] for row in found.values())
    faults += _role_faults(server["role"], powers["super"], powers["bypass"], is_owner)
    seen = {row["name"] for row in await connection.fetch(_VISIBLE_ACROSS_TENANTS)} & {*found}
    if is_worker:
        seen -= {table.name for table in schema.TABLES.values() if table.worker}
    if seen and not faults:
        faults.append(
            f"is used as {server['role']}, for which policies (its own, or of a role that it may"
            f" become) show {', '.join(sorted(seen))} of all tenants. Serve as a role of its own"
        )
    of_no_tenant = {*schema.GLOBAL, schema.KEY_STAMP, schema.VERSION_TABLE}
    bare = {name for name, row in found.items() if not row["is_isolated"]} - of_no_tenant
    if bare:
        faults.append(f"has no row level security on {', '.join(sorted(bare))}; {_MIGRATE}")
    return faults


async def _find_unfinished(connection: Connection, server: Record) -> list[str]:
    if server["is_restoring"]:
        return ["holds an unfinished restore; drop the database, create it and restore again"]
    if not server["has_tables"]:
        return [f"has no tables yet; {_MIGRATE}"]
    if await find_unfinished_move(connection) is not None:
        return ["holds an unfinished move; give the same `sealdesk move` again to finish it"]
    return []


def _server_faults(server: Record) -> list[str]:
    if server["version"] < OLDEST_VERSION:
        return [f"is PostgreSQL {server['version_text']}; Sealdesk needs {OLDEST_VERSION} or newer"]
    if server["encoding"] != "UTF8":
        return [f"is encoded in {server['encoding']}; create one with ENCODING 'UTF8'"]
    return []


def _schema_faults(version: str) -> list[str]:
    if version == KNOWN_VERSIONS[-1]:
        return []
    if version in KNOWN_VERSIONS:
        return [f"has schema {version}, and this Sealdesk needs {KNOWN_VERSIONS[-1]}; {_MIGRATE}"]
    return [describe_unknown(version)]


def _role_faults(role: str, is_super: bool, bypasses: bool, is_owner: bool) -> list[str]:
    powers = {
        "is a superuser": is_super,
        "bypasses row level security": bypasses and not is_super,
        "owns the tables": is_owner and not is_super,
    }
    return [
        f"is used as {role}, which {power} (or may become a role that does): one mistake could show"
        " one tenant's rows to another. Serve as a role of its own; sealdesk migrate makes the one"
        " that SEALDESK_DATABASE_URL names"
        for power, has in powers.items()
        if has
    ]
