"""Checks of a PostgreSQL database, of all its nodes, before a move, a backup or a restore."""

import json

from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_citus import all_nodes

# Row level security omits rows silently.
_HIDDEN_TABLES = """
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND c.relkind IN ('r', 'p') AND c.oid <> 'alembic_version'::regclass
    AND NOT (pg_has_role(current_user, c.relowner, 'USAGE') AND (
        NOT c.relrowsecurity OR EXISTS (
            SELECT FROM pg_policy p, unnest(p.polroles) AS r
            WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
                AND pg_get_expr(p.polqual, p.polrelid) = 'true'
                AND r <> 0 AND pg_has_role(current_user, r, 'USAGE')
        )
    ))
    AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
ORDER BY 1 LIMIT 1000
"""
# By application name, or by role where a pooler sets no name: another role that may write. The
# connections between nodes belong to sessions that are found themselves, and where one of them asks
# this, {pid} is the session that it belongs to.
_ACTIVE_SESSIONS = """
SELECT coalesce(nullif(s.application_name, ''), 'a session') || ' as ' || s.usename AS who,
    count(*) AS sessions
FROM pg_stat_activity s JOIN pg_roles r ON r.oid = s.usesysid
WHERE s.datname = current_database() AND s.pid <> pg_backend_pid()
    AND s.application_name <> 'sealdesk move'
    AND NOT (s.pid = {pid} AND s.application_name = 'sealdesk backup')
    AND s.application_name !~ '^citus_(internal|run_command) '
    AND (s.application_name LIKE 'sealdesk %' OR (
        NOT r.rolsuper AND r.rolname <> current_user
        AND has_table_privilege(r.oid, 'events', 'DELETE')
    ))
GROUP BY 1 ORDER BY 1 LIMIT 10
"""
_ACTIVE_AS_JSON = f"""
SELECT coalesce(json_agg(json_build_array(a.who, a.sessions)), '[]') FROM ({_ACTIVE_SESSIONS}) a
"""


async def check_visible(connection: Connection, where: str) -> None:
    """Raises Unusable unless the role sees all rows of all tables."""
    if hidden := await connection.fetch(_HIDDEN_TABLES):
        names = ", ".join(row["name"] for row in hidden)
        raise Unusable(
            f"{where}: the role is not the owner of all tables, and row level security may hide"
            f" rows of {names} from it; name the role that ran `sealdesk migrate`"
        )


async def check_unused(connection: Connection) -> None:
    """Raises Unusable when servers or workers use the database, on any of its nodes."""
    active = _ACTIVE_AS_JSON.format(pid=connection.get_server_pid())
    if await all_nodes.list_tenant_tables(connection):
        found = await all_nodes.run_on_all(connection, active)
    else:
        found = [await connection.fetchval(active)]
    users = [user for each in found for user in json.loads(each)]
    if users:
        names = ", ".join(f"{who} ({sessions})" for who, sessions in users)
        raise Unusable(
            f"the database is in use by {names}; stop `sealdesk serve`, `sealdesk worker` and any"
            " pooler in between on all hosts, and run the command again"
        )
