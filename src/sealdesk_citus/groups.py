"""How each table is distributed over the nodes of Citus.

Tables of tenants are distributed by `tenant_id` and colocated: all rows of a tenant are on one
node. Global tables declare their place.
"""

from collections.abc import Collection

from sealdesk.db import schema
from sealdesk.db.schema.definitions import REFERENCE, Place

# The table of tenants that is distributed first; the others are colocated with it.
COLOCATED_WITH = "users"
DEFAULT_SHARDS = 32
# Whether the database has the extension.
HAS_CITUS = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"


def distribution_of(table: str) -> Place:
    """The place of a table, declared or created by a migration only."""
    declared = schema.TABLES.get(table)
    return REFERENCE if declared is None else declared.place


def in_order(names: Collection[str]) -> list[str]:
    """Tables in the order of their distribution: what foreign keys refer to comes first.

    names: with the tables that foreign keys refer to before those that refer to them.
    """
    first = [name for name in names if distribution_of(name).kind == "reference"]
    first += [COLOCATED_WITH] * (COLOCATED_WITH in names)
    return first + [name for name in names if name not in first]
