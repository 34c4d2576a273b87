"""Teams with members, and the team of a ticket."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_INDEXES = {
    "tickets_team": (["tenant_id", "team_id", "id"], "team_id IS NOT NULL"),
    "tickets_team_updated_at": (
        ["tenant_id", "team_id", "status", "updated_at", "id"],
        "team_id IS NOT NULL",
    ),
    "tickets_team_unassigned": (
        ["tenant_id", "team_id", "status", "id"],
        "team_id IS NOT NULL AND assignee_id IS NULL",
    ),
}


def upgrade() -> None:
    op.create_table(
        "teams",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("name_identity", _TEXT, nullable=False),
        sa.Column("assignment", _TEXT, nullable=False),
        sa.Column("capacity", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    op.create_index("teams_name", "teams", ["tenant_id", "name_identity"], unique=True)
    op.create_table(
        "team_members",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("team_id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("last_assigned_at", sa.BigInteger),
        sa.Column("seen_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant_id", "team_id", "user_id"),
        sa.ForeignKeyConstraint(["tenant_id", "team_id"], ["teams.tenant_id", "teams.id"]),
        sa.ForeignKeyConstraint(["tenant_id", "user_id"], ["users.tenant_id", "users.id"]),
        sqlite_with_rowid=False,
    )
    op.create_index("team_members_user", "team_members", ["tenant_id", "user_id"])
    op.add_column("tickets", sa.Column("team_id", _TEXT))
    for name, (columns, where) in _INDEXES.items():
        op.create_index(
            name, "tickets", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
        )


def downgrade() -> None:
    for name in _INDEXES:
        op.drop_index(name, "tickets")
    op.drop_column("tickets", "team_id")
    op.drop_table("team_members")
    op.drop_table("teams")
