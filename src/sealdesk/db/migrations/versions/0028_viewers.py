"""Who looks at a ticket, for processes that share a database."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "viewers",
        *(sa.Column(name, _TEXT, nullable=False) for name in ("tenant_id", "topic", "user_id")),
        sa.Column("process_id", _TEXT, nullable=False),
        sa.Column("user_name", _TEXT, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "topic", "user_id", "process_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index("viewers_seen_at", "viewers", ["seen_at"])
    op.create_table(
        "presence_counters",
        sa.Column("bucket", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("changes", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("presence_counters")
    op.drop_table("viewers")
