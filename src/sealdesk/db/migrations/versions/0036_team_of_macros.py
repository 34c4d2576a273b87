"""Macros set a team."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("macros", sa.Column("team_id", _TEXT, nullable=True))


def downgrade() -> None:
    op.drop_column("macros", "team_id")
