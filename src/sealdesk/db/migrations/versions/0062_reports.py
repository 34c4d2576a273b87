"""Reports: what is counted of each ticket, and the sums of each hour."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def upgrade() -> None:
    _create_measures()
    op.create_table(
        "report_sums",
        *_texts("tenant_id", "dimension"),
        *_numbers("length", "start"),
        *_texts("value", "sums"),
        sa.PrimaryKeyConstraint("tenant_id", "dimension", "length", "start", "value"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "report_rebuilds",
        sa.Column("tenant_id", _TEXT, sa.ForeignKey("tenants.id"), primary_key=True),
        sa.Column("is_clearing", sa.Boolean(), nullable=False),
        *_texts("ticket_id"),
        *_numbers("stepped_at"),
    )
    op.create_index("report_rebuilds_stepped_at", "report_rebuilds", ["stepped_at", "tenant_id"])
    op.execute(
        "INSERT INTO report_rebuilds (tenant_id, is_clearing, ticket_id, stepped_at)"
        " SELECT id, false, '', 0 FROM tenants ORDER BY id"
    )


def _create_measures() -> None:
    op.create_table(
        "ticket_measures",
        *_texts("tenant_id", "ticket_id"),
        *_numbers("created_at"),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        *_texts("counted"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id"),
        sa.ForeignKeyConstraint(["tenant_id", "ticket_id"], ["tickets.tenant_id", "tickets.id"]),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ticket_measures_created_at", "ticket_measures", ["tenant_id", "created_at", "ticket_id"]
    )
    for name in ("answered_at", "resolved_at"):
        filled = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"ticket_measures_{name}",
            "ticket_measures",
            ["tenant_id", name, "ticket_id"],
            sqlite_where=filled,
            postgresql_where=filled,
        )
