"""The request log says how long a request has held the event loop; earlier rows do not know it."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.add_column("request_log", sa.Column("cpu_us", sa.BigInteger(), nullable=True))
