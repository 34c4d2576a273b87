"""Desks ask for ratings by e-mail."""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "rating_settings",
        sa.Column("tenant_id", _TEXT, sa.ForeignKey("tenants.id"), primary_key=True),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("delay_hours", sa.BigInteger(), nullable=False),
        sa.Column("base_url", _TEXT, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )
