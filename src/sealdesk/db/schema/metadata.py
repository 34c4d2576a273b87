"""The declared tables as SQLAlchemy's metadata, which Alembic compares with a database.

Only migrations and tests import it.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.types import TypeEngine

from sealdesk.db.schema import TABLES
from sealdesk.db.schema import definitions as declared

METADATA = MetaData()
_TYPES: dict[declared.Type, TypeEngine[Any]] = {
    "text": Text().with_variant(Text(collation="C"), "postgresql"),
    "bigint": BigInteger(),
    "smallint": SmallInteger(),
    "boolean": Boolean(),
    "bytes": LargeBinary(),
    "words": Text().with_variant(TSVECTOR(), "postgresql"),
}


def _column(column: declared.Column) -> Column[Any]:
    return Column(
        column.name,
        _TYPES[column.type],
        primary_key=column.is_key,
        nullable=column.is_null,
        server_default=column.default,
        autoincrement=False,
    )


def _constraint(key: declared.Reference) -> ForeignKeyConstraint:
    if not key.column:
        return ForeignKeyConstraint(["tenant_id"], [f"{key.table}.id"])
    return ForeignKeyConstraint(
        ["tenant_id", key.column], [f"{key.table}.tenant_id", f"{key.table}.id"]
    )


def _index(index: declared.Index) -> Index:
    where = text(index.where) if index.where else None
    return Index(
        index.name,
        *index.columns,
        unique=index.is_unique,
        sqlite_where=where,
        postgresql_where=where,
    )


for _table in TABLES.values():
    Table(
        _table.name,
        METADATA,
        *map(_column, _table.columns),
        *map(_constraint, _table.references),
        *map(_index, _table.indexes),
        sqlite_with_rowid=_table.has_rowid,
    )

tables = METADATA.tables
sorted_tables = METADATA.sorted_tables
