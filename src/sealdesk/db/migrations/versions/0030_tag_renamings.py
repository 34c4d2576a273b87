"""A tag gets another name on all tickets, in steps of the worker."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_UNFINISHED = sa.text("finished_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "tag_renamings",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("tag", _TEXT, nullable=False),
        sa.Column("new_tag", _TEXT, nullable=False),
        sa.Column("actor_id", _TEXT, nullable=False),
        sa.Column("actor_name", _TEXT, nullable=False),
        sa.Column("view_id", _TEXT, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("changed_count", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("stepped_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index(
        "tag_renamings_unfinished",
        "tag_renamings",
        ["stepped_at", "id"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )


def downgrade() -> None:
    op.drop_table("tag_renamings")
