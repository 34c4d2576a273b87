"""The epochs of a restored installation, and the keys that nobody has confirmed since."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "epochs",
        sa.Column("started_at", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("restored_to", sa.BigInteger, nullable=False),
    )
    op.add_column("api_keys", sa.Column("unconfirmed_since", sa.BigInteger))


def downgrade() -> None:
    """Keys that nobody has confirmed work again, so confirm or revoke them before."""
    op.drop_column("api_keys", "unconfirmed_since")
    op.drop_table("epochs")
