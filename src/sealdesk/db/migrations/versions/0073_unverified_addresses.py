"""Mailboxes name the addresses that nobody has verified yet."""

import sqlalchemy as sa
from alembic import op

revision = "0073"
down_revision = "0072"
oldest_reader = "0071"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("mailboxes", sa.Column("unverified", _TEXT, nullable=True))
