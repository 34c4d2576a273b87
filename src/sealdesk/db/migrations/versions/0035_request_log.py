"""Requests of API keys are kept for 7 days."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "request_log",
        *(
            sa.Column(name, _TEXT, nullable=False)
            for name in ("tenant_id", "id", "key_id", "method", "target")
        ),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("status", "duration_us", "response_bytes")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id", "key_id"], ["api_keys.tenant_id", "api_keys.id"]),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("request_log")
