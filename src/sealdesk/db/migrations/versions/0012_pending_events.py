"""Events without a position are found by tenant, so that tenants take turns in getting one."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _replace_index(["tenant_id", "id"])


def downgrade() -> None:
    _replace_index(["id"])


def _replace_index(columns: list[str]) -> None:
    has_no_position = sa.text("position IS NULL")
    op.drop_index("events_pending", "events")
    op.create_index(
        "events_pending",
        "events",
        columns,
        sqlite_where=has_no_position,
        postgresql_where=has_no_position,
    )
