"""The envelope of a received message."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

_TABLE = "received_messages"
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(_TABLE, sa.Column("envelope", _TEXT, nullable=True))


def downgrade() -> None:
    op.drop_column(_TABLE, "envelope")
