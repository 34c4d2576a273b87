"""The history of tickets, who is answering, how keys are used; whose work is open."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = ("ticket_changes", "answering", "key_usage")


def upgrade() -> None:
    op.create_table(
        "ticket_changes",
        *_text("tenant_id", "ticket_id", "id", "actor_kind", "actor_id", "actor_name", "changes"),
        *_integer("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "id"),
        _refers("ticket_id", "tickets"),
    )
    op.create_table(
        "answering",
        *_text("tenant_id", "ticket_id", "user_id", "user_name"),
        *_integer("seen_at"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "user_id"),
        _refers("ticket_id", "tickets"),
    )
    op.create_index("answering_seen_at", "answering", ["seen_at"])
    op.create_table(
        "key_usage",
        *_text("tenant_id", "key_id"),
        *_integer("hour_at"),
        *_text("measure", "value"),
        *_integer("count"),
        sa.PrimaryKeyConstraint("tenant_id", "key_id", "hour_at", "measure", "value"),
        _refers("key_id", "api_keys"),
        sqlite_with_rowid=False,
    )
    op.create_index("key_usage_hour_at", "key_usage", ["hour_at"])
    is_set = sa.text("assignee_id IS NOT NULL")
    op.create_index(
        "tickets_status_assignee",
        "tickets",
        ["tenant_id", "status", "assignee_id", "id"],
        sqlite_where=is_set,
        postgresql_where=is_set,
    )


def downgrade() -> None:
    op.drop_index("tickets_status_assignee", "tickets")
    for name in reversed(_TABLES):
        op.drop_table(name)


Columns = Iterator[sa.Column[Any]]
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _text(*names: str) -> Columns:
    return (sa.Column(name, _TEXT, nullable=False) for name in names)


def _integer(*names: str) -> Columns:
    return (sa.Column(name, sa.BigInteger, nullable=False) for name in names)


def _refers(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])
