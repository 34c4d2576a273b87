"""Notifications of users."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "notifications",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("ticket_id", _TEXT, nullable=False),
        sa.Column("actor_name", _TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("read_at", sa.BigInteger, nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id", "user_id"], ["users.tenant_id", "users.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
    )
    op.create_index("notifications_user", "notifications", ["tenant_id", "user_id", "id"])


def downgrade() -> None:
    op.drop_table("notifications")
