"""Distributes the tables of a migrated database over the nodes of Citus.

`sealdesk migrate --distribute` calls this as the owner of the tables. It is idempotent: what is
already distributed stays as it is, so that a new table follows after an upgrade.
"""

from sqlalchemy import Connection, text

from sealdesk.db import schema
from sealdesk.db.postgres import roles
from sealdesk.db.schema import KEY_STAMP, VERSION_TABLE
from sealdesk.db.schema.definitions import BY_TENANT
from sealdesk.errors import ConfigurationError
from sealdesk_citus.groups import COLOCATED_WITH, DEFAULT_SHARDS, distribution_of, in_order

OLDEST_CITUS = 12
# A transaction that changes tables with foreign keys to reference tables may use one connection to
# each node only.
_SETTINGS = (
    "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
    "SET LOCAL citus.enable_local_reference_table_foreign_keys = off",
)
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
_IS_COORDINATOR = "SELECT citus_is_coordinator()"
# Nodes that hold shards, and whether this one reaches them.
_NODES = """
SELECT nodename || ':' || nodeport AS node, citus_check_connection_to_node(nodename, nodeport)
FROM pg_dist_node WHERE noderole = 'primary' AND isactive AND shouldhaveshards
ORDER BY groupid LIMIT 1000
"""
_TRIGGERS = """
SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
ORDER BY 2, 1 LIMIT 1000
"""
# The consumers go on in each feed where they were in the log of the installation. Events from
# before there was a log were handled.
FILL_CONSUMER_POSITIONS = """
INSERT INTO consumer_positions (tenant_id, name, position)
SELECT f.tenant_id, l.name, greatest(f.pruned_position, coalesce((SELECT max(e.position)
    FROM events e WHERE e.tenant_id = f.tenant_id
        AND (e.log_position IS NULL OR e.log_position <= l.position)), 0))
FROM feed_positions f CROSS JOIN log_positions l WHERE l.name <> 'sequencer'
ON CONFLICT (tenant_id, name) DO NOTHING
"""


def begin(connection: Connection) -> None:
    """Check the nodes, and prepare a transaction that changes tables on them.

    Raises ConfigurationError.
    """
    _check_nodes(connection)
    for statement in _SETTINGS:
        connection.exec_driver_sql(statement)


def distribute(connection: Connection, shard_count: int) -> list[str]:
    """Distribute every table that is not distributed yet; returns their names.

    In the transaction of `begin`. shard_count: of the tables that are distributed by a column, in
    a new database; 0 takes the default.
    """
    done = roles.distributed_tables(connection)
    names = in_order([KEY_STAMP, VERSION_TABLE, *schema.IN_ORDER])
    waiting = [name for name in names if name not in done]
    connection.exec_driver_sql(f"SET LOCAL citus.shard_count = {shard_count or DEFAULT_SHARDS}")
    if waiting:
        _drop_triggers(connection)
    if {"events", "consumer_positions"} <= {*waiting}:
        connection.exec_driver_sql(FILL_CONSUMER_POSITIONS)
    for name in waiting:
        if distribution_of(name) == BY_TENANT:
            roles.isolate_distributed(connection, name)
        connection.exec_driver_sql(_distribution_sql(name))
    return waiting


def _check_nodes(connection: Connection) -> None:
    version = connection.execute(text(_VERSION)).scalar()
    if version is None:
        raise ConfigurationError(
            "there is no Citus in this database: tables can only be distributed where an"
            " administrator has run CREATE EXTENSION citus on each node; docs/citus.md has the"
            " steps"
        )
    if int(str(version).partition(".")[0]) < OLDEST_CITUS:
        raise ConfigurationError(f"it has Citus {version}; Sealdesk needs {OLDEST_CITUS} or newer")
    if not connection.execute(text(_IS_COORDINATOR)).scalar():
        raise ConfigurationError(
            "this is not the coordinator of Citus; name it in SEALDESK_OWNER_DATABASE_URL"
        )
    nodes = connection.execute(text(_NODES)).all()
    if not nodes:
        raise ConfigurationError(
            "no node of Citus holds shards: an administrator must add one with citus_add_node()"
        )
    unreachable = [node for node, is_reached in nodes if not is_reached]
    if unreachable:
        raise ConfigurationError(
            f"the coordinator cannot connect to {', '.join(unreachable)} as the owner of the"
            " tables: is the node running, and does the passfile of the coordinator name it?"
        )


def _drop_triggers(connection: Connection) -> None:
    """Remove the triggers and the stamp of keys: Citus runs no triggers on distributed tables.

    Without a stamp, each request looks its key up.
    """
    for name, table in connection.execute(text(_TRIGGERS)).all():
        connection.exec_driver_sql(f'DROP TRIGGER "{name}" ON {table}')
    connection.exec_driver_sql(f"DELETE FROM {KEY_STAMP}")


def _distribution_sql(name: str) -> str:
    kind, column = distribution_of(name)
    if kind == "reference":
        return f"SELECT create_reference_table('{name}')"
    if kind == "one_shard":
        return f"SELECT create_distributed_table('{name}', NULL, colocate_with := 'none')"
    # A table that is distributed by another key must not move together with tenants.
    group = COLOCATED_WITH if kind == "by_tenant" and name != COLOCATED_WITH else "none"
    return f"SELECT create_distributed_table('{name}', '{column}', colocate_with := '{group}')"
