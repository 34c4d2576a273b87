"""How a table is declared: its columns, keys and indexes, who may use it, and where its rows are.

Plain values, because SQLAlchemy's metadata would cost each process 23 MiB.
"""

from typing import Literal, NamedTuple

Type = Literal["text", "bigint", "smallint", "boolean", "bytes", "words"]


class Column(NamedTuple):
    """A column. default: as SQL. identity_of: the column with the text whose identity it is."""

    name: str
    type: Type
    is_key: bool = False
    is_null: bool = False
    default: str | None = None
    identity_of: str = ""


class Reference(NamedTuple):
    """A foreign key to a row of the same tenant. column: "" for the row of the tenant itself."""

    column: str
    table: str


class Index(NamedTuple):
    """An index. where: the condition of a partial one."""

    name: str
    columns: tuple[str, ...]
    where: str
    is_unique: bool


class Place(NamedTuple):
    """Where the rows of a table are, if tables are distributed over nodes of Citus.

    column: by which they are distributed, "" where no column decides.
    """

    kind: Literal["by_tenant", "reference", "by_key", "one_shard"]
    column: str = ""


# All rows of a tenant are on one node, with row level security. The tables of all other places have
# none: they are read before the tenant is known, or are not about a tenant.
BY_TENANT = Place("by_tenant", "tenant_id")
# A copy on each node: read with almost every request, written seldom.
REFERENCE = Place("reference")
# Few rows that change often, or that are read all at once: on all nodes, each change would be a
# two-phase commit; on many shards, each look would ask all of them.
ONE_SHARD = Place("one_shard")


def by_key(column: str) -> Place:
    """Each row is found by this column, before its tenant is known."""
    return Place("by_key", column)


SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US
DAY_US = 24 * HOUR_US


class Expiry(NamedTuple):
    """The worker deletes a row so long after the time in its column, which may be NULL."""

    column: str
    after_us: int = 0


class Table(NamedTuple):
    """A table.

    runtime: what the role that serves may do besides SELECT and INSERT.
    worker: what the worker's role may do, for the rows of all tenants.
    is_rebuilt: the worker makes the rows from other tables, so a move skips them.
    """

    name: str
    columns: tuple[Column, ...]
    references: tuple[Reference, ...]
    indexes: tuple[Index, ...]
    has_rowid: bool
    place: Place
    runtime: tuple[str, ...]
    worker: tuple[str, ...]
    is_rebuilt: bool
    expiry: Expiry | None


TABLES: dict[str, Table] = {}


def table(
    name: str,
    *parts: Column | Reference | Index,
    has_rowid: bool = True,
    place: Place = BY_TENANT,
    runtime: str = "",
    worker: str = "",
    is_rebuilt: bool = False,
    expiry: Expiry | None = None,
) -> None:
    """Declare a table."""
    TABLES[name] = Table(
        name,
        tuple(part for part in parts if isinstance(part, Column)),
        tuple(part for part in parts if isinstance(part, Reference)),
        tuple(part for part in parts if isinstance(part, Index)),
        has_rowid,
        place,
        tuple(runtime.split()),
        tuple(worker.split()),
        is_rebuilt,
        expiry,
    )


def text_(
    name: str, *, key: bool = False, null: bool = False, default: str | None = None
) -> Column:
    return Column(name, "text", key, null, default)


def texts(*names: str, null: bool = False) -> list[Column]:
    return [text_(name, null=null) for name in names]


def identity_of(name: str) -> Column:
    """The identity of a text: the worker computes it anew when identities become others."""
    return Column(f"{name}_identity", "text", identity_of=name)


def id_(name: str = "id", *, key: bool = False, null: bool = False) -> Column:
    return text_(name, key=key, null=null)


def tenant() -> Column:
    return id_("tenant_id", key=True)


def number(
    name: str, *, key: bool = False, null: bool = False, default: str | None = None
) -> Column:
    return Column(name, "bigint", key, null, default)


def time_(name: str, *, null: bool = False) -> Column:
    return number(name, null=null)


def small(name: str, *, null: bool = False) -> Column:
    return Column(name, "smallint", is_null=null)


def flag(name: str) -> Column:
    return Column(name, "boolean")


def blob(name: str, *, key: bool = False, null: bool = False) -> Column:
    return Column(name, "bytes", key, null)


def refers(column: str, to: str) -> Reference:
    return Reference(column, to)


def of_tenant() -> Reference:
    return Reference("", "tenants")


def index(name: str, columns: str, *, where: str = "", is_unique: bool = False) -> Index:
    """columns: with spaces between them."""
    return Index(name, tuple(columns.split()), where, is_unique)
