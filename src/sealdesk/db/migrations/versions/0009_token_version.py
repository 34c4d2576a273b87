"""Tokens carry a version of their user instead of being compared with the time of a change."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The existing times are the versions to begin with; tokens without one are refused."""
    op.execute("ALTER TABLE users RENAME COLUMN tokens_from TO token_version")


def downgrade() -> None:
    """Every token that was issued before is refused, as all may have a later version."""
    op.execute("ALTER TABLE users RENAME COLUMN token_version TO tokens_from")
