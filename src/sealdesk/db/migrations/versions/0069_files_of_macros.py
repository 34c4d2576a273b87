"""Macros have attachments, which are kept until the macro is without them.

An older version would delete them after a day, so it cannot serve on this schema.
"""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("attachments", sa.Column("macro_id", _TEXT, nullable=True))
    kept = sa.text("macro_id IS NOT NULL")
    op.create_index(
        "attachments_macro",
        "attachments",
        ["tenant_id", "macro_id", "id"],
        sqlite_where=kept,
        postgresql_where=kept,
    )
