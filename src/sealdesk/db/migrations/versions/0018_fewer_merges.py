"""Segments of the search on SQLite are merged sixteen at a time, so each word fewer times."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_INDEXES = ("search_index", "search_index_customers")


def upgrade() -> None:
    _set_merge_count(16)


def downgrade() -> None:
    _set_merge_count(8)


def _set_merge_count(count: int) -> None:
    bind = op.get_bind()
    if bind.dialect.name == "sqlite":
        for name in _INDEXES:
            sql = f"INSERT INTO {name} ({name}, rank) VALUES ('usermerge', ?)"
            bind.exec_driver_sql(sql, (count,))
