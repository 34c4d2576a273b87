"""Tenants whose events the fan-out has passed, and delivers in turns."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "fan_out_backlogs",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("after_position", sa.BigInteger, nullable=False),
        sa.Column("until_position", sa.BigInteger, nullable=False),
        sa.Column("served_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )


def downgrade() -> None:
    """Webhooks do not receive the events of the backlogs."""
    op.drop_table("fan_out_backlogs")
