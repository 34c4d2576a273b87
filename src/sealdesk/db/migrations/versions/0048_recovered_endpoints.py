"""An endpoint knows when its last outage ended, until its waiting deliveries are due."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    op.add_column("endpoints", sa.Column("recovered_at", sa.BigInteger(), nullable=True))
