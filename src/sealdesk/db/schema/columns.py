"""Shorthands for the columns, keys and indexes of the tables."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Text,
    text,
)

metadata = MetaData()

# Byte order: PostgreSQL would otherwise sort by the rules of a language, and cursors rely on order.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def id_(name: str = "id", *, key: bool = False, null: bool = False) -> Column[str]:
    return Column(name, TEXT, primary_key=key, nullable=null)


def text_(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, TEXT, nullable=null)


def texts(*names: str, null: bool = False) -> list[Column[str]]:
    return [text_(name, null=null) for name in names]


def time_(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def tenant() -> Column[str]:
    return id_("tenant_id", key=True)


def refers(column: str, table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])


def index_where_set(name: str, column: str, first: tuple[str, ...] = ()) -> Index:
    """A partial index of the rows in which a column is set. first: columns before it."""
    is_set = text(f"{column} IS NOT NULL")
    columns = ("tenant_id", *first, column, "id")
    return Index(name, *columns, sqlite_where=is_set, postgresql_where=is_set)


def index_of_assignee(name: str) -> Index:
    """A partial index of the tickets that somebody has, by status and time of change."""
    is_set = text("assignee_id IS NOT NULL")
    columns = ("tenant_id", "assignee_id", "status", "updated_at", "id")
    return Index(name, *columns, sqlite_where=is_set, postgresql_where=is_set)


def index_of_team(name: str, *columns: str, where: str = "") -> Index:
    """A partial index of the tickets of teams. where: a further condition."""
    condition = text(f"team_id IS NOT NULL{where}")
    columns = ("tenant_id", "team_id", *columns, "id")
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


def index_by_change(name: str, where: str) -> Index:
    """A partial index of tickets by status and time of change."""
    condition = text(where)
    columns = ("tenant_id", "status", "updated_at", "id")
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


def index_of_unfinished(name: str, column: str) -> Index:
    """A partial index of the work of all tenants that is not finished."""
    condition = text("finished_at IS NULL")
    return Index(name, column, "id", sqlite_where=condition, postgresql_where=condition)


def index_of_snoozed(name: str, *columns: str) -> Index:
    """A partial index of snoozed tickets."""
    is_set = text("snoozed_until IS NOT NULL")
    return Index(name, *columns, sqlite_where=is_set, postgresql_where=is_set)


def of_tenant() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id"], ["tenants.id"])
