"""A customer is erased in steps of the worker."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TEXTS = ("actor_kind", "actor_id", "actor_name", "texts", "stage", "cursor")
_UNFINISHED = sa.text("finished_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("customer_id", _TEXT, nullable=False),
        *(sa.Column(name, _TEXT, nullable=False) for name in _TEXTS),
        sa.Column("ticket_count", sa.BigInteger, nullable=False),
        sa.Column("erased_ticket_count", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("stepped_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant_id", "customer_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index(
        "erasures_unfinished",
        "erasures",
        ["stepped_at", "tenant_id", "customer_id"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )


def downgrade() -> None:
    op.drop_table("erasures")
