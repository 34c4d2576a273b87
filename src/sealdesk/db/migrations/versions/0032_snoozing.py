"""Tickets are snoozed until a time or the next reply, and followed by people."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_INDEXES = {
    "tickets_snoozed": ["tenant_id", "snoozed_until", "status", "id"],
    "tickets_due": ["snoozed_until", "tenant_id", "id"],
}


def upgrade() -> None:
    op.add_column("tickets", sa.Column("snoozed_until", _TEXT))
    op.add_column(
        "tickets", sa.Column("follower_count", sa.BigInteger, nullable=False, server_default="0")
    )
    is_set = sa.text("snoozed_until IS NOT NULL")
    for name, columns in _INDEXES.items():
        op.create_index(name, "tickets", columns, sqlite_where=is_set, postgresql_where=is_set)
    op.create_table(
        "ticket_followers",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("ticket_id", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "ticket_id"),
        sa.ForeignKeyConstraint(["tenant_id", "user_id"], ["users.tenant_id", "users.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ticket_followers_ticket", "ticket_followers", ["tenant_id", "ticket_id", "user_id"]
    )


def downgrade() -> None:
    op.drop_table("ticket_followers")
    for name in _INDEXES:
        op.drop_index(name, "tickets")
    for name in ("follower_count", "snoozed_until"):
        op.drop_column("tickets", name)
