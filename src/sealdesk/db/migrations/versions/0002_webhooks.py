"""Positions of events, webhook endpoints and their deliveries."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# In the order of creation: a table comes after those it refers to.
_TABLES = ("feed_positions", "endpoints", "deliveries", "attempts", "replays")


def upgrade() -> None:
    _positions()
    _endpoints()
    _deliveries()
    _replays()


def downgrade() -> None:
    for name in reversed(_TABLES):
        op.drop_table(name)
    for name in ("events_type", "events_position", "events_pending"):
        op.drop_index(name, "events")
    op.drop_column("events", "position")


def _positions() -> None:
    op.add_column("events", sa.Column("position", sa.BigInteger))
    _index("events_pending", "events", ["id"], "position IS NULL")
    is_placed = "position IS NOT NULL"
    _index("events_position", "events", ["tenant_id", "position"], is_placed, unique=True)
    _index("events_type", "events", ["tenant_id", "type", "position"], is_placed)
    op.create_table(
        "feed_positions",
        *_text("tenant_id"),
        *_integer("last_position", "pruned_position"),
        sa.PrimaryKeyConstraint("tenant_id"),
        _of_tenant(),
    )


def _endpoints() -> None:
    op.create_table(
        "endpoints",
        *_text("tenant_id", "id", "url", "events"),
        *_text("description", null=True),
        sa.Column("is_active", sa.Boolean, nullable=False),
        *_text("disabled_reason", null=True),
        sa.Column("sealed_secret", sa.LargeBinary),
        *_integer("secret_version"),
        sa.Column("sealed_old_secret", sa.LargeBinary),
        *_integer("old_secret_until", "failing_since", "due_at", "leased_until", null=True),
        *_integer("wakes", "created_at"),
        *_integer("deleted_at", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _of_tenant(),
    )
    _index("endpoints_due", "endpoints", ["due_at"], "due_at IS NOT NULL")
    _index("endpoints_deleted", "endpoints", ["deleted_at"], "deleted_at IS NOT NULL")


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        *_text("tenant_id", "id", "endpoint_id", "event_id", "event_type", "status"),
        *_integer("attempt_count"),
        sa.Column("retry_count", sa.SmallInteger, nullable=False),
        *_integer("due_at", null=True),
        *_integer("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _refers("endpoint_id", "endpoints"),
    )
    of_endpoint = ["tenant_id", "endpoint_id"]
    op.create_index("deliveries_endpoint", "deliveries", [*of_endpoint, "id"])
    op.create_index("deliveries_status", "deliveries", [*of_endpoint, "status", "id"])
    _index("deliveries_due", "deliveries", [*of_endpoint, "due_at", "id"], "due_at IS NOT NULL")
    op.create_table(
        "attempts",
        *_text("tenant_id", "delivery_id"),
        *_integer("number", "sent_at", "duration_ms"),
        *_text("url", "request_headers"),
        sa.Column("status", sa.SmallInteger),
        *_text("answer_headers", "answer_body", "error", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "delivery_id", "number"),
        _refers("delivery_id", "deliveries"),
    )


def _replays() -> None:
    op.create_table(
        "replays",
        *_text("tenant_id", "id", "endpoint_id"),
        *_integer("since", "until"),
        *_text("after_id"),
        *_integer("delivery_count", "created_at"),
        *_integer("finished_at", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _refers("endpoint_id", "endpoints"),
    )
    _index("replays_open", "replays", ["id"], "finished_at IS NULL")


Columns = Iterator[sa.Column[Any]]
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _text(*names: str, null: bool = False) -> Columns:
    return (sa.Column(name, _TEXT, nullable=null) for name in names)


def _integer(*names: str, null: bool = False) -> Columns:
    return (sa.Column(name, sa.BigInteger, nullable=null) for name in names)


def _of_tenant() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"])


def _refers(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    rows = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=rows, postgresql_where=rows)
