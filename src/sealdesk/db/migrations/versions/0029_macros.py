"""Macros: canned replies with what they set on a ticket."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "macros",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("shortcut", _TEXT, nullable=False),
        sa.Column("shortcut_identity", _TEXT, nullable=False),
        sa.Column("body", _TEXT, nullable=False),
        sa.Column("status", _TEXT, nullable=True),
        sa.Column("priority", _TEXT, nullable=True),
        sa.Column("assignee_id", _TEXT, nullable=True),
        sa.Column("tags", _TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index("macros_shortcut", "macros", ["tenant_id", "shortcut_identity"], unique=True)


def downgrade() -> None:
    op.drop_table("macros")
