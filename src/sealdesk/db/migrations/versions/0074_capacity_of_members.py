"""Members of teams may have a capacity of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0074"
down_revision = "0073"
oldest_reader = "0071"


def upgrade() -> None:
    op.add_column("team_members", sa.Column("capacity", sa.BigInteger(), nullable=True))
