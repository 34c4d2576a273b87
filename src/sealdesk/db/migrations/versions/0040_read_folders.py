"""Until when the IMAP folder of a mailbox has been read."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("mailboxes", sa.Column("read_at", sa.BigInteger, nullable=True))


def downgrade() -> None:
    op.drop_column("mailboxes", "read_at")
