"""A mailbox may log in with OAuth: whose log-in it is, and the sealed refresh token."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("mailboxes", sa.Column("oauth_provider", _TEXT, nullable=True))
    op.add_column("mailboxes", sa.Column("sealed_refresh_token", sa.LargeBinary(), nullable=True))
