"""Digits of every script are the same in searches: the search indexes are made anew."""

from alembic import op

revision = "0071"
down_revision = "0069"
oldest_reader = "0069"


def upgrade() -> None:
    op.execute("DELETE FROM search_rebuilds")
