"""Indexes of the views Unassigned and Urgent, and a search index with tags and custom fields."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_INDEXES = {"tickets_unassigned": "assignee_id IS NULL", "tickets_urgent": "priority = 4"}


def upgrade() -> None:
    for name, where in _INDEXES.items():
        op.create_index(
            name,
            "tickets",
            ["tenant_id", "status", "updated_at", "id"],
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )
    # Without its row, the worker makes the index of tickets anew.
    op.execute("DELETE FROM search_rebuilds WHERE consumer = 'ticket_search'")


def downgrade() -> None:
    for name in _INDEXES:
        op.drop_index(name, "tickets")
