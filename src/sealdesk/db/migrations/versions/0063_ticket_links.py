"""Tickets are linked to others, and macros may be of one user."""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("macros", sa.Column("owner_id", _TEXT, nullable=False, server_default=""))
    op.drop_index("macros_shortcut", "macros")
    op.create_index(
        "macros_shortcut", "macros", ["tenant_id", "owner_id", "shortcut_identity"], unique=True
    )
    op.create_table(
        "ticket_links",
        *(
            sa.Column(name, _TEXT, nullable=False)
            for name in ("tenant_id", "ticket_id", "other_id", "relation")
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "other_id"),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "other_id"], ["tickets.tenant_id", "tickets.id"]),
        sqlite_with_rowid=False,
    )
