"""How each table is distributed over the nodes of Citus.

Tables of tenants are distributed by `tenant_id` and colocated: all rows of a tenant are on one
node. The tables of `tables.GLOBAL` each need a place in one of the groups below.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

from sealdesk.db import tables

Kind = Literal["reference", "by_key", "one_shard", "by_tenant"]
TENANT_COLUMN = "tenant_id"
# The table of tenants that is distributed first; the others are colocated with it.
COLOCATED_WITH = "users"
DEFAULT_SHARDS = 32
# Whether the database has the extension.
HAS_CITUS = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"

# A copy on each node: read with almost every request, written seldom.
REFERENCE = (
    "epochs",
    "tenants",
    "test_tenants",
    "reset_links",
    "api_key_directory",
    "contact_forms",
    tables.KEY_STAMP,
    tables.VERSION_TABLE,
)
# Each row is found by this column, before its tenant is known.
BY_KEY = {
    "user_directory": "email_identity",
    "ended_tokens": "id",
}
# Few rows that change often, or that are read all at once: on all nodes, each change would be a
# two-phase commit; on many shards, each look would ask all of them.
ONE_SHARD = (
    "log_positions",
    "search_rebuilds",
    "presence_counters",
    "mailbox_directory",
    "login_failures",
)


class Distribution(NamedTuple):
    """How a table is distributed. column: by which, "" where no column decides."""

    kind: Kind
    column: str = ""


def distribution_of(table: str) -> Distribution:
    """The distribution of a table. Raises KeyError for a global table without a group."""
    if table in REFERENCE:
        return Distribution("reference")
    if table in ONE_SHARD:
        return Distribution("one_shard")
    if table in tables.GLOBAL:
        return Distribution("by_key", BY_KEY[table])
    return Distribution("by_tenant", TENANT_COLUMN)


def in_order(names: Collection[str]) -> list[str]:
    """Tables in the order of their distribution: what foreign keys refer to comes first.

    names: with the tables that foreign keys refer to before those that refer to them.
    """
    first = [name for name in names if distribution_of(name).kind == "reference"]
    first += [COLOCATED_WITH] * (COLOCATED_WITH in names)
    return first + [name for name in names if name not in first]
