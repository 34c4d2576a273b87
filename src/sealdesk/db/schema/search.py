"""The search documents: the indexed text of each ticket and customer, and the state of rebuilds.

All of it is derived from other tables, so a move leaves it out, and a document has no foreign key.
The full-text indexes over it, FTS5 on SQLite and GIN on PostgreSQL, are defined in migrations 0004
and 0005 only.
"""

from sqlalchemy import BigInteger, Column, Index, Table, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from sealdesk.db.schema.columns import id_, metadata, tenant

_WORDS = Text().with_variant(TSVECTOR(), "postgresql")


def _documents(name: str, of: str) -> None:
    Table(
        name,
        metadata,
        tenant(),
        id_(of, key=True),
        # Rises with what a tenant has of them; by it FTS5 gives the newest first.
        Column("number", BigInteger, nullable=False),
        Column("words", _WORDS, nullable=False),
        Index(f"{name}_number", "number"),
    )


_documents("search_documents", "ticket_id")
_documents("customer_documents", "customer_id")
# How far a rebuild of a consumer's index has come: the last object that is indexed. NULL when the
# rebuild is finished; no row before it begins.
Table(
    "search_rebuilds",
    metadata,
    id_("consumer", key=True),
    id_("tenant_id", null=True),
    id_("object_id", null=True),
)
