"""Mailboxes have aliases."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("mailboxes", sa.Column("aliases", _TEXT, nullable=True))
