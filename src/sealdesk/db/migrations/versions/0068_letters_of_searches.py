"""Letters with a stroke are found without it: the search indexes are made anew."""

from alembic import op

revision = "0068"
down_revision = "0067"
oldest_reader = "0067"


def upgrade() -> None:
    op.execute("DELETE FROM search_rebuilds")
