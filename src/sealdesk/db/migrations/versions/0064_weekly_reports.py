"""When tickets were rated and reopened, and which key created them; reports that are sent weekly.

The tickets of all desks are counted anew, which fills the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"
oldest_reader = "0063"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name in ("reopened_at", "rated_at"):
        op.add_column("ticket_measures", sa.Column(name, sa.BigInteger(), nullable=True))
        filled = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"ticket_measures_{name}",
            "ticket_measures",
            ["tenant_id", name, "ticket_id"],
            sqlite_where=filled,
            postgresql_where=filled,
        )
    op.add_column("tickets", sa.Column("key_id", _TEXT, nullable=True))
    op.execute(
        "INSERT INTO report_rebuilds (tenant_id, is_clearing, ticket_id, stepped_at)"
        " SELECT id, true, '', 0 FROM tenants WHERE true"
        " ON CONFLICT (tenant_id) DO UPDATE SET is_clearing = true, ticket_id = ''"
    )
    _create_saved_reports()


def _create_saved_reports() -> None:
    texts = ("tenant_id", "id", "user_id", "query", "language", "base_url")
    op.create_table(
        "saved_reports",
        *(sa.Column(name, _TEXT, nullable=False) for name in texts),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("created_at", "due_at")),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id", "user_id"], ["users.tenant_id", "users.id"]),
    )
    op.create_index("saved_reports_user", "saved_reports", ["tenant_id", "user_id", "id"])
    op.create_index("saved_reports_due_at", "saved_reports", ["due_at", "tenant_id", "id"])
