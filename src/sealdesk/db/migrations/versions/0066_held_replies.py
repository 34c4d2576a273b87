"""Desks hold public replies for some seconds, in which their authors can undo them."""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"
oldest_reader = "0063"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "reply_settings",
        sa.Column("tenant_id", _TEXT, sa.ForeignKey("tenants.id"), primary_key=True),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )
    texts = ("tenant_id", "id", "ticket_id", "user_id", "user_name", "form")
    op.create_table(
        "held_replies",
        *(sa.Column(name, _TEXT, nullable=False) for name in texts),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("failed_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", _TEXT, nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "user_id"], ["users.tenant_id", "users.id"]),
    )
    waiting = sa.text("failed_at IS NULL")
    op.create_index(
        "held_replies_due",
        "held_replies",
        ["due_at", "tenant_id", "id"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
    op.create_index("held_replies_ticket", "held_replies", ["tenant_id", "ticket_id", "id"])
    op.create_index("held_replies_user", "held_replies", ["tenant_id", "user_id", "id"])
    op.create_index("held_replies_failed_at", "held_replies", ["failed_at"])
