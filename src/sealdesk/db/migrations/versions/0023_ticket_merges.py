"""A ticket can be merged into another one, which can be undone for a day."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SOURCE = ["tenant_id", "source_id"]


def upgrade() -> None:
    op.add_column("tickets", sa.Column("merged_into_id", _TEXT))
    op.create_table(
        "ticket_merges",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("source_id", _TEXT, nullable=False),
        sa.Column("target_id", _TEXT, nullable=False),
        sa.Column("source_status", _TEXT, nullable=False),
        sa.Column("opening_reply_id", _TEXT, nullable=False),
        sa.Column("reply_ids", _TEXT, nullable=False),
        sa.Column("merged_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(*_SOURCE),
        sa.ForeignKeyConstraint(_SOURCE, ["tickets.tenant_id", "tickets.id"]),
    )


def downgrade() -> None:
    op.drop_table("ticket_merges")
    op.drop_column("tickets", "merged_into_id")
