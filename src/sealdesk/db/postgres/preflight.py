"""Whether a PostgreSQL database can be served: version, schema, and how safe the role is."""

from urllib.parse import urlsplit

import asyncpg
from asyncpg import Connection, Record

from sealdesk.db import tables
from sealdesk.db.postgres import errors
from sealdesk.db.postgres.database import connect
from sealdesk.db.schema_version import KNOWN, Unusable

OLDEST = 15
_SERVER = """
SELECT current_user AS role, current_setting('server_version_num')::int / 10000 AS version,
    current_setting('server_version') AS version_text,
    current_setting('server_encoding') AS encoding,
    current_setting('synchronous_commit') AS synchronous_commit,
    to_regclass('alembic_version') IS NOT NULL AS has_tables
"""
_VERSION = "SELECT version_num FROM alembic_version LIMIT 1"
# Whatever the role is, or could become with SET ROLE.
_POWERS = """
SELECT coalesce(bool_or(rolsuper), false) AS super,
    coalesce(bool_or(rolbypassrls), false) AS bypass
FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')
"""
_TABLES = """
SELECT c.relname AS name, pg_has_role(current_user, c.relowner, 'MEMBER') AS is_owned,
    c.relrowsecurity AND c.relforcerowsecurity AS is_isolated,
    has_table_privilege(c.oid, 'SELECT') AS is_readable
FROM pg_class c
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND c.relkind IN ('r', 'p') LIMIT 1000
"""
# Tables on which a policy that the role has, or may take up, does not ask for the tenant.
_SEEN_ACROSS = """
SELECT DISTINCT c.relname AS name FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND p.polpermissive AND EXISTS (SELECT 1 FROM unnest(p.polroles) of(role)
        WHERE CASE WHEN of.role = 0 THEN true
            ELSE pg_has_role(current_user, of.role, 'MEMBER') END)
    AND pg_get_expr(p.polqual, p.polrelid) NOT LIKE '%current_setting(''sealdesk.tenant_id''%'
ORDER BY 1 LIMIT 1000
"""
# A comment on Alembic's table marks what `sealdesk move` has not finished: it needs no grants, is
# no table that the schema would have to know, and goes along with a dump.
UNFINISHED = "unfinished sealdesk move of "
_COMMENT = "SELECT obj_description(to_regclass('alembic_version'), 'pg_class')"
_MIGRATE = "run `sealdesk migrate` with SEALDESK_OWNER_DATABASE_URL"


def shown(url: str) -> str:
    """The URL without its password and parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the database's URL"
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.username else ""
    return f"postgresql://{user}{host}{parts.path}"


async def connected(url: str, *, name: str, is_pooled: bool = False) -> Connection:
    """A connection. Raises Unusable, which says what to do."""
    try:
        return await connect(url, name=name, is_pooled=is_pooled)
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidPasswordError) as error:
        raise Unusable(f"{shown(url)} does not let the role in: {error}") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise Unusable(f"{shown(url)}: {error}; create it with createdb, then migrate") from error
    except asyncpg.TargetServerAttributeNotMatched as error:
        raise Unusable(f"{shown(url)}: none of the hosts takes writes; is one primary?") from error
    except (asyncpg.ClientConfigurationError, ValueError, OverflowError) as error:
        raise Unusable(f"{shown(url)} is not a URL that can be used: {error}") from error
    except Exception as error:
        if errors.is_away(error):
            why = str(error) or "no answer in time"
            raise Unusable(f"{shown(url)} cannot be reached ({why}); is it running?") from error
        raise


async def check(url: str, *, is_pooled: bool = False, is_worker: bool = False) -> None:
    """Raises Unusable unless the database can be served, and safely.

    is_worker: the role may see what belongs to it for all tenants.
    """
    connection = await connected(url, name="sealdesk check", is_pooled=is_pooled)
    try:
        async with connection.transaction():
            faults = await faults_of(connection, is_worker=is_worker)
    except Exception as error:
        if errors.is_away(error):
            raise Unusable(f"{shown(url)} cannot be examined: {error}") from error
        raise
    finally:
        await connection.close(timeout=1)
    if faults:
        raise Unusable(f"{shown(url)} {'; '.join(faults)}")


async def schema_version(connection: Connection) -> str | None:
    """The schema version of a database, None when it has no tables of ours."""
    (server,) = await connection.fetch(_SERVER)
    if not server["has_tables"]:
        return None
    return str(await connection.fetchval(_VERSION))


async def server_faults(connection: Connection) -> list[str]:
    """What keeps a database from ever being used, whatever it holds."""
    (server,) = await connection.fetch(_SERVER)
    return _server_faults(server)


async def unfinished(connection: Connection) -> str | None:
    """The fingerprint of the installation that is being moved here; None for none."""
    comment = str(await connection.fetchval(_COMMENT))
    return comment.removeprefix(UNFINISHED) if comment.startswith(UNFINISHED) else None


async def faults_of(connection: Connection, *, is_worker: bool = False) -> list[str]:
    """What is wrong with the database, or with using it as this role."""
    (server,) = await connection.fetch(_SERVER)
    if faults := _server_faults(server):
        return faults
    if not server["has_tables"]:
        return [f"has no tables yet; {_MIGRATE}"]
    if await unfinished(connection) is not None:
        return ["holds an unfinished move; give the same `sealdesk move` again to finish it"]
    found = {row["name"]: row for row in await connection.fetch(_TABLES)}
    if not found[tables.VERSION]["is_readable"]:
        return [f"does not let the role {server['role']} read the tables; {_MIGRATE}"]
    version = await connection.fetchval(_VERSION)
    if version is None:
        return [f"has no schema that is known; {_MIGRATE}"]
    faults = _schema_faults(version)
    if server["synchronous_commit"] in ("off", "local"):
        faults.append(
            f"has synchronous_commit = {server['synchronous_commit']}, with which acknowledged"
            " changes can be lost; set it to on"
        )
    (powers,) = await connection.fetch(_POWERS)
    is_owner = any(row["is_owned"] for row in found.values())
    faults += _role_faults(server["role"], powers["super"], powers["bypass"], is_owner)
    seen = {row["name"] for row in await connection.fetch(_SEEN_ACROSS)}
    if is_worker:
        seen -= {*tables.OF_WORKER}
    if seen and not faults:
        faults.append(
            f"is used as {server['role']}, for which policies (its own, or of a role that it may"
            f" become) show {', '.join(sorted(seen))} of all tenants. Serve as a role of its own"
        )
    isolated = {name for name, row in found.items() if row["is_isolated"]}
    open_to_all = sorted({*found} - isolated - {*tables.GLOBAL, tables.VERSION})
    if open_to_all:
        faults.append(f"has no row level security on {', '.join(open_to_all)}; {_MIGRATE}")
    return faults


def _server_faults(server: Record) -> list[str]:
    if server["version"] < OLDEST:
        return [f"is PostgreSQL {server['version_text']}; Sealdesk needs {OLDEST} or newer"]
    if server["encoding"] != "UTF8":
        return [f"is encoded in {server['encoding']}; create one with ENCODING 'UTF8'"]
    return []


def _schema_faults(version: str) -> list[str]:
    if version == KNOWN[-1]:
        return []
    if version in KNOWN:
        return [f"has schema {version}, and this Sealdesk needs {KNOWN[-1]}; {_MIGRATE}"]
    return [
        f"has schema {version}, which is newer than this Sealdesk knows ({KNOWN[-1]});"
        " run the newer Sealdesk"
    ]


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
