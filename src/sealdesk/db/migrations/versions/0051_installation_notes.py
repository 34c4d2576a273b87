"""Processes and commands note what the check of the installation reads."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "installation_notes",
        sa.Column("name", _TEXT, primary_key=True, nullable=False),
        sa.Column("note", _TEXT, nullable=False),
        sa.Column("noted_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
    )
    op.create_index(
        "installation_notes_expires_at",
        "installation_notes",
        ["expires_at"],
        sqlite_where=sa.text("expires_at IS NOT NULL"),
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
