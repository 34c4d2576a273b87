"""What is searched: a text for each ticket, and how far each tenant's texts have been made.

Both can be made again from what is kept elsewhere, so a move leaves them out, and a text is
bound to no ticket by a foreign key. What finds the words in them is SQLite's FTS5 or PostgreSQL's
GIN, and stands in migration 0004 alone.
"""

from sqlalchemy import BigInteger, Column, Index, Table, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from sealdesk.db.schema.columns import id_, metadata, of_tenant, tenant

_WORDS = Text().with_variant(TSVECTOR(), "postgresql")

Table(
    "search_documents",
    metadata,
    tenant(),
    id_("ticket_id", key=True),
    # Rises with the tickets of a tenant; by it FTS5 gives the newest first.
    Column("number", BigInteger, nullable=False),
    Column("words", _WORDS, nullable=False),
    Index("search_documents_number", "number"),
)
Table(
    "search_progress",
    metadata,
    tenant(),
    # The last ticket of those that were there before; NULL once all of them are done.
    id_("after_id", null=True),
    # The last event whose ticket was looked at.
    Column("position", BigInteger, nullable=False),
    of_tenant(),
)
