"""Desks have business hours."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "business_hours",
        sa.Column("tenant_id", _TEXT, sa.ForeignKey("tenants.id"), primary_key=True),
        sa.Column("settings", _TEXT, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )
