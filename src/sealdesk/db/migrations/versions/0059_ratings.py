"""Customers rate tickets."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("tickets", sa.Column("rating", sa.SmallInteger(), nullable=True))
    op.add_column("tickets", sa.Column("satisfaction", _TEXT, nullable=True))
    filled = sa.text("rating IS NOT NULL")
    op.create_index(
        "tickets_rating",
        "tickets",
        ["tenant_id", "rating", "id"],
        sqlite_where=filled,
        postgresql_where=filled,
    )
