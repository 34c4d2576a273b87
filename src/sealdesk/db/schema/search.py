"""What is searched: a text for each ticket and customer, and how far each tenant's have been made.

All of it can be made again from what is kept elsewhere, so a move leaves it out, and a text is
bound to nothing by a foreign key. What finds the words in them is SQLite's FTS5 or PostgreSQL's
GIN, and stands in migrations 0004 and 0005 alone.
"""

from sqlalchemy import BigInteger, Column, Index, Table, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from sealdesk.db.schema.columns import id_, metadata, of_tenant, tenant

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


def _progress(name: str) -> None:
    Table(
        name,
        metadata,
        tenant(),
        # The last one of those that were there before; NULL once all of them are done.
        id_("after_id", null=True),
        # The last event that was looked at.
        Column("position", BigInteger, nullable=False),
        of_tenant(),
    )


_documents("search_documents", "ticket_id")
_progress("search_progress")
_documents("customer_documents", "customer_id")
_progress("customer_progress")
