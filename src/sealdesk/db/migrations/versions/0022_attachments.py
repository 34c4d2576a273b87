"""Attachments of tickets and replies."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "attachments",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        *(
            sa.Column(name, _TEXT, nullable=False)
            for name in ("name", "content_type", "sha256", "uploader_kind")
        ),
        sa.Column("image_type", _TEXT, nullable=True),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("uploader_id", _TEXT, nullable=False),
        sa.Column("ticket_id", _TEXT, nullable=True),
        sa.Column("reply_id", _TEXT, nullable=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
    )
    op.create_index("attachments_sha256", "attachments", ["tenant_id", "sha256", "id"])
    is_unused = sa.text("ticket_id IS NULL")
    op.create_index(
        "attachments_unused",
        "attachments",
        ["created_at"],
        sqlite_where=is_unused,
        postgresql_where=is_unused,
    )
    op.create_table(
        "attachment_usage",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("used_bytes", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )


def downgrade() -> None:
    """The files stay in the data directory."""
    op.drop_table("attachment_usage")
    op.drop_table("attachments")
