"""Who may do what in PostgreSQL: the roles, what they are granted, and row level security.

Only migrations use this, as the owner of the tables. Everything here may be done again.
"""

import base64
import hashlib
import hmac
import secrets
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, text

from sealdesk.db import tables
from sealdesk.db.postgres.statements import TENANT
from sealdesk.db.schema import metadata
from sealdesk.errors import ConfigurationError

_ROUNDS = 4096  # PostgreSQL's own number for a SCRAM verifier
# The sub-select is evaluated when a statement runs. Without it the planner estimates with the
# setting of the moment, which is none: 598 ms instead of 1 for a page of a large tenant.
_OF_TENANT = f"tenant_id = (SELECT nullif(current_setting('{TENANT}', true), ''))"


class Role(NamedTuple):
    """A role as its URL names it."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Role(name={self.name!r}, …)"


def role_of(url: str) -> Role:
    parts = urlsplit(url)
    return Role(unquote(parts.username or ""), unquote(parts.password or ""))


def set_up(connection: Connection, runtime: Role | None, worker: Role | None) -> None:
    """Row level security on every tenant's table, and what the two roles need. Raises Unfit."""
    for role in filter(None, (runtime, worker)):
        _ensure_role(connection, role)
    policies = _policies(connection)
    for name in metadata.tables:
        if name not in tables.GLOBAL:
            _isolate(connection, name, policies)
        if runtime is not None:
            _grant(connection, _right(name), name, runtime)
        if worker is not None and name in tables.OF_WORKER:
            _grant(connection, tables.OF_WORKER[name], name, worker)
            if name not in tables.GLOBAL and (name, "worker") not in policies:
                who = _quoted(worker.name)
                _run(connection, f"CREATE POLICY worker ON {name} TO {who} USING (true)")
    for role in filter(None, (runtime, worker)):
        # Granted by default to everybody, unless an administrator took it away.
        _run(
            connection, f"GRANT CONNECT ON DATABASE {_database(connection)} TO {_quoted(role.name)}"
        )
        _run(connection, f"GRANT USAGE ON SCHEMA {_schema(connection)} TO {_quoted(role.name)}")
        _grant(connection, "SELECT", tables.VERSION, role)
    if worker is not None:
        _grant(connection, "SELECT", "tenants", worker)
    if runtime is not None:
        for search in tables.SEARCHES:
            _run(connection, f"GRANT EXECUTE ON FUNCTION {search} TO {_quoted(runtime.name)}")


def _isolate(connection: Connection, name: str, policies: set[tuple[str, str]]) -> None:
    """Let a tenant's rows be seen by who names the tenant, and by the owner, who migrates them."""
    _run(connection, f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
    _run(connection, f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
    if (name, "tenant") not in policies:
        _run(connection, f"CREATE POLICY tenant ON {name} USING ({_OF_TENANT})")
    if (name, "owner") not in policies:
        _run(connection, f"CREATE POLICY owner ON {name} TO CURRENT_USER USING (true)")


def _policies(connection: Connection) -> set[tuple[str, str]]:
    """(table, policy) of those that there are."""
    rows = connection.execute(
        text("SELECT tablename, policyname FROM pg_policies WHERE schemaname = current_schema()")
    )
    return {(row[0], row[1]) for row in rows}


def _right(table: str) -> str:
    changes = ", UPDATE" * (table in tables.CHANGED) + ", DELETE" * (table in tables.DELETED)
    return f"SELECT, INSERT{changes}"


def _grant(connection: Connection, right: str, table: str, role: Role) -> None:
    # What it had before, by hand or from an older version, ends with this.
    _run(connection, f"REVOKE ALL ON {table} FROM {_quoted(role.name)}")
    _run(connection, f"GRANT {right} ON {table} TO {_quoted(role.name)}")


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
    may = connection.execute(
        text("SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user")
    ).scalar()
    if not may:
        raise ConfigurationError(
            f"there is no role {role.name}, and the owner may not create it. Let an administrator"
            f" run CREATE ROLE {_quoted(role.name)} LOGIN PASSWORD '…', then migrate again"
        )
    rights = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOREPLICATION"
    password = f" PASSWORD '{_verifier(role.password)}'" if role.password else ""
    _run(connection, f"CREATE ROLE {_quoted(role.name)} {rights}{password}")


def _verifier(password: str) -> str:
    """What PostgreSQL keeps of a password (RFC 5803), so that its logs never see the password."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
    client = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    encoded = [base64.b64encode(part).decode() for part in (salt, client, server)]
    return f"SCRAM-SHA-256${_ROUNDS}:{encoded[0]}${encoded[1]}:{encoded[2]}"


def _schema(connection: Connection) -> str:
    return _quoted(str(connection.execute(text("SELECT current_schema()")).scalar()))


def _database(connection: Connection) -> str:
    return _quoted(str(connection.execute(text("SELECT current_database()")).scalar()))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _run(connection: Connection, sql: str) -> None:
    connection.exec_driver_sql(sql)
