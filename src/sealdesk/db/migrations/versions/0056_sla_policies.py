"""SLA policies, and the clocks of tickets. Minutes until a reply is due become a policy."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from sealdesk import ids
from sealdesk.clock import Clock

revision = "0056"
down_revision = "0055"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_STAMP_CHANGES = {"added": "INSERT", "deleted": "DELETE"}


def upgrade() -> None:
    op.create_table(
        "sla_policies",
        *(sa.Column(name, _TEXT, nullable=False) for name in ("tenant_id", "id", "name")),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("settings", _TEXT, nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("version", "created_at", "updated_at")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_table(
        "sla_renewals",
        sa.Column("tenant_id", _TEXT, sa.ForeignKey("tenants.id"), primary_key=True),
        sa.Column("ticket_id", _TEXT, nullable=False),
        sa.Column("stepped_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("sla_renewals_stepped_at", "sla_renewals", ["stepped_at", "tenant_id"])
    op.add_column("tickets", sa.Column("clocks", _TEXT, nullable=True))
    for name, columns in {"due_at": ["tenant_id", "due_at", "id"], "alert_at": None}.items():
        op.add_column("tickets", sa.Column(name, sa.BigInteger(), nullable=True))
        filled = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"tickets_{name}",
            "tickets",
            columns or ["alert_at", "tenant_id", "id"],
            sqlite_where=filled,
            postgresql_where=filled,
        )
    _stamp_keys()
    _to_policies(op.get_bind())


def _stamp_keys() -> None:
    """A known key knows whether its tenant has policies."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER key_stamp AFTER INSERT OR DELETE OR TRUNCATE ON sla_policies"
            " FOR EACH STATEMENT EXECUTE FUNCTION replace_key_stamp()"
        )
        return
    for name, change in _STAMP_CHANGES.items():
        op.execute(
            f"CREATE TRIGGER key_stamp_policy_{name} AFTER {change} ON sla_policies"
            " BEGIN UPDATE key_stamp SET stamp = random(); END"
        )


def _to_policies(connection: sa.Connection) -> None:
    """A desk had one aim for all replies, in its business hours."""
    now_us = Clock().now_us()
    found = connection.execute(sa.text("SELECT tenant_id, settings FROM business_hours")).all()
    for tenant_id, settings in found:
        hours: dict[str, Any] = json.loads(settings)
        minutes = hours.pop("reply_minutes", None)
        if minutes is None:
            continue
        promised = {"first_response_minutes": minutes, "next_response_minutes": minutes}
        lists = dict.fromkeys(("priorities", "team_ids", "tags", "customers", "pauses_on"), ())
        others = {"resolution_minutes": None, "counts": "business", "warning_minutes": 0}
        connection.execute(
            sa.text(
                "INSERT INTO sla_policies (tenant_id, id, name, position, settings, version,"
                " created_at, updated_at) VALUES (:tenant_id, :id, 'Replies', 1, :settings, 1,"
                " :now, :now)"
            ),
            {
                "tenant_id": tenant_id,
                "id": ids.mint(now_us),
                "settings": json.dumps(promised | lists | others),
                "now": now_us,
            },
        )
        connection.execute(
            sa.text(
                "INSERT INTO sla_renewals (tenant_id, ticket_id, stepped_at)"
                " VALUES (:tenant_id, '', 0)"
            ),
            {"tenant_id": tenant_id},
        )
