"""Customers are merged, and have several e-mail addresses and phone numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def upgrade() -> None:
    for name in ("other_emails", "other_phones"):
        op.add_column("customers", sa.Column(name, _TEXT, nullable=True))
    op.create_table(
        "customer_addresses",
        *_texts("tenant_id", "email_identity", "customer_id"),
        sa.PrimaryKeyConstraint("tenant_id", "email_identity"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "customer_id"], ["customers.tenant_id", "customers.id"]
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "customer_addresses_customer",
        "customer_addresses",
        ["tenant_id", "customer_id", "email_identity"],
    )
    op.execute(
        "INSERT INTO customer_addresses (tenant_id, email_identity, customer_id)"
        " SELECT tenant_id, email_identity, id FROM customers ORDER BY tenant_id, email_identity"
    )
    op.create_table(
        "customer_merges",
        *_texts("tenant_id", "source_id", "target_id", "customer", "gained", "ticket_ids"),
        sa.Column("merged_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "source_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index(
        "customer_merges_target", "customer_merges", ["tenant_id", "target_id", "source_id"]
    )
