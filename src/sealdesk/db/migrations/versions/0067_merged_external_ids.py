"""Customers that were merged into others are found by their external_id."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_LIST = sa.text("SELECT tenant_id, source_id, customer FROM customer_merges")
_SET = sa.text(
    "UPDATE customer_merges SET external_id = :external_id"
    " WHERE tenant_id = :tenant_id AND source_id = :source_id"
)


def upgrade() -> None:
    op.add_column("customer_merges", sa.Column("external_id", _TEXT, nullable=True))
    connection = op.get_bind()
    for tenant_id, source_id, customer in connection.execute(_LIST).all():
        if external_id := json.loads(customer).get("external_id"):
            of = {"tenant_id": tenant_id, "source_id": source_id}
            connection.execute(_SET, {**of, "external_id": external_id})
    filled = sa.text("external_id IS NOT NULL")
    op.create_index(
        "customer_merges_external_id",
        "customer_merges",
        ["tenant_id", "external_id", "source_id"],
        sqlite_where=filled,
        postgresql_where=filled,
    )
