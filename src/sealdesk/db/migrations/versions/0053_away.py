"""Members of teams say that they are away."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    op.add_column("team_members", sa.Column("away_at", sa.BigInteger(), nullable=True))
