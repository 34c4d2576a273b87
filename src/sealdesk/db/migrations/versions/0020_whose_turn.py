"""Who wrote last on a ticket, since when its customer waits, and what each user has read.

Only unfinished tickets are filled in here; `sealdesk rewrite-documents` does the others in batches.
An index by status and time of change replaces the one by time of change: together, the ranges of
the five statuses are all tickets. For the users there are, all earlier tickets count as read.
"""

import sqlalchemy as sa
from alembic import op

from sealdesk.clock import Clock

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_UNFINISHED = "status IN ('open', 'pending', 'on_hold')"
_PUBLIC = """FROM replies r WHERE r.tenant_id = tickets.tenant_id AND r.ticket_id = tickets.id
    AND r.is_internal = false"""
_FILL_IN = (
    f"""
UPDATE tickets SET
    last_reply_by = (SELECT r.author_type {_PUBLIC} ORDER BY r.id DESC LIMIT 1),
    last_customer_reply_at = (SELECT r.created_at {_PUBLIC} AND r.author_type = 'customer'
        ORDER BY r.id DESC LIMIT 1)
WHERE {_UNFINISHED} AND reply_count > 0
""",
    f"""
UPDATE tickets SET waiting_since =
    CASE WHEN first_response_at IS NULL THEN created_at ELSE last_customer_reply_at END
WHERE {_UNFINISHED} AND (reply_count = 0 OR last_reply_by = 'customer')
""",
)
_TIMES = ("last_customer_reply_at", "waiting_since", "last_message_at")
_TEXTS = ("last_reply_by", "snippet")


def upgrade() -> None:
    for name in _TIMES:
        op.add_column("tickets", sa.Column(name, sa.BigInteger))
    for name in _TEXTS:
        op.add_column("tickets", sa.Column(name, _TEXT))
    for statement in _FILL_IN:
        op.execute(statement)
    op.drop_index("tickets_updated_at", "tickets")
    op.create_index(
        "tickets_status_updated_at", "tickets", ["tenant_id", "status", "updated_at", "id"]
    )
    is_set = sa.text("waiting_since IS NOT NULL")
    op.create_index(
        "tickets_waiting_since",
        "tickets",
        ["tenant_id", "waiting_since", "id"],
        sqlite_where=is_set,
        postgresql_where=is_set,
    )
    _create_reads()


def _create_reads() -> None:
    op.create_table(
        "reads",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("ticket_id", _TEXT, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "ticket_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        sqlite_with_rowid=False,
    )
    op.create_index("reads_seen_at", "reads", ["tenant_id", "user_id", "seen_at"])
    op.execute(
        "INSERT INTO reads (tenant_id, user_id, ticket_id, seen_at)"
        f" SELECT tenant_id, id, '', {Clock().now_us()} FROM users"
    )


def downgrade() -> None:
    op.drop_table("reads")
    op.drop_index("tickets_waiting_since", "tickets")
    op.drop_index("tickets_status_updated_at", "tickets")
    op.create_index("tickets_updated_at", "tickets", ["tenant_id", "updated_at", "id"])
    for name in (*_TEXTS, *_TIMES):
        op.drop_column("tickets", name)
