"""Tickets and replies name the files that are attached to them."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for table in ("tickets", "replies"):
        op.add_column(table, sa.Column("attachments", _TEXT))


def downgrade() -> None:
    for table in ("tickets", "replies"):
        op.drop_column(table, "attachments")
