"""Mailboxes have options."""

import sqlalchemy as sa
from alembic import op

revision = "0072"
down_revision = "0071"
oldest_reader = "0071"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("mailboxes", sa.Column("options", _TEXT, nullable=True))
