"""Drops an index that no query reads: of the tags of a ticket."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ticket_tags_ticket", "ticket_tags")


def downgrade() -> None:
    op.create_index("ticket_tags_ticket", "ticket_tags", ["tenant_id", "ticket_id"])
