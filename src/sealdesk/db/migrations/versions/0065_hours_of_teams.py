"""Teams have business hours of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
oldest_reader = "0063"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("teams", sa.Column("hours", _TEXT, nullable=True))
