"""Automation rules: what a desk does with tickets by itself."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_OF_TENANT = sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"])


def _texts(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def _numbers(*names: str, **options: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False, **options) for name in names]


def _of_ticket() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"])


def upgrade() -> None:
    op.create_table(
        "automation_rules",
        *_texts("tenant_id", "id", "name"),
        *_numbers("position"),
        *_texts("trigger"),
        *_numbers("hours"),
        *_texts("conditions", "actions"),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("paused_because", _TEXT, nullable=True),
        *_numbers("version", "enabled_at"),
        *_numbers("reached_at", server_default="0"),
        sa.Column("reached_id", _TEXT, nullable=False, server_default=""),
        *_numbers("looked_at", server_default="0"),
        *_numbers("created_at", "updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _OF_TENANT,
    )
    timed = sa.text("hours > 0")
    op.create_index(
        "automation_rules_timed",
        "automation_rules",
        ["looked_at"],
        sqlite_where=timed,
        postgresql_where=timed,
    )
    op.create_table(
        "automation_tasks",
        *_texts("tenant_id", "id", "ticket_id", "caused_by"),
        *_numbers("created_at", "due_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _of_ticket(),
    )
    op.create_index("automation_tasks_due", "automation_tasks", ["due_at", "tenant_id", "id"])
    op.create_table(
        "automation_effects",
        *_texts("tenant_id", "ticket_id"),
        *_numbers("last_version", "first_version"),
        *_texts("rule_id"),
        *_numbers("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "last_version"),
        _of_ticket(),
        sqlite_with_rowid=False,
    )
    op.create_index("automation_effects_created_at", "automation_effects", ["created_at"])
