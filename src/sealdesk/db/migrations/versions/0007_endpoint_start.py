"""The feed position after which an endpoint receives events."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # 0: existing endpoints receive every event that has not been fanned out.
    op.add_column(
        "endpoints", sa.Column("starts_after", sa.BigInteger, nullable=False, server_default="0")
    )


def downgrade() -> None:
    op.drop_column("endpoints", "starts_after")
