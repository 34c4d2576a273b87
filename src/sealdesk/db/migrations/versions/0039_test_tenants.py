"""Test tenants, each beside a tenant, with an offset of their clock."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "test_tenants",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("live_id", _TEXT, nullable=False),
        sa.Column("clock_offset_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
    )
    op.create_index("test_tenants_live", "test_tenants", ["live_id"], unique=True)
    ahead = sa.text("clock_offset_us > 0")
    op.create_index(
        "test_tenants_ahead",
        "test_tenants",
        ["tenant_id"],
        sqlite_where=ahead,
        postgresql_where=ahead,
    )


def downgrade() -> None:
    op.drop_table("test_tenants")
