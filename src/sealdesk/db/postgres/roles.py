"""Creates the PostgreSQL roles, their grants, and the policies of row level security.

Migrations call this as the owner of the tables. It is idempotent.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, text

from sealdesk.db import schema
from sealdesk.db.postgres.statements import TENANT_SETTING
from sealdesk.errors import ConfigurationError
from sealdesk_citus.groups import HAS_CITUS

_SCRAM_ITERATIONS = 4096  # PostgreSQL's own number for a SCRAM verifier
# The sub-select is evaluated when a statement runs. Without it the planner estimates rows with the
# setting at planning time, which is empty: 598 ms instead of 1 ms for a page of a large tenant.
_SETTING = f"nullif(current_setting('{TENANT_SETTING}', true), '')"
_IS_OF_TENANT = f"tenant_id = (SELECT {_SETTING})"
# Citus refuses a sub-select in a policy. There a statement is planned on its node, after the
# transaction has set its tenant, so the estimate is right.
_IS_OF_TENANT_ON_NODES = f"tenant_id = {_SETTING}"
_DISTRIBUTED = """
SELECT c.relname FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
WHERE c.relnamespace = current_schema()::regnamespace LIMIT 1000
"""


class Role(NamedTuple):
    """Name and password of a role, from its URL."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Role(name={self.name!r}, …)"


def read_role(url: str) -> Role:
    parts = urlsplit(url)
    return Role(unquote(parts.username or ""), unquote(parts.password or ""))


def set_up_roles(connection: Connection, runtime: Role | None, worker: Role | None) -> None:
    """Enable row level security on every table of tenants and grant both roles their rights.

    Raises ConfigurationError.
    """
    for role in filter(None, (runtime, worker)):
        _ensure_role(connection, role)
    policies, distributed = _policies(connection), distributed_tables(connection)
    for name, table in schema.TABLES.items():
        is_isolated = name not in schema.GLOBAL
        if is_isolated and name not in distributed:
            _isolate(connection, name, policies)
        if runtime is not None:
            _grant(connection, ("SELECT", "INSERT", *table.runtime), name, runtime)
        if worker is not None and table.worker:
            _grant(connection, table.worker, name, worker)
            if is_isolated and (name, "worker") not in policies:
                role_name = _quoted(worker.name)
                policy = f"CREATE POLICY worker ON {name} TO {role_name} USING (true)"
                _execute(connection, policy)
    for role in filter(None, (runtime, worker)):
        # PUBLIC has it by default, unless an administrator revoked it.
        _execute(
            connection, f"GRANT CONNECT ON DATABASE {_database(connection)} TO {_quoted(role.name)}"
        )
        _execute(connection, f"GRANT USAGE ON SCHEMA {_schema(connection)} TO {_quoted(role.name)}")
        _grant(connection, ["SELECT"], schema.VERSION_TABLE, role)
    if runtime is not None:
        _grant(connection, ["SELECT"], schema.KEY_STAMP, runtime)
    for search in schema.SEARCH_FUNCTIONS:
        # A restored function has the default rights.
        _execute(connection, f"REVOKE ALL ON FUNCTION {search} FROM PUBLIC")
        if runtime is not None:
            _execute(connection, f"GRANT EXECUTE ON FUNCTION {search} TO {_quoted(runtime.name)}")


def distributed_tables(connection: Connection) -> set[str]:
    """The tables that are distributed over nodes of Citus; none on plain PostgreSQL."""
    if not connection.execute(text(HAS_CITUS)).scalar():
        return set()
    return {row[0] for row in connection.execute(text(_DISTRIBUTED))}


def isolate_distributed(connection: Connection, name: str) -> None:
    """Change the row level security of a table for its distribution.

    Not forced on the owner: as the owner, Citus copies shards, and PostgreSQL refuses a COPY that
    policies would filter. The preflight refuses a role that is the owner or may become it.
    """
    _execute(connection, f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")
    _execute(connection, f"ALTER POLICY tenant ON {name} USING ({_IS_OF_TENANT_ON_NODES})")


def _isolate(connection: Connection, name: str, policies: set[tuple[str, str]]) -> None:
    """Show rows only to transactions that set their tenant, and to the owner, who migrates."""
    _execute(connection, f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
    _execute(connection, f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
    if (name, "tenant") not in policies:
        _execute(connection, f"CREATE POLICY tenant ON {name} USING ({_IS_OF_TENANT})")
    if (name, "owner") not in policies:
        _execute(connection, f"CREATE POLICY owner ON {name} TO CURRENT_USER USING (true)")


def _policies(connection: Connection) -> set[tuple[str, str]]:
    """The existing policies as (table, policy)."""
    rows = connection.execute(
        text("SELECT tablename, policyname FROM pg_policies WHERE schemaname = current_schema()")
    )
    return {(row[0], row[1]) for row in rows}


def _grant(connection: Connection, rights: Sequence[str], table: str, role: Role) -> None:
    # Removes rights that an administrator or an older version granted.
    _execute(connection, f"REVOKE ALL ON {table} FROM {_quoted(role.name)}")
    _execute(connection, f"GRANT {', '.join(rights)} ON {table} TO {_quoted(role.name)}")


def _ensure_role(connection: Connection, role: Role) -> None:
    found = connection.execute(
        text("SELECT rolname = current_user FROM pg_roles WHERE rolname = :name"),
        {"name": role.name},
    ).scalar()
    if found:
        raise ConfigurationError(
            f"{role.name} is the owner of the tables and must not serve: it could see every tenant."
            " Name another role in SEALDESK_DATABASE_URL; sealdesk migrate makes it"
        )
    if found is None:
        _create(connection, role)


def _create(connection: Connection, role: Role) -> None:
    may_create = connection.execute(
        text("SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user")
    ).scalar()
    if not may_create:
        raise ConfigurationError(
            f"there is no role {role.name}, and the owner may not create it. Let an administrator"
            f" run CREATE ROLE {_quoted(role.name)} LOGIN PASSWORD '…', then migrate again"
        )
    rights = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOREPLICATION"
    password = f" PASSWORD '{_verifier(role.password)}'" if role.password else ""
    _execute(connection, f"CREATE ROLE {_quoted(role.name)} {rights}{password}")


def _verifier(password: str) -> str:
    """The SCRAM verifier of a password (RFC 5803), so that server logs never hold the password."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _SCRAM_ITERATIONS)
    client = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    encoded = [base64.b64encode(part).decode() for part in (salt, client, server)]
    return f"SCRAM-SHA-256${_SCRAM_ITERATIONS}:{encoded[0]}${encoded[1]}:{encoded[2]}"


def _schema(connection: Connection) -> str:
    return _quoted(str(connection.execute(text("SELECT current_schema()")).scalar()))


def _database(connection: Connection) -> str:
    return _quoted(str(connection.execute(text("SELECT current_database()")).scalar()))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _execute(connection: Connection, sql: str) -> None:
    connection.exec_driver_sql(sql)
