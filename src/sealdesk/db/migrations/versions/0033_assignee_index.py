"""An index of an assignee's tickets by time of change, in place of the one by id."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("tickets_assignee", "tickets")
    _create_index("tickets_assignee_updated_at", ["assignee_id", "status", "updated_at"])


def downgrade() -> None:
    op.drop_index("tickets_assignee_updated_at", "tickets")
    _create_index("tickets_assignee", ["assignee_id"])


def _create_index(name: str, columns: list[str]) -> None:
    is_set = sa.text("assignee_id IS NOT NULL")
    op.create_index(
        name,
        "tickets",
        ["tenant_id", *columns, "id"],
        sqlite_where=is_set,
        postgresql_where=is_set,
    )
